import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { createLog } from '#base/log.ts'
import { fill, pinnedRoot, testFolders } from '../../test/roots.ts'
import type { TestFolders } from '../../test/roots.ts'
import { createFileWorker } from './client.ts'
import type { AskOptions, FileWorker } from './client.ts'
import type { Root } from './worker/protocol.ts'

const tests = join(import.meta.dirname, '../../test')
const entry = join(tests, 'file-worker/ops.ts')

let folders: TestFolders
let roots: readonly Root[]
let lines: string[]
let worker: FileWorker

beforeEach(() => {
  folders = testFolders()
  lines = []
  // The wall of Landlock stands around the worker of these tests too, which lies in a folder of its own.
  roots = [...folders.setup.roots, folders.root('tests', tests, { access: 'read' })]
})
afterEach(() => worker.close())

const log = () => createLog({ level: 'debug', json: false, write: (line) => void lines.push(line) })

function start({ landlock = false, more = [] as readonly Root[] } = {}): FileWorker {
  roots = [...roots, ...more]
  worker = createFileWorker({ setup: { ...folders.setup, roots }, log: log(), landlock, entry })
  return worker
}

const read = async (path: string, root = 'grant_1', more?: AskOptions) =>
  (await worker.ask('read', { at: { root, path }, maxBytes: 1e9 }, more)).body?.toString() ?? ''

const write = (path: string, content: string, root = 'grant_1', more: AskOptions = {}) =>
  worker.ask(
    'write',
    { at: { root, path }, how: 'put', encoding: 'binary' },
    { body: Buffer.from(content), ...more },
  )

const usage = (path: string, more?: AskOptions) =>
  worker.ask('usage', { at: { root: 'workspace', path }, depth: 0 }, more)
const pid = async () => (await usage('')).files

const search = (more?: AskOptions) =>
  worker.ask('searchContent', { in: [], query: '', types: [], limit: 1 }, more)

/** What reading and writing at a path comes to when the walk is not asked. */
const probe = async (path: string) => {
  const at = { root: '', path }
  const { diff } = await worker.ask('diff', { from: at, to: at })
  return JSON.parse(diff ?? '') as Record<string, string>
}

/** The code an act was refused with, or what it came to. */
const outcome = (act: Promise<unknown>): Promise<unknown> =>
  act.catch((error: unknown) => (error instanceof CoworkError ? error.code : error))

const isAlive = (process: number) => fs.existsSync(`/proc/${process}`)

describe('before the call is on record', () => {
  test('L1 a write begins and is not seen until it may be', async () => {
    start()
    await read('', 'grant_1').catch(() => undefined)
    const entry = Promise.withResolvers<void>()
    const answer = write('new.txt', 'hello', 'grant_1', { enter: () => entry.promise })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp$/)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(false)
    entry.resolve()
    await answer
    expect(fs.readdirSync(folders.granted)).toEqual(['new.txt'])
  })

  test('L1 a write that may not be is dropped', async () => {
    start()
    const entry = Promise.withResolvers<void>()
    const dropped = write('new.txt', 'hello', 'grant_1', { enter: () => entry.promise })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp$/)
    entry.reject(new Error('the disk is full'))
    expect(await outcome(dropped)).toBe('cancelled')
    await expect.poll(() => fs.readdirSync(folders.granted)).toEqual([])
  })

  test('L1 one whose worker ends is begun anew, and put on record once', async () => {
    start()
    const entry = Promise.withResolvers<void>()
    let asked = 0
    const enter = () => {
      asked++
      return entry.promise
    }
    const writing = write('new.txt', 'hello', 'grant_1', { enter })
    process.kill(await pid(), 'SIGKILL')
    expect(await pid()).toBeGreaterThan(0)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(false)
    entry.resolve()
    expect((await writing).stat.size).toBe(5)
    expect(asked).toBe(1)
    expect(await read('new.txt')).toBe('hello')
  })

  test('L1 a large write is put on record once, when the worker has all of it', async () => {
    start()
    const stopped = await pid()
    let asked = 0
    const enter = async () => void asked++
    process.kill(stopped, 'SIGSTOP')
    const large = write('large.txt', 'x'.repeat(2 ** 22), 'grant_1', { enter })
    await sleep(50)
    expect(asked).toBe(0)
    process.kill(stopped, 'SIGCONT')
    await large
    expect(asked).toBe(1)
    expect(fs.statSync(join(folders.granted, 'large.txt')).size).toBe(2 ** 22)
  })
})

