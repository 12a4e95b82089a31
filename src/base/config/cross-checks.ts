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

/** What one section says about another: ids are unique, and every id that is named exists. */
export function checkReferences(config: Lists, context: z.RefinementCtx<Lists>): void {
  const refuse = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message })

  const unique = (section: (string | number)[], items: readonly Entry[], keys: string[]) => {
    const seen = new Map<string, number>()
    for (const [index, item] of items.entries()) {
      const id = JSON.stringify(keys.map((key) => item[key]))
      const first = seen.get(id)
      seen.set(id, first ?? index)
      if (first === undefined) continue
      const what = keys.map((key) => `${key} "${String(item[key])}"`).join(' and ')
      refuse([...section, index, keys[0] ?? 'id'], `repeats ${what} of item ${first + 1}: keep one`)
    }
    return new Set(items.map((item) => item['id']))
  }
  const known = (
    path: (string | number)[],
    ids: Set<unknown>,
    id: string | undefined,
    what: string,
  ) => {
    if (id !== undefined && !ids.has(id))
      refuse(path, `names ${what} "${id}", which is not defined`)
  }

  unique(['agents'], config.agents, ['id'])
  unique(['mappings'], config.mappings, ['agent_id', 'domain'])
  for (const { index, first } of tiesIn(config.mappings)) {
    const { agent_id, domain } = config.mappings[first] ?? {}
    refuse(
      ['mappings', index, 'agent_id'],
      `ties with agent_id "${agent_id}" and domain "${domain}" of item ${first + 1}: some agent and domain fit both equally well. Make one more specific`,
    )
  }
  const policyIds = unique(['policies'], config.policies, ['id'])
  const reasoningIds = unique(['reasoning_schemas'], config.reasoning_schemas, ['id'])
  const channelIds = unique(['notify', 'channels'], config.notify.channels, ['id'])

  for (const [index, mapping] of config.mappings.entries())
    known(['mappings', index, 'policy_id'], policyIds, mapping.policy_id, 'policy')
  for (const [index, policy] of config.policies.entries())
    known(
      ['policies', index, 'reasoning_schema'],
      reasoningIds,
      policy.reasoning_schema,
      'reasoning schema',
    )
  for (const [index, rule] of config.notify.rules.entries())
    for (const list of ['channels', 'escalate_to'] as const)
      for (const [place, id] of rule[list].entries())
        known(['notify', 'rules', index, list, place], channelIds, id, 'channel')
}

type Mapping = Lists['mappings'][number]

/** Mappings that fit some agent and domain as closely as an earlier one, so that neither could win (Y1). */
function* tiesIn(mappings: readonly Mapping[]): Generator<{ index: number; first: number }> {
  const rivals = new Map<string, number[]>()
  for (const [index, mapping] of mappings.entries()) {
    const { agent_id, domain } = mapping
    // Only globs are compared, since exact names fit the same only if they are the same.
    const exact = [agent_id, domain].map((glob) => (glob.includes('*') ? '*' : glob))
    const key = JSON.stringify([...exact, ...globSpecificity(agent_id, domain)])
    const earlier = rivals.get(key) ?? []
    const first = earlier.find((place) => fitTogether(mapping, mappings[place]))
    if (first !== undefined) yield { index, first }
    earlier.push(index)
    rivals.set(key, earlier)
  }
}

function fitTogether(a: Mapping, b: Mapping | undefined): boolean {
  if (!b || (a.agent_id === b.agent_id && a.domain === b.domain)) return false
  return globsOverlap(a.agent_id, b.agent_id) && globsOverlap(a.domain, b.domain)
}
