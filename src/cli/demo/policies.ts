import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import type { Client } from '../client.ts'

type Rules = readonly Readonly<Record<string, unknown>>[]

/** What the demo put in force, and what was before; or why it left everything as it was. */
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
    reason: 'The forecast is made of it.',
  },
  {
    id: 'amount',
    field: 'amount',
    constraint: 'value_range',
    min: 0,
    max: 100_000,
    reason: 'Above that the head of sales decides.',
  },
]
const owners: Rules = [
  { id: 'owner', field: 'owner', constraint: 'readonly', reason: 'People assign deals.' },
]

/** Nobody else is bound by them: whom a mapping leaves out would be blocked (Y4). */
const bodyWith = (dealRules: Rules) => ({
  policies: [
    { id: 'demo-contacts', description: 'What is known about customers', rules: contacts },
    {
      id: 'demo-tickets',
      description: 'Priorities, and who closes tickets',
      mode: 'shadow',
      rules: tickets,
    },
    { id: 'demo-deals', description: 'Stage, value and owner of deals', rules: dealRules },
    { id: 'everyone-else', description: 'All who are not of the demo, as before it', rules: [] },
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

/** Refusals that end nothing: the play goes on under what is in force. */
const harmless = ['passkey_required', 'role_required', 'policy_changed', 'would_lock_out']

/**
 * The rules of the play, saved as a person saves them on the Policies screen, and only where there are none: what a
 * person wrote is never replaced.
 */
export async function installDemoPolicies(person: Client) {
  const listed = await person.call('cowork_list_policies')
  const isFree =
    listed.policies.length === 0 && listed.mappings.length === 0 && listed.problem === undefined
  let brought: DemoPolicies = { left: 'Policies are in force already, and stay as they are.' }

  async function save(body: object, note: string, from: string): Promise<void> {
    try {
      const asked = { body, note, from }
      const { version, number } = await person.call('cowork_save_policies', asked)
      brought = { saved: { version, number }, before: listed.version }
    } catch (error) {
      if (!(error instanceof CoworkError) || !harmless.includes(error.code)) throw error
      if ('left' in brought) brought = { left: `The demo saved no policies: ${error.message}` }
    }
  }

  if (isFree) await save(bodyWith(deals), notes.first, listed.version)
  return {
    brought: () => brought,
    /** A second version, as after an hour of looking at what they do. */
    async tighten(): Promise<void> {
      if ('saved' in brought)
        await save(bodyWith([...deals, ...owners]), notes.second, brought.saved.version)
    },
  }
}
