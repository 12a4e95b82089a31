import type { OverrideType, Severity } from '#base/override.ts'
import type { RouteAnswers, ToolResults } from '#wire'

/** A page of approvals as the API returns them (A1). */
export type ItemPage = RouteAnswers['GET /api/approvals']
export type Item = ItemPage['items'][number]
export type Counts = Readonly<ItemPage['counts']>
export type Mode = Item['mode']
export type Status = Item['status']
/** The active policy blocks a request that was made under an earlier version. */
export type PolicyConflict = NonNullable<Item['policy_conflict']>
export type Verdict = NonNullable<Item['held']>['decision']

type WireDetail = RouteAnswers['GET /api/approvals/{id}']
export type Detail = Omit<WireDetail, 'grant'> & { readonly grant?: GrantRequest }
/** Why approval is required: rule, policy, trust against threshold (A8). */
export type Why = Detail['why']
export type Rule = Why['rules'][number]
export type Thresholds = Why['thresholds']
export type TrustPoint = Detail['trust_points'][number]
export type PastDecision = Detail['history'][number]
/** The record of an autonomous action and the consequence of each answer (T14). */
export type Check = NonNullable<Detail['check']>
/** Work that an agent hands to a person, with its packet (H1, H5). */
export type Handoff = NonNullable<Detail['handoff']>
/** One handoff of a thread, with its resolution. */
export type HandoffTurn = Handoff['thread'][number]
export type HandoffMode = ToolResults['cowork_handoff']['handoff_mode']

/** Returns the mode of a score, apart from rules and a closed gate (M2). */
export const modeForScore = (trust: number, { suggest, act }: Thresholds): Mode =>
  trust >= act ? 'act' : trust >= suggest ? 'suggest' : 'escalate'

/** An access request with the contents of the path (GR3). */
export type GrantRequest = {
  /** The requested path; `real` is the path after resolving symbolic links. */
  readonly path: string
  readonly real: string
  readonly permission: 'read' | 'read-write'
  readonly is_folder: boolean
  readonly missing: boolean
  /** The requested folder or the parent of the file, if it exists. */
  readonly folder: string | null
  readonly inside: {
    readonly files: number
    readonly folders: number
    readonly bytes: number
    readonly sample: readonly string[]
    /** The count stopped at its limit. */
    readonly capped: boolean
  } | null
  readonly sensitive: readonly string[]
  /** A warning about broad access. */
  readonly warning?: string
}

export type GrantAnswer = {
  readonly choice:
    | 'file_once'
    | 'file'
    | 'folder'
    | 'folder_write'
    | 'folder_session'
    | 'until'
    | 'deny'
    | 'deny_always'
  readonly until?: string
}

type Override = {
  readonly type: OverrideType
  readonly severity: Severity
  readonly description?: string
}
/** A standing permission for calls like this one (Y8). */
export type PermissionInput = {
  readonly for: 'once' | 'uses' | 'session' | 'until' | 'always'
  readonly uses?: number
  readonly until?: string
  readonly arguments?: Readonly<Record<string, string>>
  /** Applies to the arguments without a pattern. */
  readonly rest?: 'exact'
}

/** The arguments of `cowork_decide` besides the ids. */
export type Decision = {
  readonly decision: Verdict
  readonly reason?: string
  readonly change?: unknown
  readonly override?: Override
  readonly allow?: PermissionInput
  readonly grant?: GrantAnswer
  readonly policy_id?: string
  /** The blocking policy version that the person confirmed. */
  readonly acknowledge_policy?: string
  /** Closes checks without reviewing them. */
  readonly skip?: true
}

export type Outcome = ToolResults['cowork_decide']['outcomes'][number]

/** Rejecting these kinds needs an override type (B4). */
export const needsOverride = ({ kind }: Pick<Item, 'kind'>): boolean =>
  kind === 'proposal' || kind === 'spot_check'

/** Whether a person can change the content (B3); not if several people approve the same content (A4). */
export const isEditable = ({ kind, approvers }: Pick<Item, 'kind' | 'approvers'>): boolean =>
  (kind === 'proposal' || kind === 'call') && approvers.needed === 1

/** Whether the approval can become a standing permission; not with several approvers (A4). */
export const isAllowable = ({ kind, approvers }: Pick<Item, 'kind' | 'approvers'>): boolean =>
  kind === 'call' && approvers.needed === 1

/** Whether the item is a spot check of an autonomous action (T14). */
export const isCheck = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'spot_check'

/** Handoffs are resolved, neither approved nor rejected (H2). */
export const isHandoff = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'handoff'

/** Findings come from cowork, so there is no agent to override. */
export const isFinding = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'finding'

/** Whether the item can be handed back: not completed actions, access requests and findings. */
export const isReturnable = ({ kind }: Pick<Item, 'kind'>): boolean =>
  !['spot_check', 'grant', 'finding'].includes(kind)
