import { CoworkError } from '#base/errors.ts'
import type { Pair } from './encodings.ts'
import {
  decodeObject,
  decodeText,
  decodeTuples,
  isChangeKey,
  isProse,
  maxFields,
  namesFile,
} from './encodings.ts'
import { normalizeVisible } from './visible-name.ts'
import { sqlBudget } from './sql.ts'

/**
 * One field of a change: `{ order: { items: [{ price: 5 }] } }` has `order`, `order.items`, its items
 * and the `price` at `order.items.0.price`. An item of a list has the name of the list.
 */
export type Field = {
  readonly name: string
  readonly path: string
  readonly value: unknown
  /** The value writes fields that cannot be found out, so no rule can allow it. */
  readonly isUnreadable?: true
}

/** As deep as the ledger records, so what is refused here could not be done anyway. */
const mostLevels = 64
/** Of all paths together: under one long key, many short ones are long too. */
const mostCharacters = 1024 * 1024
/** A field while it is put together: several keys may be about the same one. */
type Place = {
  readonly name: string
  readonly path: string
  readonly level: number
  /** As they came. */
  readonly values: unknown[]
  readonly inside: Map<string, Place>
  /** Some of what is inside was named by a key that spells out the way, or in another spelling. */
  isSpelledOut: boolean
  isUnreadable: boolean
}

/** Another spelling of what stands at a place: a value, or pairs of names and values. */
type Encoded = { readonly place: Place; readonly value?: unknown; readonly pairs: readonly Pair[] }

/**
 * Every field that a change touches (M4): what it names, the keys at every depth, and the items of lists.
 * Neither nesting nor spelling hides one: `order.items[0].price` as a key means the change above, and so do
 * all that lie on the way.
 */
export function extractFields(change: unknown, field?: string): Field[] {
  let left = mostCharacters
  let fieldsLeft = maxFields

  function checkCount(fields: number): void {
    if (fields > fieldsLeft) throw tooMuch()
  }
  function step(from: Place, segment: string, name: string): Place {
    const path = from.path === '' ? segment : `${from.path}.${segment}`
    const level = from.level + 1
    left -= path.length + 1
    fieldsLeft--
    if (left < 0 || fieldsLeft < 0 || level > mostLevels) throw tooMuch()
    const place = from.inside.get(segment) ?? placeOf(name, path, level)
    from.inside.set(segment, place)
    return place
  }
  function follow(from: Place, key: string): Place {
    let place = from
    for (const [at, segment] of segmentsOf(key).entries()) {
      if (segment !== key) place.isSpelledOut = true
      place = step(place, segment, at > 0 && isIndex(segment) ? place.name : segment)
    }
    return place
  }
  const encoded: Encoded[] = []
  const budget = { left: sqlBudget }
  function decode(place: Place, pairs: readonly Pair[], value?: unknown): void {
    if (pairs.length > 0 || value !== undefined) encoded.push({ place, pairs, value })
  }
  function put(place: Place, value: unknown, isText = false, isItem = false): void {
    if (value !== undefined) place.values.push(value)
    if (Array.isArray(value)) {
      checkCount(value.length)
      decode(place, [
        ...decodeTuples(value),
        ...value.filter(isObject).flatMap((item) => decodeObject(item, checkCount)),
      ])
      for (const [index, item] of value.entries())
        put(step(place, `${index}`, place.name), item, isText, true)
    } else if (isObject(value)) {
      if (!isItem) decode(place, decodeObject(value, checkCount))
      const isFile = namesFile(value)
      for (const [key, item] of Object.entries(value))
        put(follow(place, key), item, isText || isProse(key, isFile))
    } else if (typeof value === 'string' && !isText) putText(place, value)
  }
  function putText(place: Place, text: string): void {
    const decoded = decodeText(text, budget)
    if (decoded) decode(place, decoded.pairs, decoded.value)
    const isSaidToBeChange = field === undefined && isChangeKey(place.name)
    if (decoded ? decoded.isUnreadable : isSaidToBeChange && text.trim() !== '')
      place.isUnreadable = true
  }
  /** An encoded field counts as if it were written plainly; the field that holds it keeps only its own value. */
  function decodedFields(): Field[] {
    const fields: Field[] = []
    // It grows while it is read: what was decoded may hold more.
    for (const { place, pairs, value: whole } of encoded) {
      const { name, path, level } = place
      const root = placeOf(name, path, level + 1)
      try {
        if (whole !== undefined) put(root, whole)
        for (const [key, value] of pairs) put(follow(root, key), value, isProse(key, false))
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        return [...fields, { name, path, value: undefined, isUnreadable: true }]
      }
      fields.push(...listed(root.isUnreadable ? [root] : [...root.inside.values()]))
    }
    return fields
  }
  function fieldsIn(value: unknown): Field[] {
    const whole = placeOf('', '', isObject(value) ? -1 : 0)
    put(whole, value)
    return listed(isObject(value) ? [...whole.inside.values()] : [whole])
  }

  if (field === undefined) {
    if (change === undefined) return []
    const fields = fieldsIn(change)
    return withUnreadable(change, [...fields, ...decodedFields()])
  }
  const fields = isObject(change) ? fieldsIn(change) : []
  const named = placeOf('', '', -1)
  for (const value of valuesFor(field, change, fields)) put(follow(named, field), value)
  return [...listed([...named.inside.values()]), ...fields, ...decodedFields()]
}

