import { needsOverride } from './approval.ts'
import type { Decision, Item } from './approval.ts'

/** The maximum number of decisions per call (B2). */
const maxBatch = 1000

export type Batch = { readonly ids: readonly string[]; readonly decision: Decision }

/**
 * Splits one decision about many items into calls. Only items that need an override get it: rejecting a tool call or a
 * permission changes no trust (B4).
 */
export function buildBatches(
  items: readonly Pick<Item, 'id' | 'kind'>[],
  decision: Decision,
): Batch[] {
  const { override, ...withoutOverride } = decision
  const overridable = items.filter(needsOverride)
  const others = items.filter((item) => !needsOverride(item))
  if (!override || overridable.length === 0 || others.length === 0)
    return splitBatches(items, decision)
  const reason = withoutOverride.reason ?? override.description
  return [
    ...splitBatches(overridable, decision),
    ...splitBatches(others, { ...withoutOverride, ...(reason !== undefined && { reason }) }),
  ]
}

function splitBatches(items: readonly Pick<Item, 'id'>[], decision: Decision): Batch[] {
  const ids = items.map(({ id }) => id)
  return Array.from({ length: Math.ceil(ids.length / maxBatch) }, (_, at) => ({
    ids: ids.slice(at * maxBatch, (at + 1) * maxBatch),
    decision,
  }))
}
