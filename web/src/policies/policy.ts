/** Rules and who works under them, as cowork.yaml writes them and the API gives them (Y1, Y2). */

type RuleBase = {
  readonly id?: string
  readonly field: string
  readonly severity?: 'warn' | 'hard_stop'
  readonly reason?: string
  readonly approvers?: number
}
export type Rule = RuleBase &
  (
    | { readonly constraint: 'high_risk' }
    | { readonly constraint: 'readonly' }
    | { readonly constraint: 'value_range'; readonly min?: number; readonly max?: number }
    | {
        readonly constraint: 'enum'
        readonly values: readonly (string | number | boolean | null)[]
      }
    | { readonly constraint: 'regex'; readonly pattern: string }
  )

export type Policy = {
  readonly id: string
  readonly description?: string
  readonly mode?: 'enforce' | 'shadow'
  readonly reasoning_schema?: string
  readonly rules?: readonly Rule[]
}

export type Mapping = {
  readonly agent_id: string
  readonly domain: string
  readonly policy_id: string
  /** Written in the policies, or allowed by a person in the inbox. */
  readonly source: 'config' | 'approved'
}

export type Version = {
  readonly version: string
  readonly number: number
  readonly source: 'file' | 'saved'
  readonly by: string
  readonly note: string
  readonly at: string
}

export type Listed = {
  readonly version: string
  readonly policies: readonly {
    readonly id: string
    readonly description: string
    readonly mode: string
    readonly rules: number
  }[]
  readonly mappings: readonly Mapping[]
  readonly active: Version | null
  readonly versions: readonly Version[]
  readonly body: { readonly policies: readonly Policy[] }
}

/** What becomes of a proposal or call: as trust and rules say, or nothing. */
export type Outcome = 'act' | 'suggest' | 'escalate' | 'blocked'

export type Judged = {
  readonly mode: Outcome
  readonly policy_id: string | null
  readonly mapping_found: boolean
  readonly trust_level: number
  readonly violations: readonly {
    readonly rule_id: string
    readonly field: string
    readonly severity: string
    readonly reason: string
  }[]
  readonly high_risk_fields: readonly string[]
  readonly approvers: number
}

export type Tried = { readonly before: Judged; readonly after: Judged }

export type Replayed = {
  readonly summary: string
  readonly days: number
  readonly replayed: number
  readonly unchanged: number
  readonly skipped: number
  readonly truncated: boolean
  readonly table: readonly {
    readonly from: Outcome
    readonly to: Outcome
    readonly count: number
    readonly examples: readonly {
      readonly seq: number | null
      readonly approval_id: string | null
      readonly kind: 'proposal' | 'call'
      readonly agent_id: string
      readonly domain: string
      readonly action: string
    }[]
  }[]
}
