import type { Usage } from './file.ts'
import { joinPath, baseName } from './path.ts'
import { pluralize } from './byte-size.ts'

/** One box of the map: a folder with what is in it, a file, or what is too small for a box of its own. */
export type UsageNode = {
  readonly kind: 'folder' | 'file' | 'rest'
  readonly name: string
  /** Of a rest: the folder that it lies in. */
  readonly path: string
  readonly bytes: number
  readonly files: number
  readonly parts: readonly UsageNode[]
}

type Sum = { readonly bytes: number; readonly files: number }
/** Without what cowork keeps there itself. */
type Whole = Sum & { readonly parts: readonly UsageNode[] }

/** More than one tells apart; the others are one part, and so are files of less than this part of the whole. */
const most = 40
const leastShare = 1 / 1000

/** What lies in a folder, the largest first, and what lies in its folders. Nothing is left out. */
export function buildUsageTree(usage: Omit<Usage, 'path'>, folder: string): Whole {
  const isOwn = (path: string) =>
    folder === '' && (path === '.cowork' || path.startsWith('.cowork/'))
  const folders = usage.folders.filter(({ path, files }) => files > 0 && !isOwn(path))
  const named = usage.largest_files.filter(({ path }) => !isOwn(path))
  const own = usage.folders.find(({ path }) => path === '.cowork' && isOwn(path)) ?? nothing
  const whole = { bytes: usage.total_bytes - own.bytes, files: usage.total_files - own.files }

  const partsIn = (at: string, sum: Sum): readonly UsageNode[] => {
    const isHere = ({ path }: { readonly path: string }) => above(path) === at
    const inside = [
      ...folders.filter(isHere).map((one): UsageNode => {
        const parts = at === '' ? partsIn(one.path, one) : []
        return { ...one, ...namesOf(one.path), kind: 'folder', parts }
      }),
      ...named.filter(isHere).map((one): UsageNode => {
        return { ...one, ...namesOf(one.path), kind: 'file', files: 1, parts: [] }
      }),
    ]
    const isShown = ({ kind, bytes }: UsageNode, place: number) =>
      place < most && (kind === 'folder' || bytes >= sum.bytes * leastShare)
    return collapseSmall(inside, isShown, sum, joinPath(folder, at))
  }
  const namesOf = (path: string) => ({ name: baseName(path), path: joinPath(folder, path) })
  return { ...whole, parts: partsIn('', whole) }
}

/** The same with those in one part that are not to be told apart. */
export function collapseSmall(
  parts: readonly UsageNode[],
  isShown: (part: UsageNode, place: number) => boolean,
  whole: Sum,
  path: string,
): readonly UsageNode[] {
  const shown = parts
    .filter(({ kind }) => kind !== 'rest')
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(isShown)
  const sum = sumUsage(shown)
  const rest = { bytes: whole.bytes - sum.bytes, files: whole.files - sum.files }
  if (rest.files <= 0) return shown
  const name =
    shown.length === 0
      ? pluralize(rest.files, 'file', 'files')
      : `and ${pluralize(rest.files, 'other file', 'other files')}`
  return [...shown, { kind: 'rest', name, path, ...rest, parts: [] }]
}

const nothing: Sum = { bytes: 0, files: 0 }

export const sumUsage = (parts: readonly Sum[]): Sum =>
  parts.reduce(
    (sum, part) => ({ bytes: sum.bytes + part.bytes, files: sum.files + part.files }),
    nothing,
  )

const above = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
