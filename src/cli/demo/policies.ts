import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import type { Client } from '../client.ts'

type Rules = readonly Readonly<Record<string, unknown>>[]

/** The policies that the demo saved and the version before; or why it saved none. */
export type DemoPolicies =
  | {
      readonly saved: Pick<ToolResults['cowork_save_policies'], 'version' | 'number'>
      readonly before: string
    }
  | { readonly left: string }

const contacts: Rules = [
  {
    id: 'phone-form',
    field: 'phone',
    constraint: 'regex',
    pattern: String.raw`^\+[0-9 ]+$`,
    reason: 'A number begins with + and the country.',
  },
  {
    id: 'known-tags',
    field: 'tags',
    constraint: 'enum',
    values: ['newsletter', 'partner', 'press'],
    severity: 'warn',
    reason: 'A tag that is not on the list.',
  },
]
const tickets: Rules = [
  {
    id: 'closing',
    field: 'status',
    constraint: 'enum',
    values: ['open', 'answered'],
    reason: 'Only the customer closes a ticket.',
  },
  { id: 'priority', field: 'priority', constraint: 'enum', values: ['low', 'normal', 'high'] },
]
const deals: Rules = [
  {
    id: 'stage',
    field: 'deal_stage',
    constraint: 'high_risk',
    reason: 'The forecast depends on it.',
  },
  {
    id: 'amount',
    field: 'amount',
    constraint: 'value_range',
    min: 0,
    max: 100_000,
    reason: 'The head of sales decides above this amount.',
  },
]
const owners: Rules = [
  { id: 'owner', field: 'owner', constraint: 'readonly', reason: 'People assign deals.' },
]

/** The mapping for `*` keeps other agents unaffected: an unmapped agent would be blocked (Y4). */
const buildPolicies = (dealRules: Rules) => ({
  policies: [
    { id: 'demo-contacts', description: 'Contact data of customers', rules: contacts },
    {
      id: 'demo-tickets',
      description: 'Priorities, and who closes tickets',
      mode: 'shadow',
      rules: tickets,
    },
    { id: 'demo-deals', description: 'Stage, value and owner of deals', rules: dealRules },
    { id: 'everyone-else', description: 'Everyone outside the demo, without rules', rules: [] },
  ],
  mappings: [
    { agent_id: 'demo-*', domain: 'demo.contacts', policy_id: 'demo-contacts' },
    { agent_id: 'demo-*', domain: 'demo.tickets', policy_id: 'demo-tickets' },
    { agent_id: 'demo-*', domain: 'demo.deals', policy_id: 'demo-deals' },
    { agent_id: '*', domain: '*', policy_id: 'everyone-else' },
  ],
})

const notes = { first: 'Rules for the agents of the demo', second: 'Deals are assigned by people' }
export const demoNotes: readonly string[] = Object.values(notes)

/** Refusals after which the demo continues under the active policies. */
const ignoredErrors = ['passkey_required', 'role_required', 'policy_changed', 'would_lock_out']

/**
 * Saves the demo's policies, only if none exist: a person's policies are never replaced.
 */
export async function installDemoPolicies(person: Client) {
  const listed = await person.call('cowork_list_policies')
  const isFree =
    listed.policies.length === 0 && listed.mappings.length === 0 && listed.problem === undefined
  let getPolicies: DemoPolicies = { left: 'Policies exist already and were not changed.' }

  async function save(body: object, note: string, from: string): Promise<void> {
    try {
      const input = { body, note, from }
      const { version, number } = await person.call('cowork_save_policies', input)
      getPolicies = { saved: { version, number }, before: listed.version }
    } catch (error) {
      if (!(error instanceof CoworkError) || !ignoredErrors.includes(error.code)) throw error
      if ('left' in getPolicies) getPolicies = { left: `Saved no demo policies: ${error.message}` }
    }
  }

  if (isFree) await save(buildPolicies(deals), notes.first, listed.version)
  return {
    brought: () => getPolicies,
    /** Saves a second version with one more rule. */
    async tighten(): Promise<void> {
      if ('saved' in getPolicies)
        await save(buildPolicies([...deals, ...owners]), notes.second, getPolicies.saved.version)
    },
  }
}
