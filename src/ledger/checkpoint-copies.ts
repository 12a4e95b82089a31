import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { CoworkError } from '#base/errors.ts'

const tailBytes = 8192

/**
 * Refuses a store that is shorter than a checkpoint that was signed over it: entries are gone, by a hand
 * or by a disk, and going on would sign over the gap (L7).
 */
export function refuseCut(path: string, size: number): void {
  const signed = newestSize(path)
  if (signed <= size) return
  throw new CoworkError(
    'ledger_cut',
    `The store has ${size} entries, but a checkpoint in ${path} was signed over ${signed}: entries are missing.`,
    {
      hint: 'Restore the newest backup with `cowork restore`. If the store is an older one on purpose, move that file aside.',
    },
  )
}

/** From the end of the file: it grows for as long as the ledger does. */
function newestSize(path: string): number {
  if (!existsSync(path)) return 0
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const tail = Buffer.alloc(Math.min(size, tailBytes))
    readSync(file, tail, 0, tail.length, size - tail.length)
    // What a crash left of the last line is no checkpoint, and the one before it is.
    const lines = tail.toString('utf8').split('\n').slice(0, -1).toReversed()
    return lines.map(sizeOf).find((found) => found > 0) ?? 0
  } finally {
    closeSync(file)
  }
}

function sizeOf(line: string): number {
  try {
    return Number((JSON.parse(line) as { size?: unknown }).size) || 0
  } catch {
    return 0
  }
}
