import type { Usage } from './file.ts'
import { joinPath, baseName } from './path.ts'
import { pluralize } from './byte-size.ts'

/** One box of the treemap: a folder with its contents, a file, or the rest of a folder. */
export type UsageNode = {
  readonly kind: 'folder' | 'file' | 'rest'
  readonly name: string
  /** For the rest, the path of its folder. */
  readonly path: string
  readonly bytes: number
  readonly files: number
  readonly parts: readonly UsageNode[]
}

type Sum = { readonly bytes: number; readonly files: number }
/** The totals of a folder, without cowork's own files. */
type UsageTree = Sum & { readonly parts: readonly UsageNode[] }

/** Further nodes are merged into the rest, and so are files below the minimum share. */
const maxNodes = 40
const minShare = 1 / 1000

/** Builds two levels of nodes, the largest first. The sizes add up to the total. */
export function buildUsageTree(usage: Omit<Usage, 'path'>, folder: string): UsageTree {
  const isInternal = (path: string) =>
    folder === '' && (path === '.cowork' || path.startsWith('.cowork/'))
  const folders = usage.folders.filter(({ path, files }) => files > 0 && !isInternal(path))
  const named = usage.largest_files.filter(({ path }) => !isInternal(path))
  const internal =
    usage.folders.find(({ path }) => path === '.cowork' && isInternal(path)) ?? emptySum
  const total = {
    bytes: usage.total_bytes - internal.bytes,
    files: usage.total_files - internal.files,
  }

  const buildParts = (at: string, sum: Sum): readonly UsageNode[] => {
    const isHere = ({ path }: { readonly path: string }) => getParent(path) === at
    const inside = [
      ...folders.filter(isHere).map((one): UsageNode => {
        const parts = at === '' ? buildParts(one.path, one) : []
        return { ...one, ...toNames(one.path), kind: 'folder', parts }
      }),
      ...named.filter(isHere).map((one): UsageNode => {
        return { ...one, ...toNames(one.path), kind: 'file', files: 1, parts: [] }
      }),
    ]
    const isShown = ({ kind, bytes }: UsageNode, place: number) =>
      place < maxNodes && (kind === 'folder' || bytes >= sum.bytes * minShare)
    return collapseSmall(inside, isShown, sum, joinPath(folder, at))
  }
  const toNames = (path: string) => ({ name: baseName(path), path: joinPath(folder, path) })
  return { ...total, parts: buildParts('', total) }
}

/** Merges all nodes that are not shown into one. */
export function collapseSmall(
  parts: readonly UsageNode[],
  isShown: (part: UsageNode, place: number) => boolean,
  total: Sum,
  path: string,
): readonly UsageNode[] {
  const shown = parts
    .filter(({ kind }) => kind !== 'rest')
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(isShown)
  const sum = sumUsage(shown)
  const rest = { bytes: total.bytes - sum.bytes, files: total.files - sum.files }
  if (rest.files <= 0) return shown
  const name =
    shown.length === 0
      ? pluralize(rest.files, 'file', 'files')
      : `and ${pluralize(rest.files, 'other file', 'other files')}`
  return [...shown, { kind: 'rest', name, path, ...rest, parts: [] }]
}

const emptySum: Sum = { bytes: 0, files: 0 }

export const sumUsage = (parts: readonly Sum[]): Sum =>
  parts.reduce(
    (sum, part) => ({ bytes: sum.bytes + part.bytes, files: sum.files + part.files }),
    emptySum,
  )

const getParent = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
