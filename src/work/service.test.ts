import { claimsContract } from '../../test/work/claims.contract.ts'
import { workContract } from '../../test/work/work.contract.ts'
import { editContract } from '../../test/work/edit.contract.ts'
import { flowContract } from '../../test/work/flow.contract.ts'
import { sqliteEngine } from '../../test/work/work.fixture.ts'
import { concurrentEditsContract } from '../../test/work/concurrent-edits.contract.ts'
import { readsContract } from '../../test/work/reads.contract.ts'
import { searchContract } from '../../test/work/search.contract.ts'
import { textContract } from '../../test/work/text.contract.ts'
import { vaultContract } from '../../test/work/vault/vault.contract.ts'

claimsContract(sqliteEngine)
editContract(sqliteEngine)
flowContract(sqliteEngine)
concurrentEditsContract(sqliteEngine)
readsContract(sqliteEngine)
searchContract(sqliteEngine)
textContract(sqliteEngine)
vaultContract(sqliteEngine)
workContract(sqliteEngine)
