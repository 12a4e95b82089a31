import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { systemActor } from '#base/entry.ts'
import { createLog } from '#base/log.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createMirrorFile } from './mirror-file.ts'
import type { MirrorLine } from './mirror-file.ts'
import { startMirror } from './mirror.ts'
import type { MirrorOptions } from './mirror.ts'
import { createLedgerStore } from './store.ts'

const newPath = () => join(mkdtempSync(join(tmpdir(), 'cowork-mirror-')), 'logs', 'audit.jsonl')

const readLines = (path: string) =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []

/** All lines of a mirror in order, rotated files first. */
function allLines(path: string): string[] {
  const folder = join(path, '..')
  const first = (name: string) => Number(/-(\d+)-/.exec(name)?.[1])
  const rotated = readdirSync(folder)
    .filter((name) => /^audit-\d+-\d+\.jsonl$/.test(name))
    .sort((a, b) => first(a) - first(b))
  return [...rotated.map((name) => join(folder, name)), path].flatMap(readLines)
}

const listQuarantined = (path: string) =>
  readdirSync(join(path, '..')).filter((name) => name.includes('.aside-'))

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

async function setup(count: number) {
  open = await openTestLedger()
  const { db, ledger } = open
  const store = createLedgerStore('sqlite')
  const logged: string[] = []
  const log = createLog({ level: 'info', json: true, write: (line) => logged.push(line) })
  const record = async (many: number) => {
    for (let i = 0; i < many; i++)
      await ledger.record({ type: 'note.taken', actor: systemActor, data: { text: `grüße ${i}` } })
  }
  await record(count)
  return {
    record,
    logged,
    bodies: async () => (await store.page(db, 0, 10_000)).map(({ body }) => body),
    start: (path: string, more: Partial<MirrorOptions> = {}) =>
      startMirror({ db, store, log }, { path, maxBytes: 1e8, ...more }),
  }
}

test('L9 a mirror has every entry as hashed, one per line, and follows new entries', async () => {
  const { start, record, bodies } = await setup(5)
  const path = newPath()
  const mirror = start(path)
  await expect.poll(() => readLines(path)).toEqual(await bodies())
  await record(3)
  await expect.poll(() => readLines(path)).toHaveLength(8)
  expect(readLines(path)).toEqual(await bodies())
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await mirror.close()
})

test('L9 a closed mirror is complete, and the next one continues it', async () => {
  const { start, record, bodies } = await setup(3)
  const path = newPath()
  for (let round = 0; round < 4; round++) {
    const mirror = start(path)
    await record(2)
    await mirror.close()
    expect(readLines(path)).toEqual(await bodies())
  }
})

test('L9 a deleted mirror is rebuilt immediately or at the next start', async () => {
  const { start, record, bodies } = await setup(4)
  const path = newPath()
  const mirror = start(path)
  await expect.poll(() => readLines(path)).toHaveLength(4)
  rmSync(path)
  await record(1)
  await expect.poll(() => readLines(path)).toHaveLength(5)
  await mirror.close()
  rmSync(join(path, '..'), { recursive: true })
  await start(path).close()
  expect(readLines(path)).toEqual(await bodies())
})

test('L9 a mirror contains only its selected lines, also after restarts', async () => {
  const { start, record } = await setup(4)
  const path = newPath()
  const shows: MirrorOptions['toLines'] = ({ actor, seq }) =>
    seq % 3 === 0 ? [{ actor, seq }] : []
  await start(path, { toLines: shows }).close()
  await record(8)
  await start(path, { toLines: shows }).close()
  expect(readLines(path)).toEqual(
    [3, 6, 9, 12].map((seq) => `{"actor":{"id":"cowork","kind":"system"},"seq":${seq}}`),
  )
  expect(listQuarantined(path)).toEqual([])
})

test('L10 a full mirror is rotated and every entry stays available', async () => {
  const { start, record, bodies } = await setup(10)
  const path = newPath()
  for (let round = 0; round < 5; round++) {
    await start(path, { maxBytes: 1000 }).close()
    await record(3)
  }
  await start(path, { maxBytes: 1000 }).close()
  const names = readdirSync(join(path, '..'))
  expect(names.length).toBeGreaterThan(3)
  expect(names).toContain('audit-1-5.jsonl')
  expect(allLines(path)).toEqual(await bodies())
  for (const name of names) expect(statSync(join(path, '..', name)).size).toBeLessThanOrEqual(1000)
})

test('L10 recovery works after a kill between rename and write, or without the newest file', async () => {
  const { start, record, bodies } = await setup(20)
  const path = newPath()
  await start(path, { maxBytes: 1000 }).close()
  rmSync(path)
  await record(2)
  await start(path, { maxBytes: 1000 }).close()
  expect(allLines(path)).toEqual(await bodies())
})

test('L9 a foreign file is quarantined unchanged', async () => {
  const { start, bodies } = await setup(3)
  const path = newPath()
  mkdirSync(join(path, '..'))
  const foreign = ['{"seq":2}\n', 'no entry at all\n', '\n', 'words without an end', '\u0000']
  for (const [index, text] of foreign.entries()) {
    writeFileSync(path, text)
    await start(path).close()
    expect(readLines(path)).toEqual(await bodies())
    const aside = listQuarantined(path)
    expect(aside).toHaveLength(index + 1)
    const kept = aside.map((name) => readFileSync(join(path, '..', name), 'utf8'))
    expect(kept).toContain(text)
  }
})

