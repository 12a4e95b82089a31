import { createRequire } from 'node:module'
import type * as Koffi from 'koffi'

type Renameat2 = (fromDir: number, from: string, toDir: number, to: string, flags: number) => number

const currentFolder = -100
const exchange = 2
let renameat2: Renameat2 | undefined | false

/**
 * Swaps two files atomically (renameat2), so that a replaced file is never lost and a concurrent write is never
 * overwritten. Node has no such call. Returns false if the system or the native library does not support it.
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
