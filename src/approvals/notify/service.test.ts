import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#base/db/sqlite.ts'
import { checkpointContract } from './checkpoint-contract.ts'
import { notifyContract } from './contract.ts'
import type { Engine } from './setup.ts'
import { timingContract } from './timing-contract.ts'
import { telegramContract } from './telegram/contract.ts'

const engine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-notify-')), 'cowork.db')
    return { open: async (sealer) => openSqlite(path, sealer), daemons: 1 }
  },
}

notifyContract(engine)
checkpointContract(engine)
timingContract(engine)
telegramContract(engine)
