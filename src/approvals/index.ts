export { createHalts } from './halt.ts'
export type { Halt, Halts } from './halt.ts'
export { createApprovalKinds, toAnswerFields } from './kinds.ts'
export type {
  AnswerFields,
  ApprovalKind,
  ApprovalKinds,
  DecisionContext,
  KindDeclaration,
} from './kinds.ts'
export { approvalMigrations } from './migrations.ts'
export { telegramClient } from './notify/model.ts'
export type { DecideAs } from './notify/model.ts'
export { startNotify } from './notify/service.ts'
export { notifyTools } from './notify/tools.ts'
export type { ProtectionDeps } from './protection.ts'
export { staleReason } from './model.ts'
export type {
  Approval,
  Decision,
  Mode,
  NewApproval,
  Risk,
  Status,
  ApprovalReason,
} from './model.ts'
export {
  requesterFilter,
  detectChannel,
  computeDigest,
  isVisibleTo,
  approvalNotFoundError,
  toSingleLine,
} from './rules.ts'
export { spotCheck, toFingerprint } from './rules.ts'
export { createApprovals } from './service.ts'
export type { Approvals, Binding, DecisionOutcome, ClaimResult } from './service.ts'
export type { ApprovalBrief } from './store.ts'
export { checkHaltScope, haltTools } from './tools.ts'
export { risks } from './wire.ts'
export type { SuggestNames } from './tools.ts'
