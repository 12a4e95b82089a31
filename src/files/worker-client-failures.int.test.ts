import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive, getOutcome, startWorker } from '../../test/file-worker/started.ts'
import { fill, testFolders } from '../../test/roots.ts'

const orphanEntry = join(import.meta.dirname, '../../test/file-worker/orphan.ts')

describe('a worker that fails', () => {
  test('PV6 one that is stuck is ended at the deadline, and what others asked is repeated', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a' })
    const { usage, pid, read } = startWorker({ folders })
    const before = await pid()
    const stuck = getOutcome(usage('stall', { deadlineMs: 50 }))
    const behind = read('a.txt')
    expect(await stuck).toBe('timeout')
    expect(await behind).toBe('a')
    expect(await pid()).not.toBe(before)
  })

  test('PV6 signals that are meant for the daemon leave it at its work: Ctrl-C goes to both', async () => {
    const { pid, write } = startWorker()
    const before = await pid()
    const writing = write('slow.txt', 'whole')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(before, signal)
    expect((await writing).stat.size).toBe(5)
    expect(await pid()).toBe(before)
  })

  test('PV6 a write that hangs is ended at the deadline too', async () => {
    const { pid, read, write } = startWorker()
    await pid()
    // It had not said what it would come to, so nothing can have come of it.
    expect(await getOutcome(write('stuck', 'x', 'grant_1', { deadlineMs: 50 }))).toBe('timeout')
    await write('after', 'well')
    expect(await read('after')).toBe('well')
  })

  test('PV6 a write that is done a little after its deadline is answered as done', async () => {
    const { pid, read, write } = startWorker()
    await pid()
    expect((await write('slow.txt', 'whole', 'grant_1', { deadlineMs: 50 })).stat.size).toBe(5)
    expect(await read('slow.txt')).toBe('whole')
  })

  test('PV6 a call whose deadline comes while it waits is answered, and nothing is ended', async () => {
    const { lines, usage, pid } = startWorker()
    expect(await getOutcome(usage('', { deadlineMs: 1 }))).toBe('timeout')
    expect(await pid()).toBeGreaterThan(0)
    expect(lines.join('')).not.toContain('stuck')
  })

  test('PV6 a read is repeated after a crash, and a write that had not said what it comes to', async () => {
    const { folders, worker, write } = startWorker()
    const mark = join(folders.top, 'crashed')
    const crashing = worker.ask('usage', { at: { root: mark, path: 'crash once' }, depth: 0 })
    const writing = write('slow.txt', 'x')
    expect((await crashing).files).toBeGreaterThan(0)
    expect((await writing).stat.size).toBe(1)
  })

  test('PV6 a read that ends every worker is given up, and others are served', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a' })
    const { usage, read } = startWorker({ folders })
    expect(await getOutcome(usage('crash'))).toBe('unreadable')
    expect(await read('a.txt')).toBe('a')
  })

  test('PV6 a worker that sends an invalid answer is ended and replaced', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'a.txt': 'a' })
    const { usage, pid, read } = startWorker({ folders })
    const before = await pid()
    await getOutcome(usage('babble'))
    expect(await read('a.txt')).toBe('a')
    expect(isAlive(before)).toBe(false)
  })

  test('PV6 the worker ends when the daemon is killed', async () => {
    const daemon = spawn(process.execPath, [orphanEntry], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [chunk] = (await once(daemon.stdout, 'data')) as [Buffer]
    const orphan = Number(chunk.toString())
    expect(isAlive(orphan)).toBe(true)
    daemon.kill('SIGKILL')
    await expect.poll(() => isAlive(orphan)).toBe(false)
  })

  test('PV6 closing answers who waits and leaves no process', async () => {
    const { worker, pid, write, search } = startWorker()
    const process = await pid()
    const searching = getOutcome(search())
    const writing = write('slow.txt', 'whole')
    await worker.close()
    expect(await searching).toMatch(/cancelled|interrupted/)
    expect((await writing).stat.size).toBe(5)
    expect(isAlive(process)).toBe(false)
    expect(await getOutcome(pid())).toBe('interrupted')
  })
})
