/**
 * Fields up to this size are in every part of an item; longer fields continue from part to part
 * (W23).
 */
const short = 600

export function mergeParts<T extends object>(parts: readonly T[]): T {
  const whole: Record<string, unknown> = {}
  for (const part of parts)
    for (const [field, value] of Object.entries(part))
      whole[field] = field in whole ? further(whole[field], value) : value
  return whole as T
}

function further(before: unknown, value: unknown): unknown {
  const words = JSON.stringify(value)
  if (words.length <= short && words === JSON.stringify(before)) return before
  if (typeof before === 'string' && typeof value === 'string') return before + value
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}