describe('the second wall', () => {
  test('PV6 under Landlock nothing outside the roots is reached, by whatever way', async () => {
    fill(folders.granted, { 'a.txt': 'inside' })
    start({ landlock: true })
    expect(await read('a.txt')).toBe('inside')
    expect(worker.containment()).toBe('landlock')
    expect(await probe(join(folders.outside, 'secret.txt'))).toEqual({
      sync: 'EACCES',
      async: 'EACCES',
      thread: 'EACCES',
      list: 'EACCES',
      make: 'EACCES',
      run: 'EACCES',
      listen: 'EACCES',
      connect: 'EACCES',
    })
    expect(fs.readdirSync(folders.outside)).toEqual(['secret.txt'])
  })

  test('PV6 a root for reading cannot be written, and a file opens nothing beside it', async () => {
    fill(folders.granted, { 'a.txt': 'a', 'b.txt': 'b' })
    fill(folders.outside, { 'one.txt': 'one' })
    const file = pinnedRoot('grant_2', join(folders.outside, 'one.txt'), { kind: 'file' })
    roots = roots.filter(({ key }) => key !== 'grant_1')
    start({
      landlock: true,
      more: [pinnedRoot('grant_1', folders.granted, { access: 'read' }), file],
    })
    const allowed = { sync: 'allowed', async: 'allowed', thread: 'allowed', make: 'EACCES' }
    expect(await probe(join(folders.granted, 'a.txt'))).toMatchObject(allowed)
    expect(await probe(join(folders.outside, 'one.txt'))).toMatchObject(allowed)
    expect(await probe(join(folders.outside, 'secret.txt'))).toMatchObject({ sync: 'EACCES' })
    expect(await read('', 'grant_2')).toBe('one')
    expect(await outcome(write('a.txt', 'x'))).toBe('read_only_grant')
  })

  test('PV9 a root that was replaced gets no rule and is missing', async () => {
    fs.renameSync(folders.granted, `${folders.granted}-away`)
    fill(folders.granted, { 'a.txt': 'another' })
    start({ landlock: true })
    expect(await outcome(read('a.txt'))).toBe('root_replaced')
    expect(await probe(join(folders.granted, 'a.txt'))).toMatchObject({ sync: 'EACCES' })
    expect(lines.join()).toContain('key=grant_1 code=root_replaced')
  })

  test('PV6 without it the walk alone stands, and says so', async () => {
    start()
    expect(worker.containment()).toBe('starting')
    expect(await probe(join(folders.outside, 'secret.txt'))).toMatchObject({ sync: 'allowed' })
    expect(worker.containment()).toBe('walk')
    fs.symlinkSync('../outside', join(folders.granted, 'out'))
    expect(await outcome(read('out/secret.txt'))).toBe('path_escape')
  })
})

