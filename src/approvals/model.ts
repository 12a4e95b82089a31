import type { Actor, Client } from '#base/entry.ts'
import type { Mode, Risk, Status } from './wire.ts'

export type { Mode, Risk, Status }

/**
 * The reason why a call needs approval (A8): the rules, the policy, and trust compared with its
 * thresholds.
 */
export type ApprovalReason = {
  /** One sentence: “You are asked because …” */
  readonly text: string
  readonly rules: readonly {
    readonly rule_id: string
    readonly field: string
    readonly severity: string
    readonly reason: string
  }[]
  readonly policy_id: string | null
  readonly policy_description: string | null
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly evidence_level: number | null
  readonly gated: boolean
  readonly high_risk_fields: readonly string[]
  readonly more?: Readonly<Record<string, unknown>>
}

/** The content of an approval: shown to people and needed for execution. */
export type ApprovalContent = {
  /** The proposed change, the arguments of a call, or the action under review */
  readonly change: unknown
  readonly reasoning?: string
  readonly field?: string
  readonly why: ApprovalReason
  readonly client?: Client
  readonly extra?: Readonly<Record<string, unknown>>
  /**
   * The content was erased (L8): `change` is null, and only data that the ledger entries also
   * contain is left.
   */
  readonly erased?: true
}

/** The record of a pending decision of any kind, and of every proposal (A1). */
export type Approval = {
  readonly id: string
  readonly kind: string
  readonly status: Status
  readonly requester: string
  readonly session: string | null
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly summary: string
  readonly mode: Mode
  readonly risk: Risk
  readonly digest: string
  readonly policyVersion: string
  readonly trustLevel: number | null
  readonly confidence: number | null
  readonly content: ApprovalContent
  /** The approved change, if a person edited the request (B3). */
  readonly approved?: unknown
  /** A person's answer to an open question (H2). */
  readonly answer?: unknown
  /** Equal requests share this key, so people can decide them together. */
  readonly group: string
  /** The number of different people who must approve (A4). */
  readonly requiredApprovals: number
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly decidedAt: number | null
  readonly decidedBy: string | null
  readonly channel: string | null
  readonly reason: string | null
  readonly deferred?: DeferredDecision
  readonly token?: { readonly value: string; readonly expiresAt: number }
  /** The result of the call, stored for one day (A2); encrypted until `get` decrypts it. */
  readonly result?: unknown
  /** The encrypted, unredacted arguments, while they are still needed to run (A14). */
  readonly sealed?: string
  /** The node that opened the approval; its files are on that machine's disk. */
  readonly node?: string
  /** The state of the target when the request was opened (A15). */
  readonly fingerprint?: string
  /**
   * The end of the lease of the daemon that runs this call; absent before the run and after its
   * result (A15).
   */
  readonly runUntil?: number
  readonly resultUntil?: number
}

/** The withdrawal reason of a call whose target changed before the run (A15). */
export const staleReason = 'stale'

type Verdict = 'approve' | 'reject'

export type Decision = {
  readonly verdict: Verdict
  readonly by: Actor
  readonly channel: string
  /** The decision time. Absent unless the decision was deferred; then it means now. */
  readonly at?: number
  readonly reason?: string | undefined
  /** The id of a decision about several approvals (B2). */
  readonly batch?: string
  /** A person's edit of the request (B3). */
  readonly change?: unknown
  /** Additional fields of the kind: an override, a permission, a policy. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** A decision in its undo window (C2); it takes effect at `until`. */
export type DeferredDecision = {
  readonly until: number
  readonly decision: Decision
  /** The edit of the decision, encrypted like the arguments. */
  readonly sealedChange?: string
}

export type NewApproval = Pick<
  Approval,
  | 'kind'
  | 'domain'
  | 'action'
  | 'target'
  | 'summary'
  | 'mode'
  | 'risk'
  | 'digest'
  | 'policyVersion'
  | 'trustLevel'
  | 'confidence'
  | 'content'
> & {
  readonly id?: string
  readonly requiredApprovals?: number
  /** Replaces the default group of requester, action and field names. */
  readonly group?: string
  /** The idempotency key: a repeated key from the same agent opens no new approval (P6). */
  readonly key?: { readonly name: string; readonly digest: string }
  /** Approved automatically because trust allows it: recorded, but never pending (P5). */
  readonly auto?: true
  /** The entry of this approval is also the entry of the call (ADR 0014). */
  readonly isCall?: true
  readonly details?: Readonly<Record<string, unknown>>
  readonly fingerprint?: string | undefined
}
