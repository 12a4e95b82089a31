import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { getOutcome, startWorker } from '../../test/file-worker/started.ts'
import { fill, pinnedRoot, testFolders } from '../../test/roots.ts'

describe('before the call is on record', () => {
  test('L1 a write begins and is not seen until it may be', async () => {
    const { folders, read, write } = startWorker()
    await read('', 'grant_1').catch(() => undefined)
    const entry = Promise.withResolvers<void>()
    const answer = write('new.txt', 'hello', 'grant_1', { recordStart: () => entry.promise })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp$/)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(false)
    entry.resolve()
    await answer
    expect(fs.readdirSync(folders.granted)).toEqual(['new.txt'])
  })

  test('L1 a write that may not be is dropped', async () => {
    const { folders, write } = startWorker()
    const entry = Promise.withResolvers<void>()
    const dropped = write('new.txt', 'hello', 'grant_1', { recordStart: () => entry.promise })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp$/)
    entry.reject(new Error('the disk is full'))
    expect(await getOutcome(dropped)).toBe('cancelled')
    await expect.poll(() => fs.readdirSync(folders.granted)).toEqual([])
  })

  test('L1 a write whose worker ends is restarted and recorded once', async () => {
    const { folders, pid, read, write } = startWorker()
    const entry = Promise.withResolvers<void>()
    let asked = 0
    const recordStart = () => {
      asked++
      return entry.promise
    }
    const writing = write('new.txt', 'hello', 'grant_1', { recordStart })
    process.kill(await pid(), 'SIGKILL')
    expect(await pid()).toBeGreaterThan(0)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(false)
    entry.resolve()
    expect((await writing).stat.size).toBe(5)
    expect(asked).toBe(1)
    expect(await read('new.txt')).toBe('hello')
  })

  test('L1 a large write is put on record once, when the worker has all of it', async () => {
    const { folders, pid, write } = startWorker()
    const stopped = await pid()
    let asked = 0
    const recordStart = async () => void asked++
    process.kill(stopped, 'SIGSTOP')
    const large = write('large.txt', 'x'.repeat(2 ** 22), 'grant_1', { recordStart })
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
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'inside' })
    const { worker, read, probe } = startWorker({ folders, landlock: true })
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
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a', 'b.txt': 'b' })
    fill(folders.outside, { 'one.txt': 'one' })
    const file = pinnedRoot('grant_2', join(folders.outside, 'one.txt'), { kind: 'file' })
    const { read, write, probe } = startWorker({
      folders,
      landlock: true,
      extraRoots: [pinnedRoot('grant_1', folders.granted, { access: 'read' }), file],
    })
    const allowed = { sync: 'allowed', async: 'allowed', thread: 'allowed', make: 'EACCES' }
    expect(await probe(join(folders.granted, 'a.txt'))).toMatchObject(allowed)
    expect(await probe(join(folders.outside, 'one.txt'))).toMatchObject(allowed)
    expect(await probe(join(folders.outside, 'secret.txt'))).toMatchObject({ sync: 'EACCES' })
    expect(await read('', 'grant_2')).toBe('one')
    expect(await getOutcome(write('a.txt', 'x'))).toBe('read_only_grant')
  })

  test('PV9 a root that was replaced gets no rule and is missing', async () => {
    const folders = testFolders()
    fs.renameSync(folders.granted, `${folders.granted}-away`)
    fill(folders.granted, { 'a.txt': 'another' })
    const { lines, read, probe } = startWorker({ folders, landlock: true })
    expect(await getOutcome(read('a.txt'))).toBe('root_replaced')
    expect(await probe(join(folders.granted, 'a.txt'))).toMatchObject({ sync: 'EACCES' })
    expect(lines.join()).toContain('key=grant_1 code=root_replaced')
  })

  test('PV6 without it the walk alone stands, and says so', async () => {
    const { folders, worker, read, probe } = startWorker()
    expect(worker.containment()).toBe('starting')
    expect(await probe(join(folders.outside, 'secret.txt'))).toMatchObject({ sync: 'allowed' })
    expect(worker.containment()).toBe('walk')
    fs.symlinkSync('../outside', join(folders.granted, 'out'))
    expect(await getOutcome(read('out/secret.txt'))).toBe('path_escape')
  })
})

describe('questions and answers', () => {
  test('PV6 large bodies and strange names come through unchanged', async () => {
    const { read, write } = startWorker()
    const content = `${'0123456789abcdef'.repeat(2 ** 20)}ü`
    await write('grow\n‮.bin', content)
    expect((await read('grow\n‮.bin')) === content).toBe(true)
    await write('empty', '')
    expect(await read('empty')).toBe('')
  })

  test('PV6 a fault has its code and path, and one of our own making is in the log', async () => {
    const { lines, worker, usage, read } = startWorker()
    const fault = await read('no/such.txt').catch((error: unknown) => error)
    expect(fault).toMatchObject({ code: 'not_found', details: { path: 'no/such.txt' } })
    expect(await getOutcome(read('x', 'grant_unknown'))).toBe('no_grant')
    expect(await getOutcome(usage('bug'))).toBe('unreadable')
    await expect.poll(() => lines.join('')).toContain('TypeError: deliberate test error')
    expect(await getOutcome(worker.ask('purge', { ids: [] }))).toBe('unreadable')
  })

  test('PV6 what the worker prints is logged and does not harm its answers', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'abc' })
    const { lines, worker } = startWorker({ folders })
    const { stat } = await worker.ask('stat', { at: { root: 'grant_1', path: 'a.txt' } })
    expect(stat.size).toBe(3)
    await expect.poll(() => lines.join('')).toContain('stat of a.txt')
  })

  test('PV3 hundreds of calls at once are all answered and leave nothing open', async () => {
    const { pid, read, write } = startWorker()
    const process = await pid()
    const open = () => fs.readdirSync(`/proc/${process}/fd`).length
    const before = open()
    await Promise.all(Array.from({ length: 300 }, (_, n) => write(`f${n}`, `content ${n}`)))
    const contents = await Promise.all(Array.from({ length: 300 }, (_, n) => read(`f${n}`)))
    expect(contents).toEqual(Array.from({ length: 300 }, (_, n) => `content ${n}`))
    await Promise.all(Array.from({ length: 100 }, (_, n) => getOutcome(read(`none${n}/x`))))
    expect(open()).toBe(before)
  })

  test('PV6 small reads pass long searches, and a search ends when nobody waits', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a' })
    const { pid, read, search } = startWorker({ folders })
    const ending = new AbortController()
    const searches = Array.from({ length: 5 }, () => getOutcome(search({ signal: ending.signal })))
    for (let n = 0; n < 20; n++) expect(await read('a.txt')).toBe('a')
    const before = await pid()
    ending.abort()
    expect(await Promise.all(searches)).toEqual(Array(5).fill('cancelled'))
    // The same worker goes on: it was told and did not have to be killed.
    expect(await pid()).toBe(before)
    expect(await getOutcome(read('a.txt', 'grant_1', { signal: ending.signal }))).toBe('cancelled')
  })

  test('PV6 a write that has begun is finished although its caller went away', async () => {
    const { pid, read, write } = startWorker()
    await pid()
    const leaving = new AbortController()
    const writing = write('slow.txt', 'whole', 'grant_1', { signal: leaving.signal })
    leaving.abort()
    expect((await writing).stat.size).toBe(5)
    expect(await read('slow.txt')).toBe('whole')
  })
})
