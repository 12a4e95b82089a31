import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '#base/db/sqlite.ts'
import { guardFiles } from '../../test/guarded-files.ts'
import { claimsContract } from './claims-contract.ts'
import { workContract } from './contract.ts'
import { editContract } from './edit-contract.ts'
import { flowContract } from './flow-contract.ts'
import type { Engine } from './fixture.ts'
import { handsContract } from './hands-contract.ts'
import { readsContract } from './reads-contract.ts'
import { searchContract } from './search-contract.ts'
import { textContract } from './text-contract.ts'
import { vaultContract } from './vault/contract.ts'

const sqlite: Engine = {
  dialect: 'sqlite',
  guardFiles,
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-work-')), 'cowork.db')
    return { open: async (sealer) => openSqlite(path, sealer) }
  },
}

claimsContract(sqlite)
editContract(sqlite)
flowContract(sqlite)
handsContract(sqlite)
readsContract(sqlite)
searchContract(sqlite)
textContract(sqlite)
vaultContract(sqlite)
workContract(sqlite)
