export {
  toFileOperations,
  isCompletedCall,
  toTouchedData,
  readTouchedFiles,
} from './audit-entry.ts'
export { acceptEntries } from './check-head.ts'
export { loadKey } from './checkpoint.ts'
export {
  createCheckpointCopies,
  readCheckpointCopies,
  assertNotTruncated,
} from './checkpoint-copies.ts'
export type { EraseCopies } from './erase.ts'
export { createHeadMac } from './head-mac.ts'
export type { HeadMac } from './head-mac.ts'
export { loadOrCreateKey, parseHeadMac, readHeadMac } from './key-file.ts'
export { createEntryLookup } from './lookup.ts'
export type { EntryLookup } from './lookup.ts'
export { ledgerMigrations } from './migrations.ts'
export { moveLedgerMirror } from './mirror-file.ts'
export type { MirroredEntry } from './mirror.ts'
export type { Entry } from './model.ts'
export { formatReceipt, verifyReceipt } from './receipt.ts'
export { createRedactor } from './redact.ts'
export type { Redact } from './redact.ts'
export { createReplay, toStoredData, writeBaselines } from './replay.ts'
export type { RecordedRow, RecordedTable, Replay } from './replay.ts'
export { ledgerResources } from './resources.ts'
export { createSealer } from './sealer.ts'
export { createScrubber } from './secrets.ts'
export { matches, visibilityFilter, isVisibleTo } from './search.ts'
export type { EntryConditions, HashedEntry } from './search.ts'
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
