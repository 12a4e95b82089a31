import type * as z from 'zod'

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
