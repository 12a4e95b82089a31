import type { Usage } from './file.ts'
import { joined } from './paths.ts'

/** One box of the treemap: a folder, or the files that lie in none of them. */
export type Part = {
  readonly name: string
  readonly path: string | undefined
  readonly bytes: number
  readonly files: number
}

/** Without what cowork keeps there itself. */
type Whole = { readonly parts: Part[]; readonly bytes: number; readonly files: number }

/** More than one tells apart; the rest is one part. */
const most = 40

/** What lies directly in a folder, the largest first: its folders, and its own files together. */
export function partsOf(usage: Usage, folder: string): Whole {
  const isOwn = ({ path }: { path: string }) => folder === '' && path === '.cowork'
  const direct = usage.folders.filter(({ path }) => !path.includes('/'))
  const own = direct.find(isOwn) ?? empty
  const bytes = usage.total_bytes - own.bytes
  const files = usage.total_files - own.files
  const inside = direct
    .filter((one) => one.files > 0 && !isOwn(one))
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ path, ...size }) => ({ name: path, path: joined(folder, path), ...size }))
  const shown: Part[] = inside.slice(0, most)
  const others = inside.slice(most)
  if (others.length > 0) shown.push({ name: 'Smaller folders', path: undefined, ...sumOf(others) })
  const folders = sumOf(inside)
  const loose = { bytes: bytes - folders.bytes, files: files - folders.files }
  if (loose.files > 0) shown.push({ name: 'Files here', path: undefined, ...loose })
  return { parts: shown.toSorted((a, b) => b.bytes - a.bytes), bytes, files }
}

const empty = { bytes: 0, files: 0 }

const sumOf = (parts: readonly { bytes: number; files: number }[]) =>
  parts.reduce(
    (sum, part) => ({ bytes: sum.bytes + part.bytes, files: sum.files + part.files }),
    empty,
  )
