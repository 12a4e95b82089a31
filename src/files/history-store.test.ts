import { noSealer } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { historyContract } from '../../test/files/history.contract.ts'
import { storePath } from '../../test/stores.ts'

historyContract('sqlite', async () => openSqlite(storePath(), noSealer))
