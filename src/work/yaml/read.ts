import { isUtf8 } from 'node:buffer'
import { constructFromEvents, load, YAMLException } from 'js-yaml'
import type { WorkIndex } from '../model.ts'
import { isEqualValue, canonicalKey } from '../merge/lists.ts'
import { isAlias, indexNodes } from './nodes.ts'
import type { Nodes } from './nodes.ts'
import { workIndexSchema } from './schema.ts'

/** A problem in a file; line and column start at 1. */
export type Problem = { readonly line: number; readonly column: number; readonly message: string }
export type ParseResult =
  | { readonly ok: true; readonly index: WorkIndex }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Parsing a larger file would block all calls. */
const maxLength = 64_000_000

/** Parses and validates a work-index.yaml; reports problems with their position (W6). */
export function parseIndex(given: string): ParseResult {
  const text = given.startsWith('\ufeff') ? given.slice(1) : given
  const fail = (message: string, at = 0): ParseResult => ({
    ok: false,
    problems: [{ ...toLineColumn(text, at), message }],
  })
  if (text.length > maxLength) return fail('The file is larger than 64 MB.')
  let nodes: Nodes
  let value: unknown
  try {
    nodes = indexNodes(text)
    const documents = constructFromEvents(nodes.events, { source: text, maxAliases: 1000 })
    if (documents.length > 1) return fail('The file has more than one YAML document.')
    value = documents[0] ?? {}
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return fail(error.reason, error.mark?.position ?? 0)
  }
  const parsed = workIndexSchema.safeParse(value)
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({
      ...toLineColumn(text, findOffset(nodes, path)),
      message: `${path.join('.')}: ${message}`,
    }))
    return { ok: false, problems }
  }
  const index = toIndex(value as Record<string, unknown>)
  const duplicateId = findDuplicate(index)
  return duplicateId
    ? fail(`Duplicate id: ${duplicateId.id}.`, findOffset(nodes, duplicateId.path))
    : { ok: true, index }
}

/** Parses the bytes of a file. Rejects invalid UTF-8, which the next write would lose. */
export function parseIndexBytes(bytes: Buffer, text = bytes.toString('utf8')): ParseResult {
  if (isUtf8(bytes)) return parseIndex(text)
  const place = toLineColumn(text, findInvalidByte(bytes, text))
  return { ok: false, problems: [{ ...place, message: 'Not valid UTF-8.' }] }
}

/** Finds the first replacement character that is not in the bytes themselves. */
function findInvalidByte(bytes: Buffer, text: string): number {
  const mark = '\ufffd'
  const isWritten = (at: number) => {
    const place = Buffer.byteLength(text.slice(0, at))
    return bytes.subarray(place, place + 3).equals(Buffer.from(mark))
  }
  let at = text.indexOf(mark)
  while (at !== -1 && isWritten(at)) at = text.indexOf(mark, at + 1)
  return Math.max(at, 0)
}

/** Builds the index; missing and empty lists become empty arrays. */
function toIndex(value: Record<string, unknown>): WorkIndex {
  const list = (name: string) => (value[name] ?? []) as never
  return {
    version: typeof value['version'] === 'number' ? value['version'] : 1,
    ...(typeof value['next_story'] === 'number' && { next_story: value['next_story'] }),
    sprints: list('sprints'),
    backlog: list('backlog'),
    history: list('history'),
    conflicts: list('conflicts'),
  }
}

type Path = readonly PropertyKey[]

function findDuplicate(index: WorkIndex): { id: string; path: Path } | undefined {
  const first = (items: readonly { id: string }[], base: Path, seen = new Set<string>()) => {
    for (const [at, { id }] of items.entries()) {
      if (seen.has(id)) return { id, path: [...base, at] }
      seen.add(id)
    }
    return undefined
  }
  const stories = new Set<string>()
  return (
    first(index.sprints, ['sprints']) ??
    first(index.backlog, ['backlog']) ??
    index.sprints
      .map(({ stories: list }, at) => first(list ?? [], ['sprints', at, 'stories'], stories))
      .find((found) => found !== undefined)
  )
}

/** Finds the offset of a path of keys and indexes, as far as the path exists. */
function findOffset(nodes: Nodes, path: Path): number {
  let node = nodes.root
  let at = Math.max(nodes.startOf(node), 0)
  for (const step of path) {
    if (typeof step === 'number') {
      node = nodes.isSequence(node) ? (nodes.children(node)[step] ?? -1) : -1
    } else {
      const pair = nodes.isMap(node)
        ? nodes.pairs(node)?.find(({ key }) => key === step)
        : undefined
      if (pair) at = pair.keyStart
      node = pair?.value ?? -1
    }
    if (node < 0) return at
    const start = nodes.startOf(node)
    if (start >= 0) at = start
  }
  return at
}

export function toLineColumn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return { line, column: at - (before.lastIndexOf('\n') + 1) + 1 }
}

type Row = Readonly<Record<string, unknown>>
type Rows = readonly Row[] | null | undefined

export function textMatches(text: string, wanted: WorkIndex): boolean {
  const read = parseIndex(text)
  return read.ok && isEqualIndex(read.index, wanted)
}

/** Whether two indexes are equal. The order of items is up to people and does not count. */
export const isEqualIndex = (one: WorkIndex, other: WorkIndex): boolean =>
  one.version === other.version &&
  (other.next_story === undefined || one.next_story === other.next_story) &&
  areSame(one.sprints, other.sprints) &&
  areSame(one.backlog, other.backlog) &&
  areSame(one.conflicts, other.conflicts) &&
  isEqualValue(one.history.map(canonicalKey).toSorted(), other.history.map(canonicalKey).toSorted())

/**
 * Whether the lines of an item parse to this value. Lines with an alias only parse within the full
 * text, which is checked separately.
 */
export function itemTextMatches(lines: string, wanted: Row): boolean {
  try {
    const read = load(lines)
    return Array.isArray(read) && read.length === 1 && isSameItem(read[0] as Row, wanted)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return hasAlias(lines)
  }
}

function hasAlias(lines: string): boolean {
  try {
    return indexNodes(lines).events.some(isAlias)
  } catch {
    return false
  }
}

function isSameItem(one: Row | null, other: Row): boolean {
  if (one === null || typeof one !== 'object') return false
  const { stories, ...own } = one
  const { stories: others, ...wanted } = other
  return isEqualValue(own, wanted) && areSame(stories as Rows, others as Rows)
}

function areSame(some: Rows, others: Rows): boolean {
  const [list, wanted] = [some ?? [], others ?? []]
  if (list.length !== wanted.length) return false
  const byId = new Map(list.map((row) => [row['id'], row]))
  return wanted.every((row) => isSameItem(byId.get(row['id']) ?? null, row))
}
