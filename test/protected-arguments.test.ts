import { sqliteStore } from './governed.ts'
import { protectedArgumentsContract } from './protected-arguments.ts'

protectedArgumentsContract(async () => sqliteStore())
