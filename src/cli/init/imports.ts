import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Document, YAMLMap } from 'yaml'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Folders } from '#base/config/env.ts'
import { isReference } from '#base/config/field-types.ts'
import { mapMarked } from '#base/config/schema-lookup.ts'
import type { ConfigPath } from '#base/config/schema-lookup.ts'

/** Files that the seeds' programs were set up by (SV5), in the order in which they win. */
const names = ['cowork.config.yaml', 'fileops-mcp.yaml', 'grants-config.yaml'] as const

export type Import = { readonly file: string; readonly text: string }

/** What came from where, and what did not because something else was there. */
export type MergeResult = {
  readonly text: string
  readonly taken: readonly { readonly setting: string; readonly file: string }[]
  readonly kept: readonly { readonly setting: string; readonly file: string }[]
  /** Values that were replaced, because the daemon would refuse to start with them. */
  readonly adapted: readonly Adapted[]
}

type Adapted = {
  readonly setting: string
  readonly file: string
  readonly from: string
  readonly to: string
}

export const findImportableFiles = ({ cwd, home }: Folders): string[] => [
  ...new Set(
    names.flatMap((name) => [join(cwd, name), join(home, name)]).filter((file) => existsSync(file)),
  ),
]

/** Adds the sections of other files to a configuration. What it says already stays as it is. */
export function mergeImports(existing: string, imports: readonly Import[]): MergeResult {
  const target = parseDocument(existing)
  const root = rootOf(target)
  const taken: { setting: string; file: string }[] = []
  const kept: { setting: string; file: string }[] = []
  const adapted: Adapted[] = []
  for (const { file, text } of imports) {
    const source = parseDocument(text)
    for (const { path, value } of relativePaths(source.toJS(), dirname(file)))
      source.setIn(path, value)
    const host = openHost(source)
    if (host !== undefined) {
      source.setIn(['server', 'host'], 'localhost')
      adapted.push({ setting: 'server.host', file, from: host, to: 'localhost' })
    }
    // What is written above the first section belongs to it, not to the file that it moves to.
    const first = rootOf(source).items[0]?.key
    if (isScalar(first))
      first.commentBefore ??= source.commentBefore ?? rootOf(source).commentBefore ?? null
    const visit = (into: YAMLMap, from: YAMLMap, at: readonly string[]) => {
      for (const pair of from.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
        const setting = [...at, key].join('.')
        const there = into.get(key, true)
        const plain = source.getIn([...at, key])
        if (pair.value === null || (isScalar(pair.value) && pair.value.value === null)) continue
        if (there === undefined || (isScalar(there) && there.value === null)) {
          into.set(key, undefined)
          into.items[into.items.findIndex((one) => isKey(one.key, key))] = pair
          if (at.length === 0) taken.push({ setting, file })
        } else if (isMap(there) && isMap(pair.value)) {
          visit(there, pair.value, [...at, key])
          if (at.length === 0) taken.push({ setting, file })
        } else if (isSeq(there) && isSeq(pair.value)) {
          const more = pair.value.items.filter((item) => !isThere(there.items, item))
          there.items.push(...more)
          if (more.length < pair.value.items.length) kept.push({ setting, file })
          if (at.length === 0) taken.push({ setting, file })
        } else if (!isDeepStrictEqual(jsOf(there), plain)) kept.push({ setting, file })
      }
    }
    visit(root, asEntries(rootOf(source), root), [])
  }
  return { text: target.toString({ lineWidth: 0 }), taken, kept, adapted }
}

/** All addresses, for which the daemon needs TLS or `insecure_bind` (SV20); the seed's own server had neither. */
function openHost(source: Document.Parsed): string | undefined {
  const [host, tls, insecure] = ['host', 'tls', 'insecure_bind'].map((key) =>
    source.getIn(['server', key]),
  )
  const isOpen = typeof host === 'string' && ['0.0.0.0', '::', '[::]'].includes(host)
  return isOpen && tls === undefined && insecure !== true ? host : undefined
}

export function redactSecrets(text: string): string {
  const found = new Set<string>()
  mapMarked('x-secret', parseDocument(text).toJS() as unknown, (value) => {
    if (!isReference(value)) found.add(value)
    return value
  })
  return [...found].reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}

function rootOf(document: Document.Parsed | Document): YAMLMap {
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never
  return document.contents
}

/** `grants` may be a list or an object (seed 004): where both occur, the list becomes the object's entries. */
function asEntries(from: YAMLMap, into: YAMLMap): YAMLMap {
  const [theirs, ours] = [from.get('grants', true), into.get('grants', true)]
  if (isSeq(theirs) && isMap(ours)) from.set('grants', mapWith('entries', theirs))
  if (isMap(theirs) && isSeq(ours)) into.set('grants', mapWith('entries', ours))
  return from
}

function mapWith(key: string, value: unknown): YAMLMap {
  const document = parseDocument('{}')
  const map = rootOf(document)
  map.flow = false
  map.set(key, value)
  return map
}

const isKey = (node: unknown, key: string) => (isScalar(node) ? node.value : node) === key

const jsOf = (node: unknown): unknown =>
  isMap(node) || isSeq(node) || isScalar(node) ? node.toJSON() : node

/** The same item, or another one of the same id: two would be refused. */
function isThere(items: readonly unknown[], item: unknown): boolean {
  const wanted = jsOf(item)
  return items.map(jsOf).some((one) => isDeepStrictEqual(one, wanted) || sameId(one, wanted))
}

function sameId(one: unknown, other: unknown): boolean {
  const keyOf = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return undefined
    const { id, agent_id, domain, path } = value as Record<string, unknown>
    return id ?? (agent_id === undefined ? path : JSON.stringify([agent_id, domain]))
  }
  const key = keyOf(one)
  return key !== undefined && key === keyOf(other)
}

/** A relative path counted from the file it stood in, and would mean another place now. */
function relativePaths(value: unknown, folder: string): { path: ConfigPath; value: string }[] {
  const found: { path: ConfigPath; value: string }[] = []
  const isRelative = (path: string) => !isAbsolute(path) && !path.startsWith('~')
  mapMarked('x-path', value, (text, path) => {
    if (isRelative(text)) found.push({ path, value: resolve(folder, text) })
    return text
  })
  mapMarked('x-secret', value, (text, path) => {
    if (text.startsWith('file:') && isRelative(text.slice(5)))
      found.push({ path, value: `file:${resolve(folder, text.slice(5))}` })
    return text
  })
  return found
}
