import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#base/db/sqlite.ts'
import { notifyContract } from './contract.ts'

notifyContract({
  dialect: 'sqlite',
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-notify-')), 'cowork.db')
    return { open: async (sealer) => openSqlite(path, sealer), daemons: 1 }
  },
})
