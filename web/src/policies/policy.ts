import type { ToolResults } from '#wire'

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

export type PolicyList = ToolResults['cowork_list_policies']
export type Mapping = PolicyList['mappings'][number]
export type Version = PolicyList['versions'][number]

type Simulated = ToolResults['cowork_simulate_policy']
export type SimulatedOutcome = NonNullable<Simulated['before']>
/** What becomes of a proposal or call: as trust and rules say, or nothing. */
export type Outcome = SimulatedOutcome['mode']
export type ReplayResult = Required<Omit<Simulated, 'before' | 'after'>>
