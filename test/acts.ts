// Tool calls of agents and people, for tests that do not care about the arguments.
import { setImmediate } from 'node:timers/promises'
import { agentCaller, personCaller } from './governance.ts'
import type { Governed, Said } from './governed.ts'

export const anna = personCaller()
export const ben = personCaller('ben')
export const sales = agentCaller()
export const support = agentCaller('support')

export const proposal = (more: object = {}) => ({
  domain: 'crm',
  action: 'update_deal',
  target: 'deal-1',
  proposed_change: { note: 'call back' },
  confidence: 0.9,
  reasoning: 'They asked for it.',
  ...more,
})

/** Trust that a person gave by hand, so that evidence is not asked for. */
export const trusted = (given: Governed, score: number, agent = 'sales', domain = 'crm') =>
  given.call(
    'cowork_set_trust',
    { agent_id: agent, domain, score, reason: 'known from before' },
    anna,
  )

export const propose = (to: Governed, more: object = {}, by = sales): Promise<Said> =>
  to.call('cowork_propose', proposal(more), by)

/** Its id. The next one is later: those of one millisecond have no order. */
export async function proposed(to: Governed, more: object = {}, by = sales): Promise<string> {
  const { proposal_id: id } = await propose(to, more, by)
  for (const at = Date.now(); Date.now() === at;) await setImmediate()
  return String(id)
}

export const approve = (to: Governed, id: string, more: object = {}, by = anna): Promise<Said> =>
  to.call('cowork_approve', { proposal_id: id, ...more }, by)

export const override = (to: Governed, type: string, more: object = {}): Promise<Said> =>
  to.call(
    'cowork_override',
    {
      agent_id: 'sales',
      domain: 'crm',
      action_description: 'wrote to the wrong deal',
      override_type: type,
      description: 'It was the other one.',
      ...more,
    },
    anna,
  )

export const decide = (
  to: Governed,
  ids: readonly string[],
  more: object = {},
  by = anna,
): Promise<Said> =>
  to.call('cowork_decide', { approval_ids: ids, decision: 'approve', ...more }, by)

export const getOutcomes = (result: Said) => result['outcomes'] as Said[]

export const check = (to: Governed, id: unknown, more: object = {}, by = sales): Promise<Said> =>
  to.call('cowork_check_approval', { approval_id: id, ...more }, by)

export const fetchTrust = (to: Governed, domain = 'crm'): Promise<Said> =>
  to.call('cowork_check_trust', { domain })

/** Proposes and approves `count` times, and returns the result of the last approval. */
export async function earn(to: Governed, count: number, domain = 'crm'): Promise<Said> {
  let last: Said = {}
  for (let i = 0; i < count; i++) last = await approve(to, await proposed(to, { domain }))
  return last
}
