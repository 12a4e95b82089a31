import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryVariable } from './stores.ts'

const memory = '/dev/shm'
// Containers often have only 64 MB there, which is not enough.
const enoughBytes = 2 ** 31

/** Puts all temporary folders of the run into one on disk and one in memory, and removes both at the end. */
export function setup(): () => void {
  const before = process.env.TMPDIR
  const folder = newFolder(tmpdir())
  process.env.TMPDIR = folder
  process.env[memoryVariable] = hasMemory() ? newFolder(memory) : folder
  return () => {
    for (const path of new Set([folder, process.env[memoryVariable]]))
      if (path !== undefined) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    delete process.env[memoryVariable]
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'cowork-tests-'))
  // As root, PostgreSQL runs as another user, who needs access.
  chmodSync(folder, 0o711)
  return folder
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= enoughBytes
  } catch {
    return false
  }
}
