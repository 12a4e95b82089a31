import type { OverrideType, Severity } from '#base/override.ts'
import type { RouteAnswers, ToolResults } from '#wire'

/** Every wait for a person, as the API shows it; the words are those of the record itself (A1). */
export type ItemPage = RouteAnswers['GET /api/approvals']
export type Item = ItemPage['items'][number]
export type Counts = Readonly<ItemPage['counts']>
export type Mode = Item['mode']
export type Status = Item['status']
/** The active policy would block it: it was asked under another version. */
export type PolicyConflict = NonNullable<Item['policy_conflict']>
export type Verdict = NonNullable<Item['held']>['decision']

type WireDetail = RouteAnswers['GET /api/approvals/{id}']
export type Detail = Omit<WireDetail, 'grant'> & { readonly grant?: GrantRequest }
/** Why a person is asked: rule, policy, trust against threshold (A8). */
export type Why = Detail['why']
export type Rule = Why['rules'][number]
export type Thresholds = Why['thresholds']
export type TrustPoint = Detail['trust_points'][number]
export type PastDecision = Detail['history'][number]
/** What the ledger has of an action done alone, and what each answer leads to (T14). */
export type Check = NonNullable<Detail['check']>
/** Work that an agent gives to a person, with all that is needed to go on (H1, H5). */
export type Handoff = NonNullable<Detail['handoff']>
/** One question of an agent to a person, and the answer to it. */
export type HandoffTurn = Handoff['thread'][number]
export type HandoffMode = ToolResults['cowork_handoff']['handoff_mode']

/** What a score lets an agent do, where no rule and no closed gate says otherwise (M2). */
export const modeForScore = (trust: number, { suggest, act }: Thresholds): Mode =>
  trust >= act ? 'act' : trust >= suggest ? 'suggest' : 'escalate'

/** What an agent wants to see of the user's files, and what lies there (GR3). */
export type GrantRequest = {
  /** As it was asked for, and where it really lies: a link may lead elsewhere. */
  readonly path: string
  readonly real: string
  readonly permission: 'read' | 'read-write'
  readonly is_folder: boolean
  readonly missing: boolean
  /** What “folder” means here: the one that was asked for, or the one around the file, if it is there. */
  readonly folder: string | null
  readonly inside: {
    readonly files: number
    readonly folders: number
    readonly bytes: number
    readonly sample: readonly string[]
    /** There is more than was counted. */
    readonly capped: boolean
  } | null
  readonly sensitive: readonly string[]
  /** What to know before opening so much. */
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
  /** Of the arguments without a pattern */
  readonly rest?: 'exact'
}

/** What `cowork_decide` takes besides the ids. */
export type Decision = {
  readonly decision: Verdict
  readonly reason?: string
  readonly change?: unknown
  readonly override?: Override
  readonly allow?: PermissionInput
  readonly grant?: GrantAnswer
  readonly policy_id?: string
  /** The version of the active policy that blocks it, once the person confirmed. */
  readonly acknowledge_policy?: string
  /** Closes checks without looking at them. */
  readonly skip?: true
}

export type Outcome = ToolResults['cowork_decide']['outcomes'][number]

/** Refusing these is a correction of the agent, so it needs the type of the override (B4). */
export const needsOverride = ({ kind }: Pick<Item, 'kind'>): boolean =>
  kind === 'proposal' || kind === 'spot_check'

/** What is approved may be something else than was asked (B3), unless others agree to what was asked (A4). */
export const isEditable = ({ kind, approvers }: Pick<Item, 'kind' | 'approvers'>): boolean =>
  (kind === 'proposal' || kind === 'call') && approvers.needed === 1

/** For longer than once, by whoever decides alone (A4). */
export const isAllowable = ({ kind, approvers }: Pick<Item, 'kind' | 'approvers'>): boolean =>
  kind === 'call' && approvers.needed === 1

/** What an agent did alone, for a person to look at afterwards (T14). */
export const isCheck = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'spot_check'

/** Work given to a person is answered, neither approved nor denied (H2). */
export const isHandoff = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'handoff'

/** What cowork asks itself: it is no agent that one could correct. */
export const isFinding = ({ kind }: Pick<Item, 'kind'>): boolean => kind === 'finding'

/** What is done already cannot be handed back, and access is given or not. */
export const isReturnable = ({ kind }: Pick<Item, 'kind'>): boolean =>
  !['spot_check', 'grant', 'finding'].includes(kind)
