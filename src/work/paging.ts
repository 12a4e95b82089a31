import { CoworkError } from '#base/errors.ts'
import type { Row } from './merge/flat.ts'

/** A reply has at most 25 kB (W23), including some overhead. */
const most = 22_000
/** Fields up to this size are in every part of an item; longer fields continue in the next part. */
const short = 500
/** So many characters fit next to the short fields of an item, even if JSON escapes all of them. */
const pieceLength = 2400

export type Paging = { readonly cursor?: string | undefined; readonly limit?: number | undefined }
type Next = { readonly next_cursor?: string }

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '') + 1

/** Returns the entries after the cursor that fit, and the next cursor. */
export function paginate<T>(
  list: readonly (T | (() => T))[],
  { cursor, limit = 200 }: Paging,
  bytes = most,
): { readonly page: T[] } & Next {
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isSafeInteger(from) || from < 0)
    throw new CoworkError('invalid_input', 'Invalid cursor.', {
      hint: 'Pass next_cursor unchanged, or omit cursor to start from the beginning.',
    })
  const page: T[] = []
  let size = 0
  for (const given of list.slice(from, from + limit)) {
    const one = typeof given === 'function' ? (given as () => T)() : given
    size += sizeOf(one)
    if (size > bytes && page.length > 0) break
    page.push(size > bytes ? fitted(one, bytes) : one)
  }
  const next = from + page.length
  return { page, ...(next < list.length && { next_cursor: String(next) }) }
}

type Piece = { readonly field: string; readonly part: string | readonly unknown[] }

/**
 * Returns one item with as much of its long texts and lists as fits after the cursor; the next part
 * continues there. List entries can be functions, which are called only for returned entries.
 */
export function paginateItem(item: Row, paging: Paging): { readonly part: Row } & Next {
  const isWhole = new Set<string>()
  let size = 0
  for (const [field, value] of Object.entries(item)) {
    const own = isLong(value) ? short + 1 : sizeOf(value)
    if (own > short || size + own > most / 3) continue
    size += own
    isWhole.add(field)
  }
  const pieces = Object.entries(item)
    .filter(([field]) => !isWhole.has(field))
    .flatMap(([field, value]) => piecesOf(field, value))
  const { page, ...next } = paginate(pieces, paging, most - size)
  const joined = new Map<string, string | unknown[]>()
  for (const { field, part } of page) {
    const before = joined.get(field)
    if (typeof part === 'string') joined.set(field, `${(before as string) ?? ''}${part}`)
    else joined.set(field, [...((before as unknown[]) ?? []), ...part])
  }
  const shown = Object.keys(item)
    .filter((field) => isWhole.has(field) || joined.has(field))
    .map((field) => [field, joined.get(field) ?? item[field]] as const)
  return { part: Object.fromEntries(shown), ...next }
}

/** Avoids serializing a long value. */
const isLong = (value: unknown): boolean => {
  if (typeof value === 'string') return value.length > short
  return Array.isArray(value) && (value.length > 20 || typeof value[0] === 'function')
}

function piecesOf(field: string, value: unknown): (Piece | (() => Piece))[] {
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
  text.match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? ['']

/** Truncates texts and lists of a value larger than a reply until it fits. */
function fitted<T>(value: T, bytes: number): T {
  let one = value
  for (let longest = 4096; longest >= 1 && sizeOf(one) > bytes; longest /= 2)
    one = cut(value, longest) as T
  return one
}

function cut(value: unknown, longest: number): unknown {
  if (typeof value === 'string')
    return value.length > longest ? `${value.slice(0, longest)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, longest).map((one) => cut(one, longest))
  const entries = Object.entries(value).slice(0, longest)
  return Object.fromEntries(entries.map(([key, one]) => [key, cut(one, longest)]))
}
