import type { Reader } from '#base/db/port.ts'
import { toIndexColumns } from './model.ts'
import type { Entry } from './model.ts'
import type { EntryFilter, EntryRow, LedgerStore } from './store.ts'
import { readTouchedFiles } from './audit-entry.ts'
import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'

/** An entry with its canonical JSON, which is hashed, and its leaf hash in hex. */
export type HashedEntry = { readonly entry: Entry; readonly body: string; readonly hash: string }

export const toHashedEntry = ({ body, hash }: EntryRow): HashedEntry => ({
  entry: JSON.parse(body) as Entry,
  body,
  hash,
})

export type EntryConditions = Omit<EntryFilter, 'limit' | 'newestFirst'>

/** Applies the conditions of `find` to one entry, for the live stream. */
export function matches(
  filter: EntryConditions,
  { entry, body }: Pick<HashedEntry, 'entry' | 'body'>,
) {
  const { types, actorKind, text, subjectPrefix, pathPrefix, toolPrefix } = filter
  const columns = toIndexColumns(entry)
  const equals = (wanted: unknown, found: unknown) => wanted === undefined || wanted === found
  const hasPrefix = (prefix: string | undefined, found: string | null) =>
    prefix === undefined || (found?.startsWith(prefix) ?? false)
  return (
    entry.seq > (filter.after ?? 0) &&
    entry.seq < (filter.before ?? Infinity) &&
    entry.at >= (filter.since ?? 0) &&
    entry.at < (filter.until ?? Infinity) &&
    equals(filter.actor, columns.actor) &&
    equals(actorKind, entry.actor.kind) &&
    equals(filter.domain, columns.domain) &&
    equals(filter.call, columns.call) &&
    equals(filter.proposal, columns.proposal) &&
    hasPrefix(subjectPrefix, columns.subject) &&
    (hasPrefix(pathPrefix, columns.subject) ||
      readTouchedFiles(entry).some(({ path }) => hasPrefix(pathPrefix, path))) &&
    hasPrefix(toolPrefix, columns.tool) &&
    (types?.some((type) =>
      type.endsWith('.') ? entry.type.startsWith(type) : entry.type === type,
    ) ??
      true) &&
    (text === undefined || asciiLower(body).includes(asciiLower(text)))
  )
}

const asciiLower = (text: string) => text.replaceAll(/[A-Z]+/g, (upper) => upper.toLowerCase())

/**
 * SQLite runs on the main thread: searching a rare word in a million entries would block it for seconds. So a search
 * reads this many entries at a time and yields in between.
 */
const defaultStride = 10_000

export async function search(
  reader: Reader,
  store: LedgerStore,
  filter: EntryFilter,
  stride = defaultStride,
): Promise<HashedEntry[]> {
  const { limit, newestFirst = false, since, until, ...rest } = filter
  // No column contains NUL, and PostgreSQL rejects NUL in a parameter.
  if (
    Object.values(rest)
      .flat()
      .some((value) => String(value).includes('\u0000'))
  )
    return []
  const size = (await store.peek(reader))?.size ?? 0
  let from = Math.max(filter.after ?? 0, since === undefined ? 0 : await before(since))
  let to = Math.min(
    (filter.before ?? Infinity) - 1,
    until === undefined ? size : await before(until),
  )
  const step = isNarrow(rest) ? Infinity : stride
  const found: HashedEntry[] = []

  while (from < to && found.length < limit) {
    const [low, high] = newestFirst
      ? [Math.max(from, to - step), to]
      : [from, Math.min(to, from + step)]
    const missing = limit - found.length
    const part = { ...rest, newestFirst, after: low, before: high + 1, limit: missing }
    const rows = await store.find(reader, part)
    const last = rows.at(-1)
    found.push(...rows.map(toHashedEntry).filter((row) => matches(filter, row)))
    // A full page may not have reached all of these entries.
    const isFull = rows.length === missing && last !== undefined
    if (newestFirst) to = isFull ? last.seq - 1 : low
    else from = isFull ? last.seq : high
    if (from < to && found.length < limit) await new Promise((turn) => setImmediate(turn))
  }
  return found

  /** Returns the number of entries before this time. Entry times never decrease. */
  async function before(at: number): Promise<number> {
    let [low, high] = [0, size]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (((await store.timeOf(reader, middle + 1)) ?? Infinity) < at) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns whether an index answers the filter fast, so that one statement is enough. */
function isNarrow({ call, proposal, ...rest }: EntryConditions): boolean {
  if (call !== undefined || proposal !== undefined) return true
  const conditions = { ...rest, after: undefined, before: undefined }
  return Object.values(conditions).every((condition) => condition === undefined)
}

/** Returns whether a caller may see an entry: agents see their own entries, people see all (L10). */
export const isVisibleTo = (caller: Caller, { actor, at }: Entry): boolean =>
  caller.kind !== 'agent' || (actor.kind === 'agent' && isOwnRecord(caller, actor.id, at))

/** Builds the filter for the entries that a caller may see. It includes the kind: a person may have the id of an agent. */
export const visibilityFilter = (
  { kind, id, since: own = 0 }: Caller,
  since?: number,
): Pick<EntryConditions, 'actor' | 'actorKind' | 'since'> =>
  kind === 'agent'
    ? { actor: id, actorKind: kind, since: Math.max(own, since ?? 0) || undefined }
    : { since }
