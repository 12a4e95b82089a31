import { CoworkError } from '#base/errors.ts'

/**
 * One field of a change: `{ order: { items: [{ price: 5 }] } }` has `order`, `order.items`, its items
 * and the `price` at `order.items.0.price`. An item of a list has the name of the list.
 */
export type Field = { readonly name: string; readonly path: string; readonly value: unknown }

/** As deep as the ledger records, so what is refused here could not be done anyway. */
const mostLevels = 64
/** Of all paths together: under one long key, many short ones are long too. */
const mostCharacters = 1024 * 1024

/**
 * Every field that a change touches (M4): what it names, the keys at every depth, and the items of lists.
 * Neither nesting nor spelling hides one: `order.items[0].price` as a key is the same field as above.
 */
export function fieldsOf(change: unknown, field?: string): Field[] {
  let left = mostCharacters

  function add(to: Field[], name: string, path: string, value: unknown) {
    left -= path.length + 1
    if (left < 0) throw tooMuch()
    to.push({ name, path, value })
  }
  function addKey(to: Field[], parent: string, key: string, value: unknown) {
    const segments = segmentsOf(key)
    let name = key
    let path = parent
    for (const [place, segment] of segments.entries()) {
      if (place === 0 || !isIndex(segment)) name = segment
      path = joined(path, segment)
      // All but the last are touched, with values that are more than this change shows.
      add(to, name, path, place === segments.length - 1 ? value : undefined)
    }
  }
  function withAllInside(roots: Field[]): Field[] {
    const fields: Field[] = []
    for (let level = roots, depth = 0; level.length > 0; depth++) {
      if (depth > mostLevels) throw tooMuch()
      const below: Field[] = []
      for (const field of level) {
        const { name, path, value } = field
        fields.push(field)
        if (Array.isArray(value))
          for (const [index, item] of value.entries())
            add(below, name, joined(path, `${index}`), item)
        else if (isObject(value))
          for (const [key, item] of Object.entries(value)) addKey(below, path, key, item)
      }
      level = below
    }
    return fields
  }

  const roots: Field[] = []
  if (isObject(change))
    for (const [key, value] of Object.entries(change)) addKey(roots, '', key, value)
  else if (change !== undefined && field === undefined) add(roots, '', '', change)
  const fields = withAllInside(roots)
  if (field === undefined) return fields
  const named: Field[] = []
  for (const value of valuesFor(field, change, fields)) addKey(named, '', field, value)
  return [...withAllInside(named), ...fields]
}

/**
 * The value a change gives to the field it is said to be about: `{ value }`, `{ raw }` and a bare value
 * hold it. A change that names the field elsewhere needs nothing more; else all of it is the value.
 */
function valuesFor(field: string, change: unknown, fields: readonly Field[]): unknown[] {
  if (!isObject(change)) return [change]
  const wrapped = ['value', 'raw'].filter((key) => Object.hasOwn(change, key))
  if (wrapped.length > 0) return wrapped.map((key): unknown => Reflect.get(change, key))
  const wanted = pathOf(field).toLowerCase()
  const isNamed = fields.some(
    ({ name, path, value }) =>
      value !== undefined && (name.toLowerCase() === wanted || path.toLowerCase() === wanted),
  )
  return isNamed ? [] : [change]
}

/** A key in the one spelling of a path: `a[0].b` and `/a/0/b` are `a.0.b`. */
export const pathOf = (key: string): string => segmentsOf(key).join('.')

function segmentsOf(key: string): string[] {
  const segments = key.split(/[./[\]]+/).filter((segment) => segment !== '')
  return segments.length === 0 ? [key] : segments
}

export const isIndex = (segment: string): boolean => /^\d+$/.test(segment)

const joined = (path: string, segment: string) => (path === '' ? segment : `${path}.${segment}`)

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const tooMuch = () =>
  new CoworkError('invalid_input', 'This change is nested too deep or too wide to be judged.', {
    hint: 'Split it into smaller changes.',
  })
