import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#base/db/sqlite.ts'
import { approvalsContract } from './contract.ts'
import { equalContract } from './equal-contract.ts'
import type { Engine } from './fixture.ts'
import { quorumContract } from './quorum-contract.ts'
import { timeContract } from './time-contract.ts'

const sqlite: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-approvals-')), 'cowork.db')
    return { open: async (sealer) => openSqlite(path, sealer) }
  },
}

approvalsContract(sqlite)
equalContract(sqlite)
quorumContract(sqlite)
timeContract(sqlite)
