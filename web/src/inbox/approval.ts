/** Every wait for a person, as the API shows it; the words are those of the record itself (A1). */

export type Mode = 'act' | 'suggest' | 'escalate'
type Risk = 'low' | 'normal' | 'high'
export type Status = 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn' | 'consumed'
export type Verdict = 'approve' | 'reject'

/** A decision that can still be undone. */
type Held = { readonly decision: Verdict; readonly by: string; readonly until: string }

/** The active policy would block it: it was asked under another version. */
export type PolicyConflict = {
  readonly policy: string | null
  readonly version: string
  readonly rule: string | null
  readonly message: string
}

export type Item = {
  readonly id: string
  readonly kind: string
  readonly status: Status
  readonly requester: string
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly summary: string
  readonly mode: Mode
  readonly risk: Risk
  readonly trust_level: number | null
  readonly confidence: number | null
  readonly created_at: string
  readonly expires_at: string | null
  /** Different people who must approve, and those who did (A4). */
  readonly approvers: { readonly needed: number; readonly given: readonly string[] }
  readonly held?: Held
  readonly policy_conflict?: PolicyConflict
  readonly decided_at?: string
  readonly decided_by?: string
  readonly channel?: string
  readonly reason?: string
  /** Trust decided, not a person (P5). */
  readonly auto?: true
  /** Equal ones share it; of checks, those of one agent or of one look-back. */
  readonly group: string
  /** Of a check: the look-back that brought it. */
  readonly look_back?: string
}

export type Counts = { readonly all: number; readonly [kind: string]: number }
export type ItemPage = {
  readonly items: readonly Item[]
  readonly next: string | null
  readonly counts: Counts
}

export type Rule = {
  readonly rule_id: string
  readonly field: string
  readonly reason: string
  readonly severity: string
}

/** Why a person is asked: rule, policy, trust against threshold (A8). */
export type Why = {
  readonly text: string
  readonly rules: readonly Rule[]
  readonly policy_id: string | null
  readonly policy_description: string | null
  readonly policy_version: string
  readonly trust_level: number | null
  readonly thresholds: Thresholds
  readonly gated: boolean
  readonly high_risk_fields: readonly string[]
}
export type Thresholds = { readonly suggest: number; readonly act: number }

/** What a score lets an agent do, where no rule and no closed gate says otherwise (M2). */
export const modeAt = (trust: number, { suggest, act }: Thresholds): Mode =>
  trust >= act ? 'act' : trust >= suggest ? 'suggest' : 'escalate'

export const overrideTypes = [
  'agent_wrong',
  'missing_context',
  'edge_case',
  'human_preference',
  'policy_change',
] as const
export type OverrideType = (typeof overrideTypes)[number]
export const severities = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]

export type TrustPoint = { readonly at: string; readonly score: number; readonly cause: string }
export type Past = {
  readonly id: string
  readonly at: string
  readonly status: Status
  readonly decided_by: string | null
  readonly summary: string
  readonly reason: string | null
  readonly trust_change: number | null
}

/** What deciding would do to trust, for the kinds that change it. */
type Effect = {
  readonly approve: { readonly from: number; readonly to: number } | null
  readonly overrides: readonly {
    readonly type: OverrideType
    readonly severity: Severity
    readonly to: number
  }[]
}

export type Detail = Item & {
  readonly why: Why
  /** The proposed change, the arguments of a call, the act under review. */
  readonly change: unknown
  /** What was last approved on the same target, for the fields changed. */
  readonly before: Readonly<Record<string, unknown>>
  readonly approved_change?: unknown
  readonly collaborative?: boolean
  readonly handoff?: Handoff
  readonly check?: Check
  readonly grant?: GrantRequest
  readonly reasoning: string | null
  readonly field: string | null
  readonly digest: string
  readonly session: string | null
  readonly client: {
    readonly name: string
    readonly version: string
    readonly transport: string
  } | null
  readonly effect: Effect
  readonly history: readonly Past[]
  readonly trust_points: readonly TrustPoint[]
}

/** What the ledger has of an action done alone, and what each answer leads to (T14). */
export type Check = {
  readonly record: readonly {
    readonly seq: number
    readonly at: string
    readonly type: string
    readonly outcome?: string
  }[]
  readonly consequences: {
    readonly confirm: string
    readonly wrong: string
    readonly differently: string
  }
  /** What marking it as wrong leads to, by type and severity. */
  readonly faults: readonly {
    readonly type: OverrideType
    readonly severity: Severity
    readonly text: string
  }[]
  /** Where the action can be taken back: the call that does it. */
  readonly undo?: {
    readonly tool: string
    readonly arguments: Readonly<Record<string, unknown>>
    readonly text: string
  }
}

/** One question of an agent to a person, and the answer to it. */
export type Turn = {
  readonly handoff_id: string
  readonly reason: string
  readonly at: string
  readonly resolution?: string
  readonly hand_back?: boolean
  readonly instructions?: string
}

export type HandoffMode = 'escalate' | 'review' | 'collaborate' | 'delegate' | 'takeover'

/** Work that an agent gives to a person, with all that is needed to go on (H1, H5). */
export type Handoff = {
  readonly handoff_mode: HandoffMode
  readonly reason: string
  readonly confidence: number | null
  readonly attempted_actions: readonly unknown[]
  readonly context: unknown
  readonly packet: {
    readonly recent: readonly {
      readonly seq: number
      readonly at: string
      readonly type: string
      readonly action?: string
      readonly subject?: string
      readonly outcome?: string
    }[]
  }
  readonly parent_handoff_id: string | null
  readonly proposal_id: string | null
  readonly overdue: boolean
  readonly reminded: number
  /** Oldest first, this one too. */
  readonly thread: readonly Turn[]
}

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

/** How a person answers it. */
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
export type Allow = {
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
  readonly allow?: Allow
  readonly grant?: GrantAnswer
  readonly policy_id?: string
  /** The version of the active policy that blocks it, once the person confirmed. */
  readonly acknowledge_policy?: string
  /** Closes checks without looking at them. */
  readonly skip?: true
}

export type Outcome = {
  readonly id: string
  readonly status: 'approved' | 'rejected' | 'voted' | 'held' | 'error'
  readonly until?: string
  readonly trust?: {
    readonly from: number
    readonly to: number
    readonly promoted?: boolean
    readonly demoted?: boolean
  }
  /** Other actions that came to the inbox because this one was wrong. */
  readonly look_back?: number
  /** False of a check that counted for nothing. */
  readonly counted?: boolean
  /** Other requests of that agent that it answers, too. */
  readonly also?: readonly { readonly id: string; readonly summary: string }[]
  readonly error?: { readonly code: string; readonly message: string }
}

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