/** A change that names no field at all: a bare value or a list of them. */
function withUnreadable(change: unknown, fields: readonly Field[]): Field[] {
  const isBare = ({ name, value }: Field) =>
    name === '' || (name === 'raw' && typeof value !== 'object' && typeof value !== 'string')
  const isNameless = change !== null && !isEmptyObject(change) && fields.every(isBare)
  const [first, ...rest] = fields
  return isNameless && first ? [{ ...first, isUnreadable: true }, ...rest] : [...fields]
}

const placeOf = (name: string, path: string, level: number): Place => ({
  name,
  path,
  level,
  values: [],
  inside: new Map(),
  isSpelledOut: false,
  isUnreadable: false,
})

/** Those of one level after those above. A field that has several values comes once for each. */
function listed(places: readonly Place[]): Field[] {
  const meant = new Map<Place, readonly unknown[] | undefined>()

  /** What all keys about it make together, where that is not simply its value as it came. */
  function meantBy(place: Place): readonly unknown[] | undefined {
    if (meant.has(place)) return meant.get(place)
    const { values, inside } = place
    const parts = [...inside].map(([segment, part]) => ({
      segment,
      values: meantBy(part) ?? part.values,
      isOther: meantBy(part) !== undefined,
    }))
    const isOther = place.isSpelledOut || values.length > 1 || parts.some((it) => it.isOther)
    const found = isOther ? [...values.filter(isEmpty), ...together(values, parts)] : undefined
    meant.set(place, found)
    return found
  }

  const fields: Field[] = []
  for (let level = places; level.length > 0; level = level.flatMap((it) => [...it.inside.values()]))
    for (const place of level) {
      const { name, path, values } = place
      const unreadable = place.isUnreadable && { isUnreadable: true as const }
      const all = distinct([...values, ...(meantBy(place) ?? [])])
      for (const value of all.length === 0 ? [undefined] : all)
        fields.push({ name, path, value, ...unreadable })
    }
  return fields
}

type Part = { readonly segment: string; readonly values: readonly unknown[] }

/** The object that parts make; or the list, where nothing but places in one is named. */
function together(values: readonly unknown[], parts: readonly Part[]): unknown[] {
  const known = parts.filter((part) => part.values.length > 0)
  if (known.length === 0) return []
  const entries = known.map((part): [string, unknown] => [part.segment, one(part.values)])
  const isList = !values.some(isObject) && known.every(({ segment }) => isIndex(segment))
  return [isList ? entries.map(([, value]) => value) : Object.fromEntries(entries)]
}

/** What is said more than once is said in all these ways. */
const one = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : values)

const isEmpty = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Object.keys(value).length === 0

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)]

/**
 * The value a change gives to the field it is said to be about: `{ value }`, `{ raw }` and a bare value
 * hold it. A change that names the field elsewhere needs nothing more; else all of it is the value.
 */
function valuesFor(field: string, change: unknown, fields: readonly Field[]): unknown[] {
  if (!isObject(change)) return [change]
  const wrapped = ['value', 'raw'].filter((key) => Object.hasOwn(change, key))
  if (wrapped.length > 0) return wrapped.map((key): unknown => Reflect.get(change, key))
  const wanted = normalizeFieldPath(field).toLowerCase()
  const isNamed = fields.some(
    ({ name, path, value }) =>
      value !== undefined && (name.toLowerCase() === wanted || path.toLowerCase() === wanted),
  )
  return isNamed ? [] : [change]
}

/** A key in the one spelling of a path: `a[0].b` and `/a/0/b` are `a.0.b`. */
export const normalizeFieldPath = (key: string): string => segmentsOf(key).join('.')

/** `a["b"]`, `a->>'b'`, `$.a.b`, `/a/b` and `a%2Eb` name what `a.b` names; `~1` is the slash of RFC 6901. */
function segmentsOf(key: string): string[] {
  const segments = normalizeVisible(unescaped(key))
    .split(/(?:[./[\]]|->>?)+/)
    .map((segment) => segment.trim().replace(quotes, '$2').trim())
    .filter((segment) => segment !== '')
  return segments.length === 0 ? [key] : segments
}

const quotes = /^(["'`])(.*)\1$/s

function unescaped(key: string): string {
  const plain = key.includes('~1') ? key.replaceAll('~1', '/') : key
  if (!/%[0-9a-f]{2}/i.test(plain)) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

export const isIndex = (segment: string): boolean => /^\d+$/.test(segment)

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const tooMuch = () =>
  new CoworkError('invalid_input', 'This change is nested too deep or too wide to be judged.', {
    hint: 'Split it into smaller changes.',
  })
