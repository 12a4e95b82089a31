import { createRequire } from 'node:module'
import type * as Koffi from 'koffi'

type Renameat2 = (fromDir: number, from: string, toDir: number, to: string, flags: number) => number

const currentFolder = -100
const exchange = 2
let renameat2: Renameat2 | undefined | false

/**
 * Swaps two files in one step, so that whatever stood at a name is in hand afterwards and nothing that
 * came in between is written over. Node has no such call; where the system or the library that reaches it
 * has none either, nothing happens and it says so.
 */
export function swapFiles(a: string, b: string): boolean {
  renameat2 ??= load()
  return renameat2 !== false && renameat2(currentFolder, a, currentFolder, b, exchange) === 0
}

function load(): Renameat2 | false {
  if (process.platform !== 'linux') return false
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi
    return koffi
      .load('libc.so.6')
      .func('int renameat2(int, const char *, int, const char *, unsigned int)') as Renameat2
  } catch {
    return false
  }
}
