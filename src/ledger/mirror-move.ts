import { existsSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { rotatedFiles } from './mirror-file.ts'

/**
 * Up to 0.1.0 `audit.log_path` held the copy of the ledger. Renames it and its full files, oldest first, so that a
 * crash in between leaves a copy that ends early and is continued. False when there is nothing to move or the new
 * place is taken or on another disk: then the log of file operations sets the old files aside.
 */
export async function moveLedgerMirror(from: string, to: string): Promise<boolean> {
  if (!existsSync(dirname(from))) return false
  const full = (await rotatedFiles(from)).toReversed()
  const old = [...full, ...(existsSync(from) ? [from] : [])]
  const [first] = old
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const isTaken = existsSync(to) || (await rotatedFiles(to)).length > 0
  if (first === undefined || isTaken || !(await holdsEntries(first))) return false
  const [was, now] = [parse(from), parse(to)]
  try {
    for (const file of old) {
      const range = parse(file).name.slice(was.name.length)
      await rename(file, join(now.dir, `${now.name}${range}${now.ext}`))
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EXDEV') return false
    throw error
  }
}

/** Whether a file begins as an entry does, whose keys are sorted. */
async function holdsEntries(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(9), position: 0 })
  return buffer.toString('utf8', 0, bytesRead) === '{"actor":'
}
