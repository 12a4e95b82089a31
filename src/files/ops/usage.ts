import fs from 'node:fs'
import { hasReplacementCharacter } from '../confine/names.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import type { RunOp } from '../worker/context.ts'
import { yieldOrCancel, getRoot } from './io.ts'
import { joinPath, withWorkingDirectory, toEntryPath } from './folders.ts'
import { walkFolders } from './tree.ts'
import type { Folder } from './tree.ts'

type Sum = { files: number; bytes: number }
type Sized = { path: string; bytes: number }

/** As many as a person can make out. */
const mostFolders = 1000
/** Whatever is smaller than so many others is a speck on a map. */
const mostFiles = 200

export const usage: RunOp<'usage'> = async (
  context,
  { at, depth, alwaysInclude = [] },
  _body,
  cancelled,
) => {
  const confined = getRoot(context, at)
  const whole: Sum = { files: 0, bytes: 0 }
  const byFolder = new Map<string, Sum>()
  let named: Sized[] = []
  let top: string | undefined
  for (const folder of walkFolders(confined, at.path)) {
    top ??= folder.real
    const names = namesBelow(folder.real, top)
    const files = sizesOf(confined, folder)
    const sum = { files: files.length, bytes: files.reduce((all, { bytes }) => all + bytes, 0) }
    add(whole, sum)
    if (names.length < depth) named = largestOf(named, names.join('/'), files)
    for (const path of foldersOf(names, depth)) {
      const so = byFolder.get(path) ?? { files: 0, bytes: 0 }
      add(so, sum)
      byFolder.set(path, so)
    }
    await yieldOrCancel(context, cancelled)
  }
  const folders = [...byFolder].map(([path, sum]) => ({ path, ...sum }))
  const largest = folders
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ path }, place) => place < mostFolders || alwaysInclude.includes(path))
  return { ...whole, folders: largest, largest: named }
}

/** Links and whatever is no file count for nothing. */
function sizesOf(confined: ConfinedRoot, { fd, files, odd }: Folder): Sized[] {
  if (files.length === 0) return []
  const named = withWorkingDirectory(confined, fd, (path) =>
    files.flatMap((name) => (hasReplacementCharacter(name) ? [] : sizeAt(name, path(name)))),
  )
  return named.concat(
    odd.flatMap((bytes) => {
      const name = bytes.toString('utf8')
      return sizeAt(name, toEntryPath(confined, fd, { name, bytes }))
    }),
  )
}

function sizeAt(name: string, path: string | Buffer): Sized[] {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat ? [{ path: name, bytes: stat.size }] : []
}

function largestOf(so: readonly Sized[], folder: string, files: readonly Sized[]): Sized[] {
  const least = so.length < mostFiles ? 0 : (so.at(-1)?.bytes ?? 0)
  const more = files.filter(({ bytes }) => bytes > least)
  if (more.length === 0) return [...so]
  return [...so, ...more.map(({ path, bytes }) => ({ path: joinPath(folder, path), bytes }))]
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, mostFiles)
}

function add(sum: Sum, more: Sum): void {
  sum.files += more.files
  sum.bytes += more.bytes
}

function namesBelow(real: string, top: string): string[] {
  const path = real.slice(top === '' ? 0 : top.length + 1)
  return path === '' ? [] : path.split('/')
}

const foldersOf = (names: readonly string[], depth: number): string[] =>
  names.slice(0, depth).map((_, at) => names.slice(0, at + 1).join('/'))
