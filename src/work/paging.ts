import { CoworkError } from '#base/errors.ts'
import type { Row } from './merge/flat.ts'

/** A reply has at most 25 kB (W23), including some overhead. */
const maxReplyBytes = 22_000
/** Fields up to this size are in every part of an item; longer fields continue in the next part. */
const maxShortFieldBytes = 500
/** So many characters fit next to the short fields of an item, even if JSON escapes all of them. */
const chunkLength = 2400

export type Paging = { readonly cursor?: string | undefined; readonly limit?: number | undefined }
type Next = { readonly next_cursor?: string }

const getJsonSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '') + 1

/** Returns the entries after the cursor that fit, and the next cursor. */
export function paginate<T>(
  list: readonly (T | (() => T))[],
  { cursor, limit = 200 }: Paging,
  bytes = maxReplyBytes,
): { readonly page: T[] } & Next {
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isSafeInteger(from) || from < 0)
    throw new CoworkError('invalid_input', 'Invalid cursor.', {
      hint: 'Pass next_cursor unchanged, or omit cursor to start from the beginning.',
    })
  const page: T[] = []
  let size = 0
  for (const lazyItem of list.slice(from, from + limit)) {
    const one = typeof lazyItem === 'function' ? (lazyItem as () => T)() : lazyItem
    size += getJsonSize(one)
    if (size > bytes && page.length > 0) break
    page.push(size > bytes ? truncateToFit(one, bytes) : one)
  }
  const next = from + page.length
  return { page, ...(next < list.length && { next_cursor: String(next) }) }
}

type FieldChunk = { readonly field: string; readonly part: string | readonly unknown[] }

/**
 * Returns one item with as much of its long texts and lists as fits after the cursor; the next part
 * continues there. List entries can be functions, which are called only for returned entries.
 */
export function paginateItem(item: Row, paging: Paging): { readonly part: Row } & Next {
  const fullFields = new Set<string>()
  let size = 0
  for (const [field, value] of Object.entries(item)) {
    const own = isLong(value) ? maxShortFieldBytes + 1 : getJsonSize(value)
    if (own > maxShortFieldBytes || size + own > maxReplyBytes / 3) continue
    size += own
    fullFields.add(field)
  }
  const chunks = Object.entries(item)
    .filter(([field]) => !fullFields.has(field))
    .flatMap(([field, value]) => splitField(field, value))
  const { page, ...next } = paginate(chunks, paging, maxReplyBytes - size)
  const merged = new Map<string, string | unknown[]>()
  for (const { field, part } of page) {
    const before = merged.get(field)
    if (typeof part === 'string') merged.set(field, `${(before as string) ?? ''}${part}`)
    else merged.set(field, [...((before as unknown[]) ?? []), ...part])
  }
  const fields = Object.keys(item)
    .filter((field) => fullFields.has(field) || merged.has(field))
    .map((field) => [field, merged.get(field) ?? item[field]] as const)
  return { part: Object.fromEntries(fields), ...next }
}

/** Avoids serializing a long value. */
const isLong = (value: unknown): boolean => {
  if (typeof value === 'string') return value.length > maxShortFieldBytes
  return Array.isArray(value) && (value.length > 20 || typeof value[0] === 'function')
}

function splitField(field: string, value: unknown): (FieldChunk | (() => FieldChunk))[] {
  if (!Array.isArray(value)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return splitText(text).map((part) => ({ field, part }))
  }
  return value.map((entry: unknown) => () => ({
    field,
    part: [typeof entry === 'function' ? (entry() as unknown) : entry],
  }))
}

export const splitText = (text: string): string[] =>
  text.match(new RegExp(`[^]{1,${chunkLength}}`, 'gu')) ?? ['']

/** Truncates texts and lists of a value larger than a reply until it fits. */
function truncateToFit<T>(value: T, bytes: number): T {
  let one = value
  for (let maxLength = 4096; maxLength >= 1 && getJsonSize(one) > bytes; maxLength /= 2)
    one = truncate(value, maxLength) as T
  return one
}

function truncate(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string')
    return value.length > maxLength ? `${value.slice(0, maxLength)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, maxLength).map((one) => truncate(one, maxLength))
  const entries = Object.entries(value).slice(0, maxLength)
  return Object.fromEntries(entries.map(([key, one]) => [key, truncate(one, maxLength)]))
}
