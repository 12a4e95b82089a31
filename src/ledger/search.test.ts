import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#base/db/sqlite.ts'
import { searchContract } from './search-contract.ts'

searchContract('sqlite', async (sealer) =>
  openSqlite(join(mkdtempSync(join(tmpdir(), 'cowork-search-')), 'cowork.db'), sealer),
)
