import { dump } from 'js-yaml'

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Not trimEnd, which takes spaces that YAML does not take for spaces.
const withoutEnd = (text: string) => text.replace(/\n+$/, '')

/** The library looks at a text by recursion; from some length on that ends it. JSON is YAML, too. */
const isLong = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length > 500_000
    : typeof value === 'object' && value !== null && Object.values(value).some(isLong)

/** Lists of words stand on one line, lists of things have a line for each, the rest is as YAML likes it. */
function flowLevelOf(value: unknown): number {
  if (!Array.isArray(value)) return isPlainObject(value) ? 1 : -1
  return value.every((one) => typeof one !== 'object' || one === null) ? 1 : 2
}

/** `key: value`, as lines at this indent; the first without it. */
export function emitPair(key: string, value: unknown, indent: number, eol: string): string {
  if (isLong(value))
    return `${emitPair(key, null, 0, '').replace(/null$/, '')}${JSON.stringify(value)}${eol}`
  // Trailing blank lines of a text would depend on what follows it.
  const isOpen = typeof value === 'string' && /\n\s*\n$|^\s*\n/.test(value)
  const text = dump(
    { [key]: value },
    {
      lineWidth: -1,
      noRefs: true,
      flowLevel: flowLevelOf(value),
      ...(isOpen && { forceQuotes: true, quoteStyle: 'double' as const }),
    },
  )
  const pad = ' '.repeat(indent)
  return withoutEnd(text)
    .split('\n')
    .map((line, at) => (at === 0 || line === '' ? line : pad + line))
    .join(eol)
    .concat(eol)
}

/** A value on one line, in the quotes it had; nothing where it needs more. */
export function emitScalar(value: unknown, quotes?: 'single' | 'double'): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined
  if (Number.isSafeInteger(value)) return String(value)
  if (isLong(value)) return JSON.stringify(value)
  const isQuoted = quotes !== undefined && typeof value === 'string'
  const text = withoutEnd(
    dump(value, {
      lineWidth: -1,
      ...(isQuoted && { forceQuotes: true, quoteStyle: quotes }),
    }),
  )
  return text.includes('\n') ? undefined : text
}

export function emitItem(item: Readonly<Record<string, unknown>>, indent: number, eol: string) {
  const fields = Object.entries(item).filter(([, value]) => value !== undefined)
  if (fields.length === 0) return `${' '.repeat(indent)}- {}${eol}`
  return fields
    .map(([key, value], at) => {
      const isList = Array.isArray(value) && key === 'stories' && value.length > 0
      const lines = isList
        ? `stories:${eol}${emitList(value as Record<string, unknown>[], indent + 4, eol)}`
        : emitPair(key, value, indent + 2, eol)
      return `${' '.repeat(indent)}${at === 0 ? '- ' : '  '}${lines}`
    })
    .join('')
}

export const emitList = (
  items: readonly Readonly<Record<string, unknown>>[],
  indent: number,
  eol: string,
): string => items.map((item) => emitItem(item, indent, eol)).join('')
