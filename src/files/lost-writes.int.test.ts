import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { silentLog } from '#base/log.ts'
import { granted, inWorkspace } from '../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../test/roots.ts'
import type { TestFolders } from '../../test/roots.ts'
import { mountSmallDisk } from '../../test/small-disk.ts'
import { createFileWorker } from './worker-client.ts'
import type { RequestOptions, FileWorker } from './worker-client.ts'
import type { OpRequest, Op } from './worker/protocol.ts'

const entry = join(import.meta.dirname, '../../test/file-worker/halting.ts')

let folders: TestFolders
let worker: FileWorker

beforeEach(() => {
  folders = testFolders()
})
afterEach(() => worker.close())

function start(): void {
  worker = createFileWorker({ setup: folders.setup, log: silentLog, landlock: false, entry })
}

const outcome = <O extends Op>(
  op: O,
  ask: OpRequest<O>,
  more: RequestOptions = {},
): Promise<unknown> =>
  worker
    .ask(op, ask, more)
    .catch((error: unknown) => (error instanceof CoworkError ? error.code : error))

const deadlineMs = 300
/** With a deadline that begins when there is a worker. */
async function late<O extends Op>(op: O, ask: OpRequest<O>, body?: Buffer): Promise<unknown> {
  await pid()
  return outcome(op, ask, { deadlineMs, ...(body && { body }) })
}

const pid = async () => (await worker.ask('usage', { at: inWorkspace(''), depth: 0 })).files
const isAlive = (process: number) => fs.existsSync(`/proc/${process}`)
const inside = (path: string) => join(folders.workspace, path)
const text = (path: string) => fs.readFileSync(path, 'utf8')
const body = Buffer.from('new')

test('TR1 TR3 FT8 a write whose worker does not answer is answered by what became of it', async () => {
  start()
  const name = (act: string) => `stop-after-${act}.txt`
  fill(folders.workspace, { 'm.txt': 'm', 'f/a.txt': 'a', [`d/${name('renameSync')}`]: 'd' })
  const moved = inWorkspace(name('renameSync'))
  expect(await late('move', { from: inWorkspace('m.txt'), to: moved })).toMatchObject({
    stat: { type: 'file', size: 1 },
    from: 'm.txt',
    to: moved.path,
  })
  const folder = inWorkspace('in/stop-after-renameSync')
  expect(await late('move', { from: inWorkspace('f'), to: folder })).toMatchObject({
    stat: { type: 'folder' },
    from: 'f',
    to: folder.path,
  })
  const record = { path: 'd.txt' }
  const at = inWorkspace(`d/${name('renameSync')}`)
  expect(await late('trash', { at, id: 'id-1', record })).toMatchObject({
    stat: { size: 1 },
    real: at.path,
    sha256: expect.any(String),
  })
  const back = inWorkspace(`back/${name('renameSync')}`)
  expect(await late('restore', { id: 'id-1', to: back })).toMatchObject({ real: back.path })
  const copied = inWorkspace(`copy/${name('linkSync')}`)
  expect(await late('copy', { from: back, to: copied })).toMatchObject({
    real: copied.path,
    sha256: expect.any(String),
  })
  const made = inWorkspace(`made/${name('linkSync')}`)
  const create = { at: made, writeMode: 'create', encoding: 'binary' } as const
  expect(await late('write', create, body)).toMatchObject({
    stat: { size: 3 },
    real: made.path,
  })
  const replace = { at: moved, writeMode: 'replace', encoding: 'keep' } as const
  expect(await late('write', replace, body)).toMatchObject({
    before: { size: 1 },
    real: moved.path,
  })
  expect(text(inside(moved.path))).toBe('new')
})

test('FT8 and so is one whose worker died of it', async () => {
  start()
  fill(folders.workspace, { 'm.txt': 'm' })
  const to = inWorkspace('die-after-renameSync.txt')
  expect(await outcome('move', { from: inWorkspace('m.txt'), to })).toMatchObject({
    from: 'm.txt',
    to: to.path,
  })
})

