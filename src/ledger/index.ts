export { isDone } from './calls.ts'
export { refuseCut } from './checkpoint-copies.ts'
export { openKey } from './key-file.ts'
export { createLookup } from './lookup.ts'
export type { Lookup } from './lookup.ts'
export { ledgerMigrations } from './migrations.ts'
export type { Shown } from './mirror.ts'
export { entrySchema } from './model.ts'
export type { Entry } from './model.ts'
export { createRedactor } from './redact.ts'
export { ledgerResources } from './resources.ts'
export { createSealer } from './sealer.ts'
export { createScrubber } from './secrets.ts'
export { matches } from './search.ts'
export type { Conditions, Recorded } from './search.ts'
export { openLedger } from './service.ts'
export type { EntryProof, Ledger } from './service.ts'
export {
  databaseSource,
  exportNames,
  folderSource,
  parseCheckpoints,
  readCheckpoints,
} from './sources.ts'
export { verifyTail } from './tail.ts'
export { ledgerTools } from './tools.ts'
export { touchedData, touchedIn } from './touched.ts'
export type { TouchedFile } from './touched.ts'
export { verifyLedger } from './verify.ts'
export type { LedgerSource, Verification } from './verify.ts'
export { visibleEntries, visibleTo } from './visibility.ts'
