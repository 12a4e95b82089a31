import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { canEnter, seenAt } from './folders.ts'
import type { Entry, Seen } from './folders.ts'
import { memoryFor, piecesIn } from './stats-memory.ts'
import { createStatEach } from './stats.ts'

type StatEach = ReturnType<typeof createStatEach>

const before = process.cwd()
let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'cowork-stats-'))
  process.chdir(folder)
})
afterEach(() => process.chdir(before))

const entriesOf = () => fs.readdirSync('.', { withFileTypes: true })

const fill = (count: number, size = 0) => {
  for (let at = 0; at < count; at++) fs.writeFileSync(`n${at}`, 'x'.repeat(size + at))
}

const clock = new Int32Array(new SharedArrayBuffer(4))

/**
 * What is handed on, and how much of it was looked at in this thread. After its first look it may wait, so that the
 * other thread has woken up even where there is little to look at.
 */
function statted(statEach: StatEach, entries: readonly Entry[], wait = 0) {
  const taken: { readonly name: string; readonly seen: Seen | undefined }[] = []
  let looks = 0
  const look = ({ name }: Entry) => {
    if (looks++ === 0 && wait > 0) Atomics.wait(clock, 0, 0, wait)
    return seenAt(name)
  }
  statEach(entries, look, ({ name }, seen) => taken.push({ name, seen }))
  return { taken, looks }
}

const alone = (entries: readonly Entry[]) =>
  entries.map(({ name }) => ({ name, seen: seenAt(name) }))

/** The thread as it is, or one that does other things. */
function begin(least = 1, code?: string) {
  const threads: Worker[] = []
  const start = () => {
    const thread = code
      ? new Worker(code, { eval: true })
      : new Worker(new URL('./stats-thread.ts', import.meta.url))
    threads.push(thread)
    return thread
  }
  onTestFinished(async () => {
    for (const thread of threads) await thread.terminate()
  })
  return { statEach: createStatEach(start, least), threads }
}

/** A thread that is up: it has looked at something. */
async function up(least = 1) {
  const world = begin(least)
  fs.mkdirSync('up')
  process.chdir('up')
  fill(Math.max(least, 400))
  const entries = entriesOf()
  await expect.poll(() => statted(world.statEach, entries, 2).looks).toBeLessThan(entries.length)
  process.chdir('..')
  fs.rmSync('up', { recursive: true })
  return world
}

