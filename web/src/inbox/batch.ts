import { needsOverride } from './approval.ts'
import type { Decision, Item } from './approval.ts'

/** The maximum number of decisions per call (B2). */
const most = 1000

export type Batch = { readonly ids: readonly string[]; readonly decision: Decision }

/**
 * Splits one decision about many items into calls. Only items that need an override get it: rejecting a tool call or a
 * permission changes no trust (B4).
 */
export function buildBatches(
  items: readonly Pick<Item, 'id' | 'kind'>[],
  decision: Decision,
): Batch[] {
  const { override, ...plain } = decision
  const judged = items.filter(needsOverride)
  const others = items.filter((item) => !needsOverride(item))
  if (!override || judged.length === 0 || others.length === 0) return cut(items, decision)
  const reason = plain.reason ?? override.description
  return [
    ...cut(judged, decision),
    ...cut(others, { ...plain, ...(reason !== undefined && { reason }) }),
  ]
}

function cut(items: readonly Pick<Item, 'id'>[], decision: Decision): Batch[] {
  const ids = items.map(({ id }) => id)
  return Array.from({ length: Math.ceil(ids.length / most) }, (_, at) => ({
    ids: ids.slice(at * most, (at + 1) * most),
    decision,
  }))
}
