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
 * One field of a change: `{ order: { items: [{ price: 5 }] } }` has `order`, `order.items`, its items and the `price`
 * at `order.items.0.price`. An item of a list has the name of the list.
 */
export type Field = {
  readonly name: string
  readonly path: string
  readonly value: unknown
  /** The value writes fields that cannot be determined, so no rule can allow it. */
  readonly isUnreadable?: true
}

/** The depth that the ledger records, so a deeper change could not run anyway. */
const maxLevels = 64
/** Over all paths: under one long key, many short ones become long too. */
const maxPathCharacters = 1024 * 1024
/** A field under construction: several keys may refer to it. */
type FieldNode = {
  readonly name: string
  readonly path: string
  readonly level: number
  /** The values as received. */
  readonly values: unknown[]
  readonly inside: Map<string, FieldNode>
  /** True if a key spelled out the path to a part, or another encoding named a part. */
  isSpelledOut: boolean
  isUnreadable: boolean
}

/** Another encoding of the content of a node: a value, or pairs of names and values. */
type EncodedFields = {
  readonly place: FieldNode
  readonly value?: unknown
  readonly pairs: readonly Pair[]
}

/**
 * Extracts every field that a change touches (M4): named fields, keys at every depth, and items of lists. Neither
 * nesting nor spelling hides a field: the key `order.items[0].price` means the change above, and touches every field
 * on its path.
 */
export function extractFields(change: unknown, field?: string): Field[] {
  let left = maxPathCharacters
  let fieldsLeft = maxFields

  function checkCount(fields: number): void {
    if (fields > fieldsLeft) throw tooComplexError()
  }
  function step(from: FieldNode, segment: string, name: string): FieldNode {
    const path = from.path === '' ? segment : `${from.path}.${segment}`
    const level = from.level + 1
    left -= path.length + 1
    fieldsLeft--
    if (left < 0 || fieldsLeft < 0 || level > maxLevels) throw tooComplexError()
    const place = from.inside.get(segment) ?? createNode(name, path, level)
    from.inside.set(segment, place)
    return place
  }
  function follow(from: FieldNode, key: string): FieldNode {
    let place = from
    for (const [at, segment] of toSegments(key).entries()) {
      if (segment !== key) place.isSpelledOut = true
      place = step(place, segment, at > 0 && isIndex(segment) ? place.name : segment)
    }
    return place
  }
  const encoded: EncodedFields[] = []
  const budget = { left: sqlBudget }
  function decode(place: FieldNode, pairs: readonly Pair[], value?: unknown): void {
    if (pairs.length > 0 || value !== undefined) encoded.push({ place, pairs, value })
  }
  function put(place: FieldNode, value: unknown, isText = false, isItem = false): void {
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
  function putText(place: FieldNode, text: string): void {
    const decoded = decodeText(text, budget)
    if (decoded) decode(place, decoded.pairs, decoded.value)
    const isChangeText = field === undefined && isChangeKey(place.name)
    if (decoded ? decoded.isUnreadable : isChangeText && text.trim() !== '')
      place.isUnreadable = true
  }
  /** A decoded field counts as if written plainly; the field with the encoded text keeps only its own value. */
  function decodedFields(): Field[] {
    const fields: Field[] = []
    // The list grows during the loop: decoded content may contain more.
    for (const { place, pairs, value: whole } of encoded) {
      const { name, path, level } = place
      const root = createNode(name, path, level + 1)
      try {
        if (whole !== undefined) put(root, whole)
        for (const [key, value] of pairs) put(follow(root, key), value, isProse(key, false))
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        return [...fields, { name, path, value: undefined, isUnreadable: true }]
      }
      fields.push(...listFields(root.isUnreadable ? [root] : [...root.inside.values()]))
    }
    return fields
  }
  function extractPlain(value: unknown): Field[] {
    const root = createNode('', '', isObject(value) ? -1 : 0)
    put(root, value)
    return listFields(isObject(value) ? [...root.inside.values()] : [root])
  }

  if (field === undefined) {
    if (change === undefined) return []
    const fields = extractPlain(change)
    return withUnreadable(change, [...fields, ...decodedFields()])
  }
  const fields = isObject(change) ? extractPlain(change) : []
  const named = createNode('', '', -1)
  for (const value of selectValues(field, change, fields)) put(follow(named, field), value)
  return [...listFields([...named.inside.values()]), ...fields, ...decodedFields()]
}

/** Marks a change without any field name as unreadable: a bare value or a list of them. */
function withUnreadable(change: unknown, fields: readonly Field[]): Field[] {
  const isBare = ({ name, value }: Field) =>
    name === '' || (name === 'raw' && typeof value !== 'object' && typeof value !== 'string')
  const isNameless = change !== null && !isEmptyObject(change) && fields.every(isBare)
  const [first, ...rest] = fields
  return isNameless && first ? [{ ...first, isUnreadable: true }, ...rest] : [...fields]
}

const createNode = (name: string, path: string, level: number): FieldNode => ({
  name,
  path,
  level,
  values: [],
  inside: new Map(),
  isSpelledOut: false,
  isUnreadable: false,
})

/** Lists fields level by level. A field with several values appears once for each. */
function listFields(places: readonly FieldNode[]): Field[] {
  const meant = new Map<FieldNode, readonly unknown[] | undefined>()

  /** Combines all keys of a node; undefined if the result is its value as received. */
  function combinedValues(place: FieldNode): readonly unknown[] | undefined {
    if (meant.has(place)) return meant.get(place)
    const { values, inside } = place
    const parts = [...inside].map(([segment, part]) => ({
      segment,
      values: combinedValues(part) ?? part.values,
      isOther: combinedValues(part) !== undefined,
    }))
    const isOther = place.isSpelledOut || values.length > 1 || parts.some((part) => part.isOther)
    const found = isOther ? [...values.filter(isEmpty), ...combineParts(values, parts)] : undefined
    meant.set(place, found)
    return found
  }

  const fields: Field[] = []
  for (let level = places; level.length > 0; level = level.flatMap((it) => [...it.inside.values()]))
    for (const place of level) {
      const { name, path, values } = place
      const unreadable = place.isUnreadable && { isUnreadable: true as const }
      const all = distinct([...values, ...(combinedValues(place) ?? [])])
      for (const value of all.length === 0 ? [undefined] : all)
        fields.push({ name, path, value, ...unreadable })
    }
  return fields
}

type Part = { readonly segment: string; readonly values: readonly unknown[] }

/** Returns the object that the parts form; or the list, if only list positions are named. */
function combineParts(values: readonly unknown[], parts: readonly Part[]): unknown[] {
  const known = parts.filter((part) => part.values.length > 0)
  if (known.length === 0) return []
  const entries = known.map((part): [string, unknown] => [part.segment, unwrapSingle(part.values)])
  const isList = !values.some(isObject) && known.every(({ segment }) => isIndex(segment))
  return [isList ? entries.map(([, value]) => value) : Object.fromEntries(entries)]
}

/** A value that is given several times has all these values. */
const unwrapSingle = (values: readonly unknown[]): unknown =>
  values.length === 1 ? values[0] : values

const isEmpty = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Object.keys(value).length === 0

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)]

