import type * as z from 'zod'
import { globsOverlap, globSpecificity } from '#base/glob.ts'

type Entry = Record<string, unknown>
type Lists = {
  agents: { id: string }[]
  policies: { id: string; reasoning_schema?: string | undefined }[]
  reasoning_schemas: { id: string }[]
  mappings: { agent_id: string; domain: string; policy_id: string }[]
  notify: { channels: { id: string }[]; rules: { channels: string[]; escalate_to: string[] }[] }
}

/** Checks references between sections: ids are unique, and every referenced id exists. */
export function checkReferences(config: Lists, context: z.RefinementCtx<Lists>): void {
  const addIssue = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message })

  const checkUnique = (section: (string | number)[], items: readonly Entry[], keys: string[]) => {
    const seen = new Map<string, number>()
    for (const [index, item] of items.entries()) {
      const id = JSON.stringify(keys.map((key) => item[key]))
      const first = seen.get(id)
      seen.set(id, first ?? index)
      if (first === undefined) continue
      const what = keys.map((key) => `${key} "${String(item[key])}"`).join(' and ')
      addIssue(
        [...section, index, keys[0] ?? 'id'],
        `repeats ${what} of item ${first + 1}: remove one`,
      )
    }
    return new Set(items.map((item) => item['id']))
  }
  const checkKnown = (
    path: (string | number)[],
    ids: Set<unknown>,
    id: string | undefined,
    what: string,
  ) => {
    if (id !== undefined && !ids.has(id)) addIssue(path, `refers to the undefined ${what} "${id}"`)
  }

  checkUnique(['agents'], config.agents, ['id'])
  checkUnique(['mappings'], config.mappings, ['agent_id', 'domain'])
  for (const { index, first } of findTies(config.mappings)) {
    const { agent_id, domain } = config.mappings[first] ?? {}
    addIssue(
      ['mappings', index, 'agent_id'],
      `ties with agent_id "${agent_id}" and domain "${domain}" of item ${first + 1}: both match some agent and domain equally well. Make one more specific`,
    )
  }
  const policyIds = checkUnique(['policies'], config.policies, ['id'])
  const reasoningIds = checkUnique(['reasoning_schemas'], config.reasoning_schemas, ['id'])
  const channelIds = checkUnique(['notify', 'channels'], config.notify.channels, ['id'])

  for (const [index, mapping] of config.mappings.entries())
    checkKnown(['mappings', index, 'policy_id'], policyIds, mapping.policy_id, 'policy')
  for (const [index, policy] of config.policies.entries())
    checkKnown(
      ['policies', index, 'reasoning_schema'],
      reasoningIds,
      policy.reasoning_schema,
      'reasoning schema',
    )
  for (const [index, rule] of config.notify.rules.entries())
    for (const list of ['channels', 'escalate_to'] as const)
      for (const [place, id] of rule[list].entries())
        checkKnown(['notify', 'rules', index, list, place], channelIds, id, 'channel')
}

type Mapping = Lists['mappings'][number]

/** Finds mappings that match some agent and domain with the same specificity as an earlier mapping, so that neither wins (Y1). */
function* findTies(mappings: readonly Mapping[]): Generator<{ index: number; first: number }> {
  const rivals = new Map<string, number[]>()
  for (const [index, mapping] of mappings.entries()) {
    const { agent_id, domain } = mapping
    // Only globs can tie: exact names match the same only if they are equal.
    const exact = [agent_id, domain].map((glob) => (glob.includes('*') ? '*' : glob))
    const key = JSON.stringify([...exact, ...globSpecificity(agent_id, domain)])
    const earlier = rivals.get(key) ?? []
    const first = earlier.find((place) => canBothMatch(mapping, mappings[place]))
    if (first !== undefined) yield { index, first }
    earlier.push(index)
    rivals.set(key, earlier)
  }
}

function canBothMatch(a: Mapping, b: Mapping | undefined): boolean {
  if (!b || (a.agent_id === b.agent_id && a.domain === b.domain)) return false
  return globsOverlap(a.agent_id, b.agent_id) && globsOverlap(a.domain, b.domain)
}
