// N32: somebody swaps a folder or a file for a link that leads out, while the worker reads and writes there.
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

/** Calls that came to what was inside, and those that met a link or nothing and were refused. */
type Count = { readonly done: number; readonly refused: number }

export type RaceResult = {
  readonly containment: Containment | 'starting'
  readonly reads: Count
  readonly writes: Count
  /** What was read or changed outside. */
  readonly escapes: number
}

const outsideContent = 'OUTSIDE'

/** In memory where that can be had: each fsync would wait for all that the attacker did. */
const place = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The attacker at work on a folder of its own, until it is stopped. */
async function attack(swap: Swap) {
  const folders = testFolders(place)
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

/** What reads and writes come to under attack, asked of the real worker as the daemon asks it. */
export async function race({ swap, reads, writes, landlock }: RaceOptions): Promise<RaceResult> {
  const { folders, path, stop } = await attack(swap)
  // The attacker gives the file a second name.
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
    const ask = { at, how: 'put', encoding: 'keep' } as const
    await worker.ask('write', ask, { body: Buffer.from(`written ${turn % 2}`) })
  }
  async function each(times: number, act: (turn: number) => Promise<void>): Promise<Count> {
    const count = { done: 0, refused: 0 }
    let turn = 0
    const runner = async () => {
      while (turn++ < times)
        try {
          await act(turn)
          count.done++
        } catch (error) {
          if (!(error instanceof CoworkError)) throw error
          if (!expected.has(error.code)) throw new Error(`answered ${error.code}: ${error.message}`)
          count.refused++
        }
    }
    await Promise.all(Array.from({ length: 8 }, runner))
    return count
  }

  try {
    const counts = { reads: await each(reads, read), writes: await each(writes, write) }
    return {
      containment: worker.containment(),
      ...counts,
      escapes: escapes + changed(folders.outside),
    }
  } finally {
    await worker.close()
    await stop()
    fs.rmSync(folders.top, { recursive: true })
  }
}

/** A name is missing for a moment, leads out, or is one thing when it is looked at and another when it is used. */
const expected = new Set([
  'path_escape',
  'not_found',
  'not_a_folder',
  'no_permission',
  'stale',
  'exists',
])

/** Names made outside and content changed there. */
const changed = (outside: string): number =>
  fs.readdirSync(outside).filter((name) => {
    const content = fs.readFileSync(join(outside, name), 'utf8')
    return !(
      (name === 'file.txt' && content === outsideContent) ||
      (name === 'secret.txt' && content === 'SECRET')
    )
  }).length

/** That the attacker is one: how soon a reader that checks the real path, then opens it, gets what is outside. */
export async function leaks(
  swap: Swap,
  enough: number,
): Promise<{ leaked: number; tries: number }> {
  const { folders, path, stop } = await attack(swap)
  const given = join(folders.granted, path)
  let leaked = 0
  let tries = 0
  try {
    for (const until = Date.now() + 50_000; leaked < enough && Date.now() < until; tries++)
      try {
        const isInside = fs.realpathSync.native(given).startsWith(`${folders.granted}/`)
        if (isInside && fs.readFileSync(given, 'utf8') === outsideContent) leaked++
      } catch {
        // Missing for a moment.
      }
    return { leaked, tries }
  } finally {
    await stop()
    fs.rmSync(folders.top, { recursive: true })
  }
}
