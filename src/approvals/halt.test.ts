import { sqliteStore } from '../../test/governed.ts'
import { haltContract } from '../../test/halt.contract.ts'

haltContract('sqlite', () => Promise.resolve(sqliteStore()))
