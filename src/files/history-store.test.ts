import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noSealer } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { historyContract } from './history-contract.ts'

historyContract('sqlite', async () =>
  openSqlite(join(mkdtempSync(join(tmpdir(), 'cowork-history-')), 'cowork.db'), noSealer),
)
