import { openSqlite } from '#base/db/sqlite.ts'
import { searchContract } from './search-contract.ts'
import { storePath } from '../../test/stores.ts'

searchContract('sqlite', async (sealer) => openSqlite(storePath(), sealer))
