import { openSqlite } from '#base/db/sqlite.ts'
import { searchContract } from '../../test/ledger/search.contract.ts'
import { storePath } from '../../test/stores.ts'

searchContract('sqlite', async (sealer) => openSqlite(storePath(), sealer))
