/**
 * Fields up to this size are in every part of an item; longer fields continue from part to part
 * (W23).
 */
const maxShortFieldLength = 600

export function mergeParts<T extends object>(parts: readonly T[]): T {
  const merged: Record<string, unknown> = {}
  for (const part of parts)
    for (const [field, value] of Object.entries(part))
      merged[field] = field in merged ? mergeValue(merged[field], value) : value
  return merged as T
}

function mergeValue(before: unknown, value: unknown): unknown {
  const serialized = JSON.stringify(value)
  if (serialized.length <= maxShortFieldLength && serialized === JSON.stringify(before))
    return before
  if (typeof before === 'string' && typeof value === 'string') return before + value
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}
