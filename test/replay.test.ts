import { sqliteStore } from './governed.ts'
import { replayContract } from './replay.ts'

replayContract(async () => sqliteStore())
