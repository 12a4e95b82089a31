import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Document, YAMLMap } from 'yaml'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Folders } from '#base/config/env.ts'
import { isReference } from '#base/config/field-types.ts'
import { mapMarked } from '#base/config/schema-lookup.ts'
import type { ConfigPath } from '#base/config/schema-lookup.ts'

/** Configuration files of the seeds' programs (SV5), in order of precedence. */
const names = ['cowork.config.yaml', 'fileops-mcp.yaml', 'grants-config.yaml'] as const

export type Import = { readonly file: string; readonly text: string }

/** Imported settings, and those skipped because they are set already. */
export type MergeResult = {
  readonly text: string
  readonly taken: readonly { readonly setting: string; readonly file: string }[]
  readonly kept: readonly { readonly setting: string; readonly file: string }[]
  /** Values replaced because the daemon would refuse to start with them. */
  readonly adapted: readonly AdaptedSetting[]
}

type AdaptedSetting = {
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

/** Merges the sections of other files into a configuration. Existing settings are unchanged. */
export function mergeImports(existing: string, imports: readonly Import[]): MergeResult {
  const target = parseDocument(existing)
  const root = getRoot(target)
  const taken: { setting: string; file: string }[] = []
  const kept: { setting: string; file: string }[] = []
  const adapted: AdaptedSetting[] = []
  for (const { file, text } of imports) {
    const source = parseDocument(text)
    for (const { path, value } of resolveRelativePaths(source.toJS(), dirname(file)))
      source.setIn(path, value)
    const host = findOpenHost(source)
    if (host !== undefined) {
      source.setIn(['server', 'host'], 'localhost')
      adapted.push({ setting: 'server.host', file, from: host, to: 'localhost' })
    }
    // A comment above the first section belongs to the section, so it moves with it.
    const first = getRoot(source).items[0]?.key
    if (isScalar(first))
      first.commentBefore ??= source.commentBefore ?? getRoot(source).commentBefore ?? null
    const visit = (into: YAMLMap, from: YAMLMap, at: readonly string[]) => {
      for (const pair of from.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
        const setting = [...at, key].join('.')
        const existing = into.get(key, true)
        const value = source.getIn([...at, key])
        if (pair.value === null || (isScalar(pair.value) && pair.value.value === null)) continue
        if (existing === undefined || (isScalar(existing) && existing.value === null)) {
          into.set(key, undefined)
          into.items[into.items.findIndex((item) => isKey(item.key, key))] = pair
          if (at.length === 0) taken.push({ setting, file })
        } else if (isMap(existing) && isMap(pair.value)) {
          visit(existing, pair.value, [...at, key])
          if (at.length === 0) taken.push({ setting, file })
        } else if (isSeq(existing) && isSeq(pair.value)) {
          const added = pair.value.items.filter((item) => !hasItem(existing.items, item))
          existing.items.push(...added)
          if (added.length < pair.value.items.length) kept.push({ setting, file })
          if (at.length === 0) taken.push({ setting, file })
        } else if (!isDeepStrictEqual(toJs(existing), value)) kept.push({ setting, file })
      }
    }
    visit(root, unifyGrants(getRoot(source), root), [])
  }
  return { text: target.toString({ lineWidth: 0 }), taken, kept, adapted }
}

/** Returns a host that listens on all addresses without TLS or `insecure_bind`, which the daemon refuses (SV20). */
function findOpenHost(source: Document.Parsed): string | undefined {
  const [host, tls, insecure] = ['host', 'tls', 'insecure_bind'].map((key) =>
    source.getIn(['server', key]),
  )
  const isOpen = typeof host === 'string' && ['0.0.0.0', '::', '[::]'].includes(host)
  return isOpen && tls === undefined && insecure !== true ? host : undefined
}

export function redactSecrets(text: string): string {
  const secrets = new Set<string>()
  mapMarked('x-secret', parseDocument(text).toJS() as unknown, (value) => {
    if (!isReference(value)) secrets.add(value)
    return value
  })
  return [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}

function getRoot(document: Document.Parsed | Document): YAMLMap {
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never
  return document.contents
}

/** Seed 004 allows `grants` as list or object; if both occur, the list becomes the object's entries. */
function unifyGrants(from: YAMLMap, into: YAMLMap): YAMLMap {
  const [theirs, ours] = [from.get('grants', true), into.get('grants', true)]
  if (isSeq(theirs) && isMap(ours)) from.set('grants', mapWith('entries', theirs))
  if (isMap(theirs) && isSeq(ours)) into.set('grants', mapWith('entries', ours))
  return from
}

function mapWith(key: string, value: unknown): YAMLMap {
  const document = parseDocument('{}')
  const map = getRoot(document)
  map.flow = false
  map.set(key, value)
  return map
}

const isKey = (node: unknown, key: string) => (isScalar(node) ? node.value : node) === key

const toJs = (node: unknown): unknown =>
  isMap(node) || isSeq(node) || isScalar(node) ? node.toJSON() : node

/** True if the list has the item, or one with the same id: the daemon refuses duplicates. */
function hasItem(items: readonly unknown[], item: unknown): boolean {
  const target = toJs(item)
  return items
    .map(toJs)
    .some((other) => isDeepStrictEqual(other, target) || haveSameId(other, target))
}

function haveSameId(one: unknown, other: unknown): boolean {
  const toKey = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return undefined
    const { id, agent_id, domain, path } = value as Record<string, unknown>
    return id ?? (agent_id === undefined ? path : JSON.stringify([agent_id, domain]))
  }
  const key = toKey(one)
  return key !== undefined && key === toKey(other)
}

/** Makes relative paths absolute: they refer to the folder of the imported file. */
function resolveRelativePaths(
  value: unknown,
  folder: string,
): { path: ConfigPath; value: string }[] {
  const paths: { path: ConfigPath; value: string }[] = []
  const isRelative = (path: string) => !isAbsolute(path) && !path.startsWith('~')
  mapMarked('x-path', value, (text, path) => {
    if (isRelative(text)) paths.push({ path, value: resolve(folder, text) })
    return text
  })
  mapMarked('x-secret', value, (text, path) => {
    if (text.startsWith('file:') && isRelative(text.slice(5)))
      paths.push({ path, value: `file:${resolve(folder, text.slice(5))}` })
    return text
  })
  return paths
}
