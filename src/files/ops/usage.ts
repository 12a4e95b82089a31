import fs from 'node:fs'
import type { RunOp } from '../worker/context.ts'
import { pause, rootOf } from './disk.ts'
import { inside } from './folders.ts'
import { foldersBelow } from './tree.ts'
import type { Folder } from './tree.ts'

type Sum = { files: number; bytes: number }

/** As many as a person can make out. */
const mostFolders = 1000

export const usage: RunOp<'usage'> = async (
  context,
  { at, depth, always = [] },
  _body,
  cancelled,
) => {
  const confined = rootOf(context, at)
  const whole: Sum = { files: 0, bytes: 0 }
  const byFolder = new Map<string, Sum>()
  let top: string | undefined
  for (const folder of foldersBelow(confined, at.path)) {
    top ??= folder.real
    const sum = inside(confined, folder.fd, (path) => sumOf(folder, path))
    add(whole, sum)
    for (const path of foldersOf(folder.real, top, depth)) {
      const so = byFolder.get(path) ?? { files: 0, bytes: 0 }
      add(so, sum)
      byFolder.set(path, so)
    }
    await pause(context, cancelled)
  }
  const folders = [...byFolder].map(([path, sum]) => ({ path, ...sum }))
  const largest = folders
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ path }, place) => place < mostFolders || always.includes(path))
  return { ...whole, folders: largest }
}

/** Links and whatever is no file count for nothing. */
function sumOf({ files }: Folder, path: (name: string) => string): Sum {
  const sum: Sum = { files: 0, bytes: 0 }
  for (const name of files) {
    const stat = fs.lstatSync(path(name), { throwIfNoEntry: false })
    if (stat) add(sum, { files: 1, bytes: stat.size })
  }
  return sum
}

function add(sum: Sum, more: Sum): void {
  sum.files += more.files
  sum.bytes += more.bytes
}

/** The folders, relative to the top and so far down, that a folder counts for. */
function foldersOf(real: string, top: string, depth: number): string[] {
  const names = real.slice(top === '' ? 0 : top.length + 1).split('/')
  if (names[0] === '') return []
  return names.slice(0, depth).map((_, at) => names.slice(0, at + 1).join('/'))
}