test('FT4 one that left a backup says which', async () => {
  start()
  const at = inWorkspace('stop-after-renameSync.txt')
  fill(folders.workspace, { [at.path]: 'old', [`${at.path}.bak`]: 'older' })
  const edits = [{ old: 'old', new: 'new' }]
  const { backup } = (await late('edit', { at, edits, backup: true })) as { backup: string }
  expect(backup).toBe(`${at.path}.bak.1`)
  expect(text(inside(backup))).toBe('old')
})

test('GR6 a write in place is verified too', async () => {
  fill(folders.outside, { 'stop-after-ftruncateSync.txt': 'old one' })
  const path = join(folders.outside, 'stop-after-ftruncateSync.txt')
  const single = pinnedRoot('single', path, { kind: 'file' })
  const { setup } = folders
  folders = { ...folders, setup: { ...setup, roots: [...setup.roots, single] } }
  start()
  const replace = {
    at: { root: 'single', path: '' },
    writeMode: 'replace',
    encoding: 'keep',
  } as const
  expect(await late('write', replace, body)).toMatchObject({ before: { size: 7 } })
  expect(text(path)).toBe('new')
})

test.each(['stop', 'die'])(
  'FT8 one that was about to be done and was not is interrupted, and never comes after: %s',
  async (how) => {
    start()
    const before = await pid()
    fill(folders.workspace, { 'm.txt': 'm' })
    const to = inWorkspace(`${how}-before-renameSync.txt`)
    expect(await late('move', { from: inWorkspace('m.txt'), to })).toBe('interrupted')
    expect(isAlive(before)).toBe(false)
    expect(text(inside('m.txt'))).toBe('m')
  },
)

test('F5 FT8 a program whose move out of Code/ is cut off stays as it was, and goes when that is repeated', async () => {
  start()
  fill(folders.workspace, { 'Code/a.py': 'x' })
  fs.chmodSync(inside('Code/a.py'), 0o755)
  const move = (to: string) =>
    outcome('move', { from: inWorkspace('Code/a.py'), to: inWorkspace(to) })
  expect(await move('die-before-renameSync.py')).toBe('interrupted')
  expect(fs.statSync(inside('Code/a.py')).mode & 0o777).toBe(0o755)
  expect(await move('a.py')).toMatchObject({ from: 'Code/a.py', to: 'a.py' })
  expect(fs.statSync(inside('a.py')).mode & 0o777).toBe(0o644)
})

test('FT8 a worker that never came to it did nothing, and it timed out; others are answered', async () => {
  start()
  const before = await pid()
  fill(folders.workspace, { 'm.txt': 'm', 'a.txt': 'a' })
  process.kill(before, 'SIGSTOP')
  const asks = [
    outcome('move', { from: inWorkspace('m.txt'), to: inWorkspace('m2.txt') }, { deadlineMs }),
    outcome('trash', { at: inWorkspace('m.txt'), id: 'id-1', record: {} }, { deadlineMs }),
    outcome(
      'write',
      { at: inWorkspace('n.txt'), writeMode: 'create', encoding: 'binary' },
      { deadlineMs },
    ),
    outcome('read', { at: inWorkspace('a.txt'), maxBytes: 10 }),
  ]
  expect(await Promise.all(asks)).toEqual([
    'timeout',
    'timeout',
    'timeout',
    expect.objectContaining({ kind: 'text' }),
  ])
  expect(isAlive(before)).toBe(false)
  expect(fs.readdirSync(folders.workspace).toSorted()).toEqual(['a.txt', 'm.txt'])
})

test('GR4 one that another’s revocation ended is answered by what became of it', async () => {
  start()
  await pid()
  fill(folders.workspace, { 'm.txt': 'm' })
  const to = inWorkspace('stop-after-renameSync.txt')
  const moving = outcome('move', { from: inWorkspace('m.txt'), to })
  await expect.poll(() => fs.existsSync(inside(to.path))).toBe(true)
  await worker.revoke(['grant_1'], folders.setup.roots.slice(0, -1))
  expect(await moving).toMatchObject({ from: 'm.txt', to: to.path })
})