describe('questions and answers', () => {
  test('PV6 large bodies and strange names come through unchanged', async () => {
    start()
    const content = `${'0123456789abcdef'.repeat(2 ** 20)}ü`
    await write('grow\n‮.bin', content)
    expect((await read('grow\n‮.bin')) === content).toBe(true)
    await write('empty', '')
    expect(await read('empty')).toBe('')
  })

  test('PV6 a fault has its code and path, and one of our own making is in the log', async () => {
    start()
    const fault = await read('no/such.txt').catch((error: unknown) => error)
    expect(fault).toMatchObject({ code: 'not_found', details: { path: 'no/such.txt' } })
    expect(await outcome(read('x', 'grant_unknown'))).toBe('no_grant')
    expect(await outcome(usage('bug'))).toBe('unreadable')
    await expect.poll(() => lines.join('')).toContain('TypeError: of our own making')
    expect(await outcome(worker.ask('purge', { ids: [] }))).toBe('unreadable')
  })

  test('PV6 what the worker prints is logged and does not harm its answers', async () => {
    fill(folders.granted, { 'a.txt': 'abc' })
    start()
    const { stat } = await worker.ask('stat', { at: { root: 'grant_1', path: 'a.txt' } })
    expect(stat.size).toBe(3)
    await expect.poll(() => lines.join('')).toContain('stat of a.txt')
  })

  test('PV3 hundreds of calls at once are all answered and leave nothing open', async () => {
    start()
    const process = await pid()
    const open = () => fs.readdirSync(`/proc/${process}/fd`).length
    const before = open()
    await Promise.all(Array.from({ length: 300 }, (_, n) => write(`f${n}`, `content ${n}`)))
    const contents = await Promise.all(Array.from({ length: 300 }, (_, n) => read(`f${n}`)))
    expect(contents).toEqual(Array.from({ length: 300 }, (_, n) => `content ${n}`))
    await Promise.all(Array.from({ length: 100 }, (_, n) => outcome(read(`none${n}/x`))))
    expect(open()).toBe(before)
  })

  test('PV6 small reads pass long searches, and a search ends when nobody waits', async () => {
    fill(folders.granted, { 'a.txt': 'a' })
    start()
    const ending = new AbortController()
    const searches = Array.from({ length: 5 }, () => outcome(search({ signal: ending.signal })))
    for (let n = 0; n < 20; n++) expect(await read('a.txt')).toBe('a')
    const before = await pid()
    ending.abort()
    expect(await Promise.all(searches)).toEqual(Array(5).fill('cancelled'))
    // The same worker goes on: it was told and did not have to be killed.
    expect(await pid()).toBe(before)
    expect(await outcome(read('a.txt', 'grant_1', { signal: ending.signal }))).toBe('cancelled')
  })

  test('PV6 a write that has begun is finished although its caller went away', async () => {
    start()
    await pid()
    const leaving = new AbortController()
    const writing = write('slow.txt', 'whole', 'grant_1', { signal: leaving.signal })
    leaving.abort()
    expect((await writing).stat.size).toBe(5)
    expect(await read('slow.txt')).toBe('whole')
  })
})

