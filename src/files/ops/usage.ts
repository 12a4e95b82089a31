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

/** More folders cannot be distinguished on a map. */
const maxFolders = 1000
/** Smaller files are not visible on a map. */
const maxFiles = 200

export const usage: RunOp<'usage'> = async (
  context,
  { at, depth, alwaysInclude = [] },
  _body,
  cancelled,
) => {
  const confined = getRoot(context, at)
  const total: Sum = { files: 0, bytes: 0 }
  const byFolder = new Map<string, Sum>()
  let largestFiles: Sized[] = []
  let top: string | undefined
  for (const folder of walkFolders(confined, at.path)) {
    top ??= folder.real
    const names = splitBelow(folder.real, top)
    const files = readSizes(confined, folder)
    const sum = { files: files.length, bytes: files.reduce((all, { bytes }) => all + bytes, 0) }
    add(total, sum)
    if (names.length < depth) largestFiles = mergeLargest(largestFiles, names.join('/'), files)
    for (const path of listAncestors(names, depth)) {
      const folderSum = byFolder.get(path) ?? { files: 0, bytes: 0 }
      add(folderSum, sum)
      byFolder.set(path, folderSum)
    }
    await yieldOrCancel(context, cancelled)
  }
  const folders = [...byFolder].map(([path, sum]) => ({ path, ...sum }))
  const largest = folders
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ path }, index) => index < maxFolders || alwaysInclude.includes(path))
  return { ...total, folders: largest, largest: largestFiles }
}

/** Counts regular files only. */
function readSizes(confined: ConfinedRoot, { fd, files, invalidNames }: Folder): Sized[] {
  if (files.length === 0) return []
  const sizes = withWorkingDirectory(confined, fd, (path) =>
    files.flatMap((name) => (hasReplacementCharacter(name) ? [] : readSize(name, path(name)))),
  )
  return sizes.concat(
    invalidNames.flatMap((bytes) => {
      const name = bytes.toString('utf8')
      return readSize(name, toEntryPath(confined, fd, { name, bytes }))
    }),
  )
}

function readSize(name: string, path: string | Buffer): Sized[] {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat ? [{ path: name, bytes: stat.size }] : []
}

function mergeLargest(largest: readonly Sized[], folder: string, files: readonly Sized[]): Sized[] {
  const minBytes = largest.length < maxFiles ? 0 : (largest.at(-1)?.bytes ?? 0)
  const larger = files.filter(({ bytes }) => bytes > minBytes)
  if (larger.length === 0) return [...largest]
  return [...largest, ...larger.map(({ path, bytes }) => ({ path: joinPath(folder, path), bytes }))]
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, maxFiles)
}

function add(sum: Sum, added: Sum): void {
  sum.files += added.files
  sum.bytes += added.bytes
}

function splitBelow(real: string, top: string): string[] {
  const path = real.slice(top === '' ? 0 : top.length + 1)
  return path === '' ? [] : path.split('/')
}

const listAncestors = (names: readonly string[], depth: number): string[] =>
  names.slice(0, depth).map((_, index) => names.slice(0, index + 1).join('/'))