test('GR4 under the grant that was revoked nobody can look: it is interrupted', async () => {
  start()
  await pid()
  fill(folders.granted, { 'm.txt': 'm' })
  const to = granted('stop-after-renameSync.txt')
  const moving = outcome('move', { from: granted('m.txt'), to }, { grants: ['grant_1'] })
  await expect.poll(() => fs.existsSync(join(folders.granted, to.path))).toBe(true)
  await worker.revoke(['grant_1'], folders.setup.roots.slice(0, -1))
  expect(await moving).toBe('interrupted')
})

describe('a folder on its way to another disk', () => {
  /** So many slow files that they are not all copied in the time that a revocation gives. */
  const names = Array.from({ length: 400 }, (_, n) => `slow-${n}.py`)

  async function moving() {
    const disk = mountSmallDisk(join(folders.top, 'disk'), 10_000)
    onTestFinished(disk.remove)
    const { setup } = folders
    const roots = [...setup.roots, pinnedRoot('other', disk.path)]
    folders = { ...folders, setup: { ...setup, roots } }
    fill(inside('f'), Object.fromEntries(names.map((name) => [name, 'x'])))
    start()
    await pid()
    const to = { root: 'other', path: 'f' }
    const moved = outcome('move', { from: inWorkspace('f'), to }, { grants: ['other'] })
    const copied = () => fs.readdirSync(disk.path, { recursive: true }).length
    while (copied() < 60) await sleep(1)
    const revoke = (gone: string) =>
      worker.revoke(
        [gone],
        roots.filter(({ key }) => key !== gone),
      )
    return { disk, moved, revoke }
  }

  test('GR4 PV6 is given up when its grant is revoked, and nothing of it is left there', async () => {
    const { disk, moved, revoke } = await moving()
    await revoke('other')
    expect(fs.readdirSync(disk.path)).toEqual([])
    expect(await moved).toBe('no_grant')
    expect(fs.readdirSync(inside('f'))).toHaveLength(names.length)
  })

  test('GR4 restarts when another agent’s grant is revoked', async () => {
    const { disk, moved, revoke } = await moving()
    await revoke('grant_1')
    expect(await moved).toMatchObject({ from: 'f', to: 'f' })
    expect(fs.readdirSync(disk.path)).toEqual(['f'])
    expect(fs.readdirSync(join(disk.path, 'f'))).toHaveLength(names.length)
  })
})

test('GR4 operations that another grant’s revocation interrupted before their change are retried, a deletion under the same id', async () => {
  start()
  const before = await pid()
  fill(folders.workspace, { 'm.txt': 'm', 'd.txt': 'd', 'c.txt': 'c' })
  // A worker was ended between the record and the thing itself.
  fill(folders.top, { 'trash/id-1/record.json': '{}' })
  process.kill(before, 'SIGSTOP')
  const asks = [
    outcome('move', { from: inWorkspace('m.txt'), to: inWorkspace('m2.txt') }),
    outcome('trash', { at: inWorkspace('d.txt'), id: 'id-1', record: {} }),
    outcome('copy', { from: inWorkspace('c.txt'), to: inWorkspace('c2.txt') }),
  ]
  await worker.revoke(['grant_1'], folders.setup.roots.slice(0, -1))
  expect(isAlive(before)).toBe(false)
  expect(await Promise.all(asks)).toMatchObject([
    { to: 'm2.txt' },
    { real: 'd.txt' },
    { real: 'c2.txt' },
  ])
  expect(fs.readdirSync(folders.workspace).toSorted()).toEqual(['c.txt', 'c2.txt', 'm2.txt'])
  expect(text(join(folders.top, 'trash/id-1/content'))).toBe('d')
})
