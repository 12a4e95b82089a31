import { checksContract } from '../../test/checks.ts'
import { sqliteStore } from '../../test/governed.ts'

checksContract(async () => sqliteStore())
