import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive, getOutcome, startWorker } from '../../test/file-worker/started.ts'
import { fill, pinnedRoot, testFolders } from '../../test/roots.ts'
import type { TestFolders } from '../../test/roots.ts'

describe('grants that come and go', () => {
  const another = (folders: TestFolders) => {
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
    const { folders, roots, worker, pid, read, write } = startWorker()
    const before = await pid()
    const writing = write('slow.txt', 'whole')
    await worker.setRoots([...roots, another(folders)])
    expect(await read('b.txt', 'grant_2')).toBe('b')
    expect(await pid()).not.toBe(before)
    expect((await writing).stat.size).toBe(5)
    await expect.poll(() => isAlive(before)).toBe(false)
  })

  test('GR6 of many changes at once the last one counts', async () => {
    const { folders, roots, worker, read } = startWorker()
    const root = another(folders)
    await Promise.all([
      worker.setRoots([...roots, root]),
      worker.setRoots(roots),
      worker.setRoots([...roots, root]),
    ])
    expect(await read('b.txt', 'grant_2')).toBe('b')
  })

  test('GR4 revoking ends what works under the grant, and the process; others do not notice', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a' })
    const { roots, worker, pid, read, write, search, probe } = startWorker({
      folders,
      landlock: true,
      extraRoots: [another(folders)],
    })
    const before = await pid()
    const leaving = new AbortController()
    const theirs = getOutcome(search({ grants: ['grant_2'] }))
    const ours = getOutcome(search({ grants: ['grant_1'], signal: leaving.signal }))
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
    expect(await getOutcome(read('b.txt', 'grant_2'))).toBe('no_grant')
    expect(await probe(join(folders.top, 'another/b.txt'))).toMatchObject({ sync: 'EACCES' })
    leaving.abort()
    expect(await ours).toBe('cancelled')
  })

  test('GR4 a write that has begun is done although its grant is revoked, and says so', async () => {
    const folders = testFolders()
    const { roots, worker, pid, write } = startWorker({ folders, extraRoots: [another(folders)] })
    await pid()
    const writing = write('slow.txt', 'whole', 'grant_2', { grants: ['grant_2'] })
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect((await writing).stat.size).toBe(5)
    expect(fs.readFileSync(join(folders.top, 'another/slow.txt'), 'utf8')).toBe('whole')
  })

  test('GR4 one that has done nothing by then is refused', async () => {
    const folders = testFolders()
    const { roots, lines, worker, pid, write } = startWorker({
      folders,
      extraRoots: [another(folders)],
    })
    await pid()
    const stuck = getOutcome(write('stuck', 'x', 'grant_2', { grants: ['grant_2'] }))
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(await stuck).toBe('no_grant')
    // The killed worker could not clean up, so the log names the folder.
    const logLine = lines.find((line) => line.includes('temporary files may remain'))
    expect(logLine).toContain(join(folders.top, 'another'))
    expect(fs.readdirSync(join(folders.top, 'another'))).toEqual(['b.txt'])
  })

  test('GR4 a write that waits for its entry is refused, and its temporary file goes', async () => {
    const folders = testFolders()
    const { roots, worker, pid, write } = startWorker({ folders, extraRoots: [another(folders)] })
    await pid()
    const entry = Promise.withResolvers<void>()
    const held = getOutcome(
      write('new.txt', 'x', 'grant_2', { grants: ['grant_2'], recordStart: () => entry.promise }),
    )
    const names = () => fs.readdirSync(join(folders.top, 'another'))
    await expect.poll(() => names().join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    entry.resolve()
    expect(await held).toBe('no_grant')
    expect(names()).toEqual(['b.txt'])
  })

  test('GR4 another agent’s write that waits for its entry is restarted', async () => {
    const folders = testFolders()
    const { roots, worker, pid, write } = startWorker({ folders, extraRoots: [another(folders)] })
    const before = await pid()
    const entry = Promise.withResolvers<void>()
    const held = write('new.txt', 'x', 'grant_1', {
      grants: ['grant_1'],
      recordStart: () => entry.promise,
    })
    await expect.poll(() => fs.readdirSync(folders.granted).join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(isAlive(before)).toBe(false)
    entry.resolve()
    expect((await held).stat.size).toBe(1)
    expect(fs.existsSync(join(folders.granted, 'new.txt'))).toBe(true)
  })

  test('GR4 one that is ended leaves no hidden file in a folder that is open no more', async () => {
    const folders = testFolders()
    const { roots, worker, pid, write } = startWorker({
      folders,
      landlock: true,
      extraRoots: [another(folders)],
    })
    await pid()
    const lasting = getOutcome(write('lasting', 'x', 'grant_2', { grants: ['grant_2'] }))
    const names = () => fs.readdirSync(join(folders.top, 'another'))
    await expect.poll(() => names().join()).toMatch(/\.tmp/)
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(await lasting).toBe('no_grant')
    expect(names()).toEqual(['b.txt'])
  })

  test('GR4 another agent’s write that outlasts the revocation and has changed nothing is restarted', async () => {
    const folders = testFolders()
    const { roots, worker, pid, read, write } = startWorker({
      folders,
      extraRoots: [another(folders)],
    })
    const before = await pid()
    const writing = write('late.txt', 'whole', 'grant_1', { grants: ['grant_1'] })
    await worker.revoke(['grant_2'], roots.slice(0, -1))
    expect(isAlive(before)).toBe(false)
    expect((await writing).stat.size).toBe(5)
    expect(await read('late.txt')).toBe('whole')
  })

  test('PV9 files that were put in the place of others need no other worker', async () => {
    const folders = testFolders()
    const { file, replaced } = single(folders.granted)
    const { roots, worker, pid, read } = startWorker({
      folders,
      landlock: true,
      extraRoots: [file],
    })
    const before = await pid()
    for (const content of ['two', 'three']) {
      const next = [...roots.slice(0, -1), replaced(content)]
      expect(await getOutcome(read('', 'single'))).toBe('root_replaced')
      await worker.setRoots(next)
      expect(await read('', 'single')).toBe(content)
    }
    expect(await pid()).toBe(before)
  })

  test('PV9 nor while one is starting, which is told when it is there', async () => {
    const folders = testFolders()
    const { file, replaced } = single(folders.granted)
    const { roots, worker, pid, read } = startWorker({ folders, extraRoots: [file] })
    await pid()
    const more = [...roots, another(folders)]
    const added = worker.setRoots(more)
    await worker.setRoots(more.map((root) => (root.key === 'single' ? replaced('two') : root)))
    expect(await read('', 'single')).toBe('two')
    await added
    expect(await read('', 'single')).toBe('two')
    expect(await read('b.txt', 'grant_2')).toBe('b')
  })

  test('PV9 where the wall keeps the worker from them another is started, once for many', async () => {
    const folders = testFolders()
    const { file, replaced } = single(folders.outside)
    const { roots, worker, pid, read, probe } = startWorker({
      folders,
      landlock: true,
      extraRoots: [file],
    })
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
