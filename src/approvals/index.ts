export { createHalts } from './halt.ts'
export type { Halt, Halts } from './halt.ts'
export { createApprovalKinds, toAnswerFields } from './kinds.ts'
export type {
  AnswerFields,
  ApprovalKind,
  ApprovalKinds,
  DecisionContext as Deciding,
  KindDeclaration,
} from './kinds.ts'
export { approvalMigrations } from './migrations.ts'
export { telegramClient } from './notify/model.ts'
export type { DecideAs } from './notify/model.ts'
export { startNotify } from './notify/service.ts'
export { notifyTools } from './notify/tools.ts'
export type { ProtectionDeps } from './protection.ts'
export { stale } from './model.ts'
export type {
  Approval,
  Decision,
  Mode,
  NewApproval as Opening,
  Risk,
  Status,
  ApprovalReason as Why,
} from './model.ts'
export {
  requesterFilter as askedBy,
  detectChannel as channelOf,
  computeDigest as digestOf,
  isSeenBy,
  approvalNotFoundError as notYours,
  toSingleLine as oneLine,
} from './rules.ts'
export { spotCheck, toFingerprint } from './rules.ts'
export { createApprovals } from './service.ts'
export type {
  Approvals,
  Binding,
  DecisionOutcome as Outcome,
  ClaimResult as Passage,
} from './service.ts'
export type { ApprovalBrief } from './store.ts'
export { checkHaltScope, haltTools } from './tools.ts'
export { risks } from './wire.ts'
export type { NamesOf } from './tools.ts'
