import { writesSql } from './sql.ts'

export type Pair = readonly [name: string, value: unknown]

type Decoded = {
  readonly pairs: readonly Pair[]
  /** Part of the text writes fields that cannot be determined. */
  readonly isUnreadable: boolean
}

/** The value of a written field whose new content is unknown: no value rule allows it. */
const unknownValue = Symbol('unknown value')

/** Longer texts are not searched for fields: they count as unreadable. */
const maxTextLength = 1024 * 1024

/**
 * Maximum fields in one change, including decoded ones. A message has at most 4,096 values; a text in it may encode a
 * hundred thousand, and each costs up to 15 µs of the event loop (RS4).
 */
export const maxFields = 10_000

/** Keys are compared without case, white space, `_` and `-`: `new_value`, `newValue` and `New Value` are equal. */
const toWord = (key: string): string => key.toLowerCase().replaceAll(/[\s_-]/g, '')

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Keys that only name a field. */
const fieldKeys = words(
  'field fieldname fieldid fieldkey fieldpath column columnname columnid property propertyname attribute attributename attr prop jsonpath',
)
/** Generic keys: they name a field only next to a key of `plainValueKeys`. */
const nameKeys = words('name key path id label param parameter variable k n')
const plainValueKeys = words('value newvalue val v setvalue proposedvalue')
const valueKeys = new Set([
  ...plainValueKeys,
  ...words('to new set setto after newval becomes data'),
])
const nameListKeys = words('columns fields names keys headers properties attributes')
const valueListKeys = words('values rows data records')
const patchOperations = words('add remove replace move copy test')

/** Keys whose text is a change: such a text is unreadable unless fields can be parsed. */
const changeKeys = words('raw change changes proposedchange sql statement statements updates')
/** Keys of notes and file parts, whose text is not a change. */
const proseKeys = words(
  'note notes comment comments reasoning reason message commitmessage oldstring newstring oldstr newstr oldtext newtext filetext',
)
/** Keys of file content, if the same object names a file. */
const contentKeys = words('content contents edits')
const fileKeys = words('path file filepath filename')

export const isChangeKey = (key: string): boolean => changeKeys.has(toWord(key))

/** True for the text of a note or of file content, which is not searched for fields. */
export function isProse(key: string, isFile: boolean): boolean {
  const word = toWord(key)
  return proseKeys.has(word) || (isFile && contentKeys.has(word))
}

export const namesFile = (object: object): boolean =>
  Object.entries(object).some(
    ([key, value]) =>
      fileKeys.has(toWord(key)) &&
      typeof value === 'string' &&
      /[^/\\]\.[a-z]\w{0,9}$/i.test(value),
  )

/**
 * Returns the fields that one object names: an operation of JSON Patch, a name next to a value, a table. `checkCount`
 * throws for too many: every name pairs with every value, and every column with every row.
 */
export function decodeObject(object: object, checkCount: (pairs: number) => void): Pair[] {
  const entries = Object.entries(object).map(([key, value]: [string, unknown]) => ({
    word: toWord(key),
    value,
  }))
  return [
    ...patchPairs(entries),
    ...namedPairs(entries, checkCount),
    ...tablePairs(entries, checkCount),
  ]
}

type Entry = { readonly word: string; readonly value: unknown }

const getText = (entries: readonly Entry[], word: string): string | undefined => {
  const value = entries.find((entry) => entry.word === word)?.value
  return typeof value === 'string' ? value : undefined
}

/** RFC 6902. The patch does not contain what `move` and `copy` write. */
function patchPairs(entries: readonly Entry[]): Pair[] {
  const operation = getText(entries, 'op')?.toLowerCase() ?? ''
  const path = getText(entries, 'path')
  if (!patchOperations.has(operation) || path === undefined) return []
  const from = getText(entries, 'from')
  if (operation === 'remove') return [[path, null]]
  if (operation !== 'move' && operation !== 'copy') return []
  return [[path, unknownValue], ...(from === undefined ? [] : [[from, null] as const])]
}

function namedPairs(entries: readonly Entry[], checkCount: (pairs: number) => void): Pair[] {
  const all = entries.filter(({ word }) => valueKeys.has(word))
  const plain = all.filter(({ word }) => plainValueKeys.has(word))
  let pairs = 0
  return entries.flatMap(({ word, value }): Pair[] => {
    const name = extractName(value)
    const isField = fieldKeys.has(word)
    if (!(isField || nameKeys.has(word)) || name === undefined || name === '') return []
    const values = isField ? all : plain
    checkCount((pairs += values.length))
    if (values.length > 0) return values.map((one): Pair => [name, one.value])
    return isField && entries.length > 1 ? [[name, unknownValue]] : []
  })
}

/** `'deal.stage'`, `['deal', 'stage']` or `{ name: 'stage' }` */
function extractName(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (isTextList(value)) return value.join('.')
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value)
    .filter(([key]) => nameKeys.has(toWord(key)))
    .map(([, name]: [string, unknown]) => name)
    .find((name) => typeof name === 'string')
}

/** `{ columns: ['stage'], rows: [['won']] }` */
function tablePairs(entries: readonly Entry[], checkCount: (pairs: number) => void): Pair[] {
  const names = entries.find(
    ({ word, value }) => nameListKeys.has(word) && isTextList(value),
  )?.value
  const rows = entries.find(({ word, value }) => valueListKeys.has(word) && Array.isArray(value))
  if (!isTextList(names) || !rows) return []
  const lists = rows.value as readonly unknown[]
  const isTable = lists.length > 0 && lists.every((row) => Array.isArray(row))
  checkCount(names.length * (isTable ? lists.length : 1))
  return (isTable ? (lists as readonly (readonly unknown[])[]) : [lists]).flatMap((row) =>
    names.map((name, place): Pair => [name, row[place]]),
  )
}

