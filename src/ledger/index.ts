export {
  fileOperationsIn,
  isCompletedCall as isDone,
  toTouchedData as touchedData,
  readTouchedFiles as touchedIn,
} from './audit-entry.ts'
export { acceptEntries } from './check-head.ts'
export { loadKey } from './checkpoint.ts'
export {
  createCheckpointCopies,
  readCheckpointCopies,
  assertNotTruncated as refuseCut,
} from './checkpoint-copies.ts'
export type { EraseCopies } from './erase.ts'
export { createHeadMac } from './head-mac.ts'
export type { HeadMac } from './head-mac.ts'
export { loadOrCreateKey as openKey, parseHeadMac, readHeadMac } from './key-file.ts'
export { createEntryLookup as createLookup } from './lookup.ts'
export type { EntryLookup as Lookup } from './lookup.ts'
export { ledgerMigrations } from './migrations.ts'
export { moveLedgerMirror } from './mirror-file.ts'
export type { MirroredEntry as Shown } from './mirror.ts'
export type { Entry } from './model.ts'
export { formatReceipt, verifyReceipt } from './receipt.ts'
export { createRedactor } from './redact.ts'
export type { Redact } from './redact.ts'
export { createReplay, storedIn, writeBaselines } from './replay.ts'
export type { RecordedRow, RecordedTable, Replay } from './replay.ts'
export { ledgerResources } from './resources.ts'
export { createSealer } from './sealer.ts'
export { createScrubber } from './secrets.ts'
export { matches, visibilityFilter as visibleEntries, isVisibleTo as visibleTo } from './search.ts'
export type { EntryConditions as Conditions, HashedEntry as Recorded } from './search.ts'
export { openLedger } from './service.ts'
export type { Ledger } from './service.ts'
export {
  databaseSource,
  exportNames,
  folderSource,
  parseCheckpoints,
  readCheckpoints,
} from './sources.ts'
export { verifyTail } from './tail.ts'
export { ledgerTools } from './tools.ts'
export { verifyLedger } from './verify.ts'
export type { LedgerSource, Verification } from './verify.ts'
