import type { ToolResults } from '#wire'

/** Policies and mappings, as in cowork.yaml and the API (Y1, Y2). */

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
/** The outcome of a proposal or call: a mode, or blocked. */
export type Outcome = SimulatedOutcome['mode']
export type ReplayResult = Required<Omit<Simulated, 'before' | 'after'>>