test('L9 F6 quarantined files, also older ones, go to the configured folder', async () => {
  const { start, bodies } = await setup(3)
  const path = newPath()
  const folder = join(path, '..')
  const asideIn = join(folder, 'aside')
  mkdirSync(folder)
  for (const name of ['audit.aside-01020304.jsonl', 'audit-1-9.aside-05060708.jsonl'])
    writeFileSync(join(folder, name), 'before\n')
  writeFileSync(join(folder, 'audit.aside-notes.md'), 'mine')
  writeFileSync(path, '{"seq":2}\n')
  await start(path, { quarantineDir: asideIn }).close()
  expect(readLines(path)).toEqual(await bodies())
  expect(readdirSync(folder).toSorted()).toEqual(['aside', 'audit.aside-notes.md', 'audit.jsonl'])
  const kept = readdirSync(asideIn).map((name) => readFileSync(join(asideIn, name), 'utf8'))
  expect(kept.toSorted()).toEqual(['before\n', 'before\n', '{"seq":2}\n'])
  expect(statSync(asideIn).mode & 0o777).toBe(0o700)
})

test('L9 a mirror ahead of a restored store is quarantined and rewritten', async () => {
  const { start } = await setup(10)
  const path = newPath()
  await start(path, { maxBytes: 1000 }).close()
  await open?.close()
  const { start: startAgain, bodies } = await setup(4)
  await startAgain(path, { maxBytes: 1000 }).close()
  expect(allLines(path)).toEqual(await bodies())
  expect(listQuarantined(path).length).toBeGreaterThan(1)
})

test('L9 a disk error is logged once and retried', async () => {
  const { start, record, bodies, logged } = await setup(2)
  const path = newPath()
  const folder = join(path, '..')
  writeFileSync(folder, 'a file where the folder should be')
  const mirror = start(path)
  await expect.poll(() => logged.length).toBe(1)
  await record(2)
  rmSync(folder)
  await expect.poll(() => readLines(path), { timeout: 20_000 }).toEqual(await bodies())
  await expect.poll(() => logged.length).toBe(2)
  expect(logged.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
    'mirror write failed',
    'mirror writes resumed',
  ])
  await mirror.close()
}, 30_000)

test('L9 a mirror that cannot be written does not block close', async () => {
  const { start } = await setup(1)
  const path = newPath()
  writeFileSync(join(path, '..'), '')
  await start(path).close()
  expect(existsSync(path)).toBe(false)
})

const entry = (seq: number, length: number, count = 1): MirrorLine => ({
  seq,
  body: Array.from({ length: count }, (_, file) =>
    JSON.stringify({ actor: { id: 'ü'.repeat(length) }, file, seq }),
  ).join('\n'),
})

/** Runs a mirror over damaged files and returns the result. */
async function recovered(path: string, entries: readonly MirrorLine[], maxBytes: number) {
  const asides: string[] = []
  const file = createMirrorFile(path, maxBytes, (name) => asides.push(name))
  const place = await file.recover(async (seq) => entries[seq - 1]?.body)
  await file.append(entries.slice(place))
  return { place, asides, lines: allLines(path) }
}

test('RM8 L9 L10 a mirror recovers from any truncation without missing or duplicate lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 3 })), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.constantFrom(50, 200, 1_000_000),
      fc.nat(),
      fc.constantFrom('', '\u0000\u0000\u0000', '{"actor":{"id":"half'),
      async (shapes, maxBytes, cut, torn) => {
        const path = newPath()
        const entries = shapes.map(([length, count], i) => entry(i + 1, length, count))
        const wanted = entries.flatMap(({ body }) => body.split('\n'))
        expect((await recovered(path, entries, maxBytes)).lines).toEqual(wanted)
        const at = cut % (statSync(path).size + 1)
        truncateSync(path, at)
        const isBetweenLines = at === 0 ? torn.startsWith('{') : readFileSync(path).at(-1) === 10
        if (isBetweenLines) appendFileSync(path, torn)
        const { lines, asides } = await recovered(path, entries, maxBytes)
        expect(lines).toEqual(wanted)
        expect(asides).toEqual([])
        rmSync(join(path, '..', '..'), { recursive: true })
      },
    ),
    { numRuns: 100 },
  )
}, 30_000)

test('L9 recovery finds lines longer than the first read', async () => {
  const path = newPath()
  const entries = [entry(1, 100_000), entry(2, 1), entry(3, 300_000)]
  await recovered(path, entries, 1e8)
  const { size } = statSync(path)
  for (const cut of [size, size - 1, size - 400_000, 200_030, 100]) {
    truncateSync(path, cut)
    const { lines, asides } = await recovered(path, entries, 1e8)
    expect(lines).toEqual(entries.map(({ body }) => body))
    expect(asides).toEqual([])
  }
  renameSync(path, join(path, '..', 'audit-1-3.jsonl'))
  expect((await recovered(path, entries, 1e8)).place).toBe(3)
})