// Elsewhere no thread is asked.
describe.runIf(canEnter)('entries', () => {
  test('FT3 another thread looks at some of many entries as soon as it is up, and nobody waits for it before', async () => {
    fill(1000)
    const entries = entriesOf()
    const expected = alone(entries)
    const { statEach, threads } = begin(500)
    expect(statted(statEach, entries.slice(0, 499))).toMatchObject({ looks: 499 })
    expect(threads).toHaveLength(0)
    expect(statted(statEach, entries)).toEqual({ taken: expected, looks: 1000 })
    await expect
      .poll(() => {
        const { taken, looks } = statted(statEach, entries)
        expect(taken).toEqual(expected)
        return looks
      })
      .toBeLessThan(1000)
    expect(threads).toHaveLength(1)
  })

  test('FT3 two threads see of entries what one sees, however many there are', async () => {
    const { statEach } = await up()
    const name = fc
      .array(fc.constantFrom('a', 'B', 'é', '漢', '😀', ' ', '\n', '\\', '"', '-', '.x'), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join(''))
    const entry = fc.record({
      name,
      kind: fc.constantFrom('file', 'folder', 'link', 'gone'),
      size: fc.nat(5000),
      time: fc.integer({ min: -1_000_000, max: 4_000_000_000_000 }),
    })
    const lists = fc.uniqueArray(entry, { selector: (one) => one.name, maxLength: 70, size: 'max' })
    let runs = 0
    let shared = 0
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        fs.mkdirSync(join(folder, `${++runs}`))
        process.chdir(join(folder, `${runs}`))
        for (const { name: path, kind, size, time } of list) {
          if (kind === 'folder') fs.mkdirSync(path)
          else if (kind === 'link') fs.symlinkSync('nowhere', path)
          else fs.writeFileSync(path, 'x'.repeat(size))
          if (kind !== 'link') fs.utimesSync(path, time / 1000, time / 1000)
        }
        const entries = entriesOf()
        for (const { name: path, kind } of list) if (kind === 'gone') fs.rmSync(path)
        const { taken, looks } = statted(statEach, entries, 2)
        expect(taken).toEqual(alone(entries))
        shared += entries.length - looks
      }),
      { numRuns: 40 },
    )
    expect(shared).toBeGreaterThan(100)
  })

  test('FT3 of each folder is seen what is in it, though another was looked at right before', async () => {
    const { statEach } = await up()
    for (const [name, size] of [
      ['small', 1],
      ['large', 2000],
    ] as const) {
      fs.mkdirSync(name)
      process.chdir(name)
      fill(300, size)
      process.chdir('..')
    }
    let shared = 0
    for (let round = 0; round < 40; round++) {
      process.chdir(join(folder, round % 2 === 0 ? 'small' : 'large'))
      const entries = entriesOf()
      const { taken, looks } = statted(statEach, entries, 1)
      expect(taken).toEqual(alone(entries))
      if (looks < entries.length) shared++
    }
    expect(shared).toBeGreaterThan(0)
  })

  test('FT3 what a name is wrong with is found by who asked', async () => {
    const { statEach } = await up()
    fill(100)
    const isIt = () => false
    const is = { isFile: isIt, isDirectory: isIt, isSymbolicLink: isIt }
    const tooLong = { name: 'n'.repeat(300), ...is }
    const entries = [...entriesOf(), tooLong]
    for (let round = 0; round < 20; round++)
      expect(() => statted(statEach, entries)).toThrow('ENAMETOOLONG')
    expect(statted(statEach, entriesOf()).taken).toEqual(alone(entriesOf()))
  })

  test('FT3 a thread that has ended is done without', async () => {
    const { statEach, threads } = await up(400)
    fill(400)
    await threads[0]?.terminate()
    const entries = entriesOf()
    expect(statted(statEach, entries)).toEqual({ taken: alone(entries), looks: 400 })
    expect(threads).toHaveLength(1)
  })

  test('FT3 so is one that cannot be started', () => {
    fill(20)
    let starts = 0
    const statEach = createStatEach(() => {
      starts++
      throw new Error('no thread')
    }, 1)
    for (let round = 0; round < 3; round++)
      expect(statted(statEach, entriesOf())).toEqual({ taken: alone(entriesOf()), looks: 20 })
    expect(starts).toBe(1)
  })

  test('FT3 and one that begins with some and does not get on is not waited for twice', async () => {
    const { statEach, threads } = begin(
      1,
      `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', ({ memory }) => Atomics.add(new Int32Array(memory, 0, 2), 0, 3))`,
    )
    fill(400)
    const entries = entriesOf()
    const expected = alone(entries)
    const timed = () => {
      const begun = performance.now()
      expect(statted(statEach, entries)).toEqual({ taken: expected, looks: 400 })
      return performance.now() - begun
    }
    await expect.poll(timed).toBeGreaterThan(900)
    expect(timed()).toBeLessThan(900)
    await expect.poll(() => threads[0]?.threadId).toBe(-1)
  })

  test('FT3 who comes late to a list finds nothing to take', () => {
    const pieces = piecesIn(memoryFor(33))
    expect([1, 2, 3, 4].map(() => pieces.take())).toEqual([true, true, true, false])
    expect([0, 1, 2, 3].map(pieces.endOf)).toEqual([0, 16, 32, 33])
    expect([1, 2, 3].map(pieces.beginOf)).toEqual([32, 16, 0])
  })
})