describe('a worker that fails', () => {
  test('PV6 one that is stuck is ended at the deadline, and what others asked is repeated', async () => {
    fill(folders.granted, { 'a.txt': 'a' })
    start()
    const before = await pid()
    const stuck = outcome(usage('stall', { deadlineMs: 50 }))
    const behind = read('a.txt')
    expect(await stuck).toBe('timeout')
    expect(await behind).toBe('a')
    expect(await pid()).not.toBe(before)
  })

  test('PV6 signals that are meant for the daemon leave it at its work: Ctrl-C goes to both', async () => {
    start()
    const before = await pid()
    const writing = write('slow.txt', 'whole')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(before, signal)
    expect((await writing).stat.size).toBe(5)
    expect(await pid()).toBe(before)
  })

  test('PV6 a write that hangs is ended at the deadline too', async () => {
    start()
    await pid()
    // It had not said what it would come to, so nothing can have come of it.
    expect(await outcome(write('stuck', 'x', 'grant_1', { deadlineMs: 50 }))).toBe('timeout')
    await write('after', 'well')
    expect(await read('after')).toBe('well')
  })

  test('PV6 a write that is done a little after its deadline is answered as done', async () => {
    start()
    await pid()
    expect((await write('slow.txt', 'whole', 'grant_1', { deadlineMs: 50 })).stat.size).toBe(5)
    expect(await read('slow.txt')).toBe('whole')
  })

  test('PV6 a call whose deadline comes while it waits is answered, and nothing is ended', async () => {
    start()
    expect(await outcome(usage('', { deadlineMs: 1 }))).toBe('timeout')
    expect(await pid()).toBeGreaterThan(0)
    expect(lines.join('')).not.toContain('stuck')
  })

  test('PV6 a read is repeated after a crash, and a write that had not said what it comes to', async () => {
    start()
    const mark = join(folders.top, 'crashed')
    const crashing = worker.ask('usage', { at: { root: mark, path: 'crash once' }, depth: 0 })
    const writing = write('slow.txt', 'x')
    expect((await crashing).files).toBeGreaterThan(0)
    expect((await writing).stat.size).toBe(1)
  })

  test('PV6 a read that ends every worker is given up, and others are served', async () => {
    fill(folders.granted, { 'a.txt': 'a' })
    start()
    expect(await outcome(usage('crash'))).toBe('unreadable')
    expect(await read('a.txt')).toBe('a')
  })

  test('PV6 one that answers what is no answer is ended and replaced', async () => {
    fill(folders.granted, { 'a.txt': 'a' })
    start()
    const before = await pid()
    await outcome(usage('babble'))
    expect(await read('a.txt')).toBe('a')
    expect(isAlive(before)).toBe(false)
  })

  test('PV6 the worker ends when the daemon is killed', async () => {
    worker = start()
    const daemon = spawn(process.execPath, [join(tests, 'file-worker/orphan.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [chunk] = (await once(daemon.stdout, 'data')) as [Buffer]
    const orphan = Number(chunk.toString())
    expect(isAlive(orphan)).toBe(true)
    daemon.kill('SIGKILL')
    await expect.poll(() => isAlive(orphan)).toBe(false)
  })

  test('PV6 closing answers who waits and leaves no process', async () => {
    start()
    const process = await pid()
    const searching = outcome(search())
    const writing = write('slow.txt', 'whole')
    await worker.close()
    expect(await searching).toMatch(/cancelled|interrupted/)
    expect((await writing).stat.size).toBe(5)
    expect(isAlive(process)).toBe(false)
    expect(await outcome(pid())).toBe('interrupted')
  })
})

describe('grants that come and go', () => {
  const another = () => {
    fill(folders.top, { 'another/b.txt': 'b' })
    return pinnedRoot('grant_2', join(folders.top, 'another'))
  }

  /** A file with a root of its own, and what it is when another was put in its place. */
  const single = (folder: string) => {
    const path = join(folder, 'one.txt')
    const pinned = () => pinnedRoot('single', path, { kind: 'file', access: 'read' })
    fs.writeFileSync(path, 'one')
    const replaced = (content: string) => {
      fs.writeFileSync(`${path}~`, content)
      fs.renameSync(`${path}~`, path)
      return pinned()
    }
    return { file: pinned(), replaced }
  }

  test('GR6 a new root is there when setRoots resolves, and the old worker finishes first', async () => {
    start()
    const before = await pid()
    const writing = write('slow.txt', 'whole')
    await worker.setRoots([...roots, another()])
    expect(await read('b.txt', 'grant_2')).toBe('b')
    expect(await pid()).not.toBe(before)
    expect((await writing).stat.size).toBe(5)
    await expect.poll(() => isAlive(before)).toBe(false)
  })

  test('GR6 of many changes at once the last one counts', async () => {
    start()
    const root = another()
    await Promise.all([
      worker.setRoots([...roots, root]),
      worker.setRoots(roots),
      worker.setRoots([...roots, root]),
    ])
    expect(await read('b.txt', 'grant_2')).toBe('b')
  })

  test('GR4 revoking ends what works under the grant, and the process; others do not notice', async () => {
    fill(folders.granted, { 'a.txt': 'a' })
    start({ landlock: true, more: [another()] })
    const before = await pid()
    const leaving = new AbortController()
    const theirs = outcome(search({ grants: ['grant_2'] }))
    const ours = outcome(search({ grants: ['grant_1'], signal: leaving.signal }))
    const writing = write('slow.txt', 'whole', 'grant_1', { grants: ['grant_1'] })
    const revoked = worker.revoke(
      ['grant_2'],
      roots.filter(({ key }) => key !== 'grant_2'),
    )
    const reading = read('a.txt')
    expect(await theirs).toBe('no_grant')
    await revoked
    expect(isAlive(before)).toBe(false)
    expect((await writing).stat.size).toBe(5)
    expect(await reading).toBe('a')
    expect(await outcome(read('b.txt', 'grant_2'))).toBe('no_grant')
    expect(await probe(join(folders.top, 'another/b.txt'))).toMatchObject({ sync: 'EACCES' })
    leaving.abort()
    expect(await ours).toBe('cancelled')
  })

  test('GR4 a write that has begun is done although its grant is revoked, and says so', async () => {
    start({ more: [another()] })
    await pid()
    const writing = write('slow.txt', 'whole', 'grant_2', { grants: ['grant_2'] })
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect((await writing).stat.size).toBe(5)
    expect(fs.readFileSync(join(folders.top, 'another/slow.txt'), 'utf8')).toBe('whole')
  })

  test('GR4 one that has done nothing by then is refused', async () => {
    start({ more: [another()] })
    await pid()
    const stuck = outcome(write('stuck', 'x', 'grant_2', { grants: ['grant_2'] }))
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(await stuck).toBe('no_grant')
    expect(fs.readdirSync(join(folders.top, 'another'))).toEqual(['b.txt'])
  })

  test('GR4 a write that waits for its entry is refused, and its temporary file goes', async () => {
    start({ more: [another()] })
    await pid()
    const entry = Promise.withResolvers<void>()
    const held = outcome(
      write('new.txt', 'x', 'grant_2', { grants: ['grant_2'], enter: () => entry.promise }),
    )
    const names = () => fs.readdirSync(join(folders.top, 'another'))
    await expect.poll(() => names().join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    entry.resolve()
    expect(await held).toBe('no_grant')
    expect(names()).toEqual(['b.txt'])
  })

  test('GR4 another’s write that waits for its entry is begun anew', async () => {
    start({ more: [another()] })
    const before = await pid()
    const entry = Promise.withResolvers<void>()
    const held = write('new.txt', 'x', 'grant_1', {
      grants: ['grant_1'],
      enter: () => entry.promise,
    })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(isAlive(before)).toBe(false)
    entry.resolve()
    expect((await held).stat.size).toBe(1)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(true)
  })

  test('GR4 one that is ended leaves no hidden file in a folder that is open no more', async () => {
    start({ landlock: true, more: [another()] })
    await pid()
    const lasting = outcome(write('lasting', 'x', 'grant_2', { grants: ['grant_2'] }))
    const names = () => fs.readdirSync(join(folders.top, 'another'))
    await expect.poll(() => names().join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(await lasting).toBe('no_grant')
    expect(names()).toEqual(['b.txt'])
  })

  test('GR4 another’s write that outlasts the revocation and has done nothing is begun anew', async () => {
    start({ more: [another()] })
    const before = await pid()
    const writing = write('late.txt', 'whole', 'grant_1', { grants: ['grant_1'] })
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(isAlive(before)).toBe(false)
    expect((await writing).stat.size).toBe(5)
    expect(await read('late.txt')).toBe('whole')
  })

  test('PV9 files that were put in the place of others need no other worker', async () => {
    const { file, replaced } = single(folders.granted)
    start({ landlock: true, more: [file] })
    const before = await pid()
    for (const content of ['two', 'three']) {
      const next = [...roots.slice(0, -1), replaced(content)]
      expect(await outcome(read('', 'single'))).toBe('root_replaced')
      await worker.setRoots(next)
      expect(await read('', 'single')).toBe(content)
    }
    expect(await pid()).toBe(before)
  })

  test('PV9 nor while one is starting, which is told when it is there', async () => {
    const { file, replaced } = single(folders.granted)
    start({ more: [file] })
    await pid()
    const more = [...roots, another()]
    const added = worker.setRoots(more)
    await worker.setRoots(more.map((root) => (root.key === 'single' ? replaced('two') : root)))
    expect(await read('', 'single')).toBe('two')
    await added
    expect(await read('', 'single')).toBe('two')
    expect(await read('b.txt', 'grant_2')).toBe('b')
  })

  test('PV9 where the wall keeps the worker from them another is started, once for many', async () => {
    const { file, replaced } = single(folders.outside)
    start({ landlock: true, more: [file] })
    const before = await pid()
    const moves = ['two', 'three', 'four', 'five'].map((content) =>
      worker.setRoots([...roots.slice(0, -1), replaced(content)]),
    )
    await Promise.all(moves)
    expect(await read('', 'single')).toBe('five')
    expect(await pid()).not.toBe(before)
    expect(await probe(join(folders.outside, 'secret.txt'))).toMatchObject({ sync: 'EACCES' })
  })
})