/** `[['stage', 'won'], …]` */
export function decodeTuples(list: readonly unknown[]): Pair[] {
  const isTuples = list.length > 0 && list.every(isTuple)
  return isTuples ? (list as readonly Pair[]).map(([name, value]): Pair => [name, value]) : []
}

const isTuple = (item: unknown): boolean =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')

export type DecodedText = Decoded & {
  /** The text encodes this value. */
  readonly value?: unknown
}

/** Also after comments, queries and fragments. */
const looksLikeMutation = /(?:^|[}\n])[ \t,]*mutation\b[^{}]{0,2000}\{/i
const readsOnly = /^\s*(?:select|show|describe)\b(?![\s\S]*(?:\binto\b|;\s*\S))/i

/**
 * Detects `{stage: 'won'}`, which some readers accept as an object, though it is not JSON. Templates and code start
 * differently.
 */
function looksLikeObject(text: string): boolean {
  const end = text.trimEnd().replace(/\]$/, '').trimEnd()
  return objectStart.test(text) && end.endsWith('}')
}
const objectStart =
  /^\s*(?:\[\s*)?\{\s*(?:\/[/*]|(?:[\p{L}_$][\p{L}\p{N}_$.-]*|(["'`])[^"'`\n]{1,200}\1)\s*[:=])/u

/** Returns the fields that a text encodes as JSON or as a form; undefined for plain text. */
export function decodeText(text: string, budget: { left: number }): DecodedText | undefined {
  if (text.length > maxTextLength) return { pairs: [], isUnreadable: true }
  const value = parseJson(text)
  if (value !== undefined) return { value, pairs: [], isUnreadable: false }
  const unescaped = unescapeText(text)
  if (unescaped !== undefined) return { value: unescaped, pairs: [], isUnreadable: false }
  if (writesSql(text, budget)) return { pairs: [], isUnreadable: true }
  const pairs = [...formPairs(text), ...linePairs(text)]
  if (pairs.length > 0) return { pairs, isUnreadable: false }
  if (readsOnly.test(text)) return { pairs: [], isUnreadable: false }
  const isStructured = looksLikeObject(text) || looksLikeMutation.test(text)
  return isStructured ? { pairs: [], isUnreadable: true } : undefined
}

/** Parses objects, lists and texts that contain one: a number in a text stays text. */
function parseJson(text: string): unknown {
  const inner = /^\s*```(?:json)?\s([\s\S]*)```\s*$/i.exec(text)?.[1] ?? text
  if (!/^\s*[[{"]/.test(inner)) return undefined
  try {
    const value: unknown = JSON.parse(inner)
    return typeof value === 'object' && value !== null ? value : parseQuoted(value)
  } catch {
    return undefined
  }
}

const parseQuoted = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[[{"%]/.test(value) ? value : undefined

/** Decodes `%7B%22stage%22…`, which has no `=` of a form. */
function unescapeText(text: string): string | undefined {
  if (/[\s=&]/.test(text) || !/%[0-9a-f]{2}/i.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const separators = ['&', '\n', ';', ','] as const

/** Parses `stage=won&owner=ann`, the query of a URL, or such pairs on separate lines. */
function formPairs(text: string): Pair[] {
  if (!text.includes('=')) return []
  const query =
    /^[a-z][a-z\d+.-]*:\/\/[^\s?]*\?([^\s#]*)/i.exec(text)?.[1] ?? text.replace(/^\?/, '')
  for (const separator of separators) {
    // One part more than the maximum of fields, so that a longer text becomes unreadable.
    const parts = query.split(separator, maxFields + 1).filter((part) => part.trim() !== '')
    const pairs: Pair[] = []
    for (const part of parts) {
      const pair = formPair(part)
      if (!pair) break
      pairs.push(pair)
    }
    if (pairs.length > 0 && pairs.length === parts.length) return pairs
  }
  return []
}

/** Parses `stage: won` on each line, as in YAML; a parent key starts the path of indented ones. */
function linePairs(text: string): Pair[] {
  const parents: { readonly indent: number; readonly name: string }[] = []
  const pairs: Pair[] = []
  for (const line of text
    .split('\n')
    .filter((one) => /^(?!\s*(?:#|---\s*$))/.test(one) && one.trim())) {
    const match = /^(\s*(?:- +)?)(["']?)([^\s:"'/{}[\]]{1,200})\2:(?:\s+(\S.*))?$/.exec(
      line.trimEnd(),
    )
    if (!match) return []
    const [, { length: indent } = '', , name = '', value] = match
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop()
    parents.push({ indent, name })
    if (parents.length > maxLineLevels) return []
    if (value !== undefined)
      pairs.push([parents.map((one) => one.name).join('.'), formValue(value)])
  }
  return pairs
}
const maxLineLevels = 32

/** The name is one word; a sentence with `=` is not a pair. */
function formPair(part: string): Pair | undefined {
  const at = part.indexOf('=')
  const name = part.slice(0, at).replace(/:$/, '').trim()
  const isName = at > 0 && name.length <= 200 && /^(["'`]?)[^\s=?"'`]+\1$/.test(name)
  const isComparison = part[at + 1] === '='
  return isName && !isComparison
    ? [formText(name), formValue(part.slice(at + 1).trim())]
    : undefined
}

function formText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** A form has no types: text in number format is a number. */
function formValue(text: string): unknown {
  const value = formText(text.replace(/^(["'])(.*)\1$/s, '$2'))
  return /^-?(?:0|[1-9]\d{0,15})(?:\.\d+)?$/.test(value) ? Number(value) : value
}