/**
 * Returns the values of the field that a change claims to be about: `{ value }`, `{ raw }` and a bare value contain
 * it. A change that names the field elsewhere needs no more; otherwise the whole change is the value.
 */
function selectValues(field: string, change: unknown, fields: readonly Field[]): unknown[] {
  if (!isObject(change)) return [change]
  const wrapped = ['value', 'raw'].filter((key) => Object.hasOwn(change, key))
  if (wrapped.length > 0) return wrapped.map((key): unknown => Reflect.get(change, key))
  const target = normalizeFieldPath(field).toLowerCase()
  const isNamed = fields.some(
    ({ name, path, value }) =>
      value !== undefined && (name.toLowerCase() === target || path.toLowerCase() === target),
  )
  return isNamed ? [] : [change]
}

/** Normalizes a key to one path spelling: `a[0].b` and `/a/0/b` become `a.0.b`. */
export const normalizeFieldPath = (key: string): string => toSegments(key).join('.')

/** `a["b"]`, `a->>'b'`, `$.a.b`, `/a/b` and `a%2Eb` are spellings of `a.b`; `~1` is the slash of RFC 6901. */
function toSegments(key: string): string[] {
  const segments = normalizeVisible(unescapeKey(key))
    .split(/(?:[./[\]]|->>?)+/)
    .map((segment) => segment.trim().replace(quotes, '$2').trim())
    .filter((segment) => segment !== '')
  return segments.length === 0 ? [key] : segments
}

const quotes = /^(["'`])(.*)\1$/s

function unescapeKey(key: string): string {
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

const tooComplexError = () =>
  new CoworkError('invalid_input', 'The change is too deep or has too many fields to be checked.', {
    hint: 'Split it into smaller changes.',
  })
