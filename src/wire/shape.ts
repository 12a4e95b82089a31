/** A schema as plain data: fields and types, without formats and limits. */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'null'
  | 'any'
  | { readonly is: readonly unknown[] }
  | { readonly either: readonly Shape[] }
  | { readonly list: Shape }
  /** The name of an optional field ends with a question mark. */
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly values: Shape }

export type Shapes = {
  readonly tools: Readonly<Record<string, Shape>>
  readonly routes: Readonly<Record<string, Shape>>
}

/**
 * Returns the first field of a value that does not match the shape, and why. Unknown fields are
 * allowed.
 */
export function findMismatch(shape: Shape, value: unknown, path = ''): string | undefined {
  const wrong = (expected: string) => `${path || 'answer'}: expected ${expected}`
  if (shape === 'any') return undefined
  if (typeof shape === 'string')
    return (value === null ? 'null' : typeof value) === shape ? undefined : wrong(shape)
  if ('is' in shape)
    return shape.is.includes(value) ? undefined : wrong(`one of ${shape.is.join(', ')}`)
  if ('either' in shape) {
    const mismatches = shape.either.map((one) => findMismatch(one, value, path))
    return mismatches.includes(undefined) ? undefined : mismatches[0]
  }
  if ('list' in shape)
    return Array.isArray(value)
      ? first(value.entries(), ([at, item]) => findMismatch(shape.list, item, join(path, at)))
      : wrong('a list')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong('an object')
  const entries = new Map(Object.entries(value))
  if ('values' in shape)
    return first(entries, ([name, inner]) => findMismatch(shape.values, inner, join(path, name)))
  return first(Object.entries(shape.fields), ([key, field]) => {
    const name = key.replace(/\?$/, '')
    const at = join(path, name)
    if (entries.has(name)) return findMismatch(field, entries.get(name), at)
    return name === key ? `${at}: is missing` : undefined
  })
}

const join = (path: string, name: string | number) => (path === '' ? `${name}` : `${path}.${name}`)

function first<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
