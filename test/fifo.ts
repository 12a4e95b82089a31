import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a named pipe for one test, open for reading and writing, so that opening it does not block. */
export function openFifo() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-fifo-'))
  const path = join(folder, 'fifo')
  execFileSync('mkfifo', [path])
  const descriptor = openSync(path, 'r+')
  onTestFinished(() => {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  })
  return { path, descriptor }
}

/** Lists the open files of a process as the kernel names them, one item per descriptor. */
export function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // Closed since readdir, like the descriptor of readdir itself.
      return []
    }
  })
}
