import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A named pipe for one test, open for both ways, so that opening it waits for nobody. */
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

/** What a process has open, as the kernel names it; each as often as it is open. */
export function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // Closed since it was listed, as the one that lists them is.
      return []
    }
  })
}
