// N32: an attacker swaps a folder or a file for a link that leads out while the worker reads and writes there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CoworkError } from '../../src/base/errors.ts'
import { silentLog } from '../../src/base/log.ts'
import { createFileWorker } from '../../src/files/worker-client.ts'
import type { Containment } from '../../src/files/model.ts'
import { fill, pinnedRoot, testFolders } from '../roots.ts'

export const swaps = ['parent', 'leaf', 'link'] as const
export type Swap = (typeof swaps)[number]

export type RaceOptions = {
  readonly swap: Swap
  readonly reads: number
  readonly writes: number
  readonly landlock: boolean
}

/** Completed calls, and calls refused because of a link or a missing name. */
type Count = { readonly done: number; readonly refused: number }

export type RaceResult = {
  readonly containment: Containment | 'starting'
  readonly reads: Count
  readonly writes: Count
  /** Files read or changed outside of the root. */
  readonly escapes: number
}

const outsideContent = 'OUTSIDE'

/** tmpfs if available: on a disk, each fsync would wait for all writes of the attacker. */
const testParent = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Starts the attacker on its own folder. */
async function startAttacker(swap: Swap) {
  const folders = testFolders(testParent)
  const { granted, outside } = folders
  fill(outside, { 'file.txt': outsideContent })
  fill(granted, { 'dir/file.txt': 'inside', 'real.txt': 'inside', 'file.txt': 'inside' })
  fs.symlinkSync(outside, join(granted, 'dir-link'))
  const attacker = spawn(
    process.execPath,
    [join(import.meta.dirname, 'attacker.ts'), swap, granted, outside],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(attacker, 'exit')
  await once(attacker.stdout, 'data')
  return {
    folders,
    path: swap === 'parent' ? 'dir/file.txt' : 'file.txt',
    async stop() {
      if (attacker.exitCode !== null) throw new Error('the attacker ended before the race did')
      attacker.kill('SIGKILL')
      await ended
    },
  }
}

/** Counts the outcomes of reads and writes under attack, through the real worker. */
export async function race({ swap, reads, writes, landlock }: RaceOptions): Promise<RaceResult> {
  const { folders, path, stop } = await startAttacker(swap)
  // The attacker creates a second hard link of the file.
  const root = pinnedRoot('grant_1', folders.granted, { hardLinks: true })
  const roots = [...folders.setup.roots.filter(({ key }) => key !== root.key), root]
  const worker = createFileWorker({ setup: { ...folders.setup, roots }, log: silentLog, landlock })
  const at = { root: root.key, path }
  let escapes = 0

  async function read(): Promise<void> {
    const { body } = await worker.ask('read', { at, maxBytes: 1000 })
    if (body?.toString() === outsideContent) escapes++
  }
  async function write(turn: number): Promise<void> {
    const ask = { at, writeMode: 'put', encoding: 'keep' } as const
    await worker.ask('write', ask, { body: Buffer.from(`written ${turn % 2}`) })
  }
  async function repeat(times: number, operation: (turn: number) => Promise<void>): Promise<Count> {
    const count = { done: 0, refused: 0 }
    let turn = 0
    const runner = async () => {
      while (turn++ < times)
        try {
          await operation(turn)
          count.done++
        } catch (error) {
          if (!(error instanceof CoworkError)) throw error
          if (!expectedCodes.has(error.code))
            throw new Error(`answered ${error.code}: ${error.message}`)
          count.refused++
        }
    }
    await Promise.all(Array.from({ length: 8 }, runner))
    return count
  }

  try {
    const counts = { reads: await repeat(reads, read), writes: await repeat(writes, write) }
    return {
      containment: worker.containment(),
      ...counts,
      escapes: escapes + countChanges(folders.outside),
    }
  } finally {
    await worker.close()
    await stop()
    fs.rmSync(folders.top, { recursive: true })
  }
}

/** The name is missing for a moment, leads out, or changes between check and use. */
const expectedCodes = new Set([
  'path_escape',
  'not_found',
  'not_a_folder',
  'no_permission',
  'stale',
  'exists',
])

/** Counts the names created and files changed outside. */
const countChanges = (outside: string): number =>
  fs.readdirSync(outside).filter((name) => {
    const content = fs.readFileSync(join(outside, name), 'utf8')
    return !(
      (name === 'file.txt' && content === outsideContent) ||
      (name === 'secret.txt' && content === 'SECRET')
    )
  }).length

/** Proves that the attack works: counts leaks of a reader that checks the real path and then opens it. */
export async function measureLeaks(
  swap: Swap,
  maxLeaks: number,
): Promise<{ leaked: number; tries: number }> {
  const { folders, path, stop } = await startAttacker(swap)
  const target = join(folders.granted, path)
  let leaked = 0
  let tries = 0
  try {
    for (const until = Date.now() + 50_000; leaked < maxLeaks && Date.now() < until; tries++)
      try {
        const isInside = fs.realpathSync.native(target).startsWith(`${folders.granted}/`)
        if (isInside && fs.readFileSync(target, 'utf8') === outsideContent) leaked++
      } catch {
        // The name is missing for a moment.
      }
    return { leaked, tries }
  } finally {
    await stop()
    fs.rmSync(folders.top, { recursive: true })
  }
}
