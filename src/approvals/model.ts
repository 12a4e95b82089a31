import type { Actor, Client } from '#base/entry.ts'
import type { Mode, Risk, Status } from './wire.ts'

export type { Mode, Risk, Status }

/** Why a person is asked (A8): the rule, the policy, and trust against its threshold. */
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

/** What a kind keeps with its approval: shown to people, and needed to carry it out. */
export type ApprovalContent = {
  /** The proposed change, the arguments of a call, the act under review */
  readonly change: unknown
  readonly reasoning?: string
  readonly field?: string
  readonly why: ApprovalReason
  readonly client?: Client
  readonly extra?: Readonly<Record<string, unknown>>
  /** It was erased (L8): `change` is null, and only what its entries say is left. */
  readonly erased?: true
}

/** Every wait for a person, whatever asked for it, and every proposal (A1). */
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
  /** What was really approved, where a person changed it (B3). */
  readonly approved?: unknown
  /** What a person answered, where the question is not yes or no (H2). */
  readonly answer?: unknown
  /** Equal ones share it, so that people can treat them as one. */
  readonly group: string
  /** Different people who must approve (A4). */
  readonly requiredApprovals: number
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly decidedAt: number | null
  readonly decidedBy: string | null
  readonly channel: string | null
  readonly reason: string | null
  readonly deferred?: DeferredDecision
  readonly token?: { readonly value: string; readonly expiresAt: number }
  /** The answer of the call, kept for a day (A2); encrypted until `get` opens it. */
  readonly result?: unknown
  /** Its arguments without redaction, encrypted, while they are still needed to run (A14). */
  readonly sealed?: string
  /** The node that opened it: its files are on the disk of that machine. */
  readonly node?: string
  /** The state of the target when the request was opened (A15). */
  readonly fingerprint?: string
  /** The end of the lease of the daemon that runs this call; null before the run and after its result (A15). */
  readonly runUntil?: number
  readonly resultUntil?: number
}

/** The reason of a call that was withdrawn because its target changed before it ran (A15). */
export const staleReason = 'stale'

type Verdict = 'approve' | 'reject'

export type Decision = {
  readonly verdict: Verdict
  readonly by: Actor
  readonly channel: string
  /** When it was made; now, unless it was held. */
  readonly at?: number
  readonly reason?: string | undefined
  /** One act of a person about many (B2). */
  readonly batch?: string
  /** What is approved instead of what was asked (B3). */
  readonly change?: unknown
  /** What else the kind wants to know: an override, a permission, a policy. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** A decision that can still be undone (C2): it is made when its time has come. */
export type DeferredDecision = {
  readonly until: number
  readonly decision: Decision
  /** The edit of the decision, encrypted as the arguments are. */
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
  /** Where who asks for what does not make two of them equal. */
  readonly group?: string
  /** The same key from the same agent opens nothing new (P6). */
  readonly key?: { readonly name: string; readonly digest: string }
  /** Decided at once because trust allows it: recorded, and nobody waits (P5). */
  readonly auto?: true
  /** To open it is all that the call does: its entry is that of the call (0014). */
  readonly isCall?: true
  readonly details?: Readonly<Record<string, unknown>>
  readonly fingerprint?: string | undefined
}
