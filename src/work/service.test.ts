import { claimsContract } from './claims-contract.ts'
import { workContract } from './contract.ts'
import { editContract } from './edit-contract.ts'
import { flowContract } from './flow-contract.ts'
import { sqliteEngine } from './fixture.ts'
import { handsContract } from './hands-contract.ts'
import { readsContract } from './reads-contract.ts'
import { searchContract } from './search-contract.ts'
import { textContract } from './text-contract.ts'
import { vaultContract } from './vault/contract.ts'

claimsContract(sqliteEngine)
editContract(sqliteEngine)
flowContract(sqliteEngine)
handsContract(sqliteEngine)
readsContract(sqliteEngine)
searchContract(sqliteEngine)
textContract(sqliteEngine)
vaultContract(sqliteEngine)
workContract(sqliteEngine)
