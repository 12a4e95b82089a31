import { expect, test } from 'vitest'
import { testFolders } from '../../../test/roots.ts'
import { FileError } from '../confine/file-error.ts'
import { openRoots } from '../confine/roots.ts'
import { createGuard } from '../rules/guard.ts'
import type { OpMap } from './context.ts'
import { encodeFrame, isWithin } from './frames.ts'
import type { ReplyHead } from './protocol.ts'
import { createTimeSlicer, serve } from './serve.ts'

const nothing = Buffer.alloc(0)

/** Serves a few operations and keeps what is answered, in its order. */
function serving(ops: Partial<OpMap>) {
  const { setup } = testFolders()
  const replies: { head: ReplyHead; body: string | undefined }[] = []
  const complaints: string[] = []
  const { receive, stop } = serve({
    ops: ops as OpMap,
    context: { roots: openRoots(setup), guard: createGuard(setup.guard), limits: setup.limits },
    send(head, body) {
      const isFitting = isWithin({ head: 1000, body: 10 }, encodeFrame(head, body))
      if (isFitting) replies.push({ head, body: body && Buffer.from(body).toString() })
      return isFitting
    },
    sendAndWait: async (head) => void replies.push({ head, body: undefined }),
    logError: (message) => void complaints.push(message),
  })
  const ask = (id: number, op: string, about: unknown = {}) =>
    receive({ head: { id, op, ask: about }, body: nothing })
  return { replies, complaints, take: receive, ask, end: stop }
}

const idOf = (head: ReplyHead) => ('id' in head ? head.id : 0)

const usage = { files: 0, bytes: 0, folders: [], largest: [] }

test('PV6 an answer goes out with its body apart, a fault with its code and path', async () => {
  const { replies, ask, end } = serving({
    list: () => ({ entries: { paths: [], types: '' }, body: Buffer.from('body') }),
    usage: () => {
      throw new FileError('not_found', 'There is nothing.', 'a/b')
    },
    stat: () => {
      throw Object.assign(new Error('EROFS: /home/secret'), { code: 'EROFS' })
    },
  })
  ask(1, 'list')
  ask(2, 'usage')
  ask(3, 'stat')
  await end()
  expect(replies.toSorted((one, other) => idOf(one.head) - idOf(other.head))).toEqual([
    { head: { id: 1, answer: { entries: { paths: [], types: '' } } }, body: 'body' },
    { head: { id: 2, fault: { code: 'not_found', message: 'There is nothing.', path: 'a/b' } } },
    // The system's own words name paths, and stay here.
    {
      head: { id: 3, fault: { code: 'read_only_disk', message: 'The disk is mounted read-only.' } },
    },
  ])
})

test('PV6 a bug is complained of and answered without its details', async () => {
  const { replies, complaints, ask, end } = serving({
    usage: () => {
      throw new TypeError('x is not a function at /home/secret')
    },
  })
  ask(1, 'usage')
  ask(2, 'toString')
  await end()
  expect(JSON.stringify(replies)).not.toContain('secret')
  expect(replies.map(({ head }) => ('fault' in head ? head.fault.code : '')).toSorted()).toEqual([
    'unreadable',
    'unreadable',
  ])
  expect(complaints).toEqual([expect.stringContaining('TypeError: x is not a function')])
})

test('PV6 an answer that is too large is refused here and does not end the worker', async () => {
  const { replies, complaints, ask, end } = serving({
    list: () => ({ entries: { paths: [], types: '' }, body: Buffer.alloc(11) }),
    diff: () => ({ diff: '\u0001'.repeat(200), sensitive: false }),
    trashed: () => ({ records: [] }),
  })
  ask(1, 'list')
  ask(2, 'diff')
  ask(3, 'trashed')
  await end()
  expect(replies.map(({ head }) => head)).toMatchObject([
    { id: 1, fault: { code: 'too_large' } },
    { id: 2, fault: { code: 'too_large' } },
    { id: 3, answer: { records: [] } },
  ])
  expect(complaints).toEqual([])
})

test('PV6 a long operation lets a short one pass, and stops when it is cancelled', async () => {
  const { replies, take, ask, end } = serving({
    usage: async ({ yieldIfDue }, _ask, _body, cancelled) => {
      while (!cancelled()) await yieldIfDue()
      throw new FileError('cancelled', 'Stopped.')
    },
    trashed: () => ({ records: [] }),
  })
  ask(1, 'usage')
  ask(2, 'trashed')
  await expect.poll(() => replies.length).toBe(1)
  take({ head: { cancel: 1 }, body: nothing })
  take({ head: { cancel: 99 }, body: nothing })
  await end()
  expect(replies.map(({ head }) => head)).toMatchObject([
    { id: 2, answer: { records: [] } },
    { id: 1, fault: { code: 'cancelled' } },
  ])
})

test('PV6 the end waits for what runs and tells it to stop', async () => {
  const { replies, ask, end } = serving({
    usage: async ({ yieldIfDue }, _ask, _body, cancelled) => {
      while (!cancelled()) await yieldIfDue()
      return usage
    },
  })
  ask(1, 'usage')
  await end()
  expect(replies).toMatchObject([{ head: { id: 1, answer: usage } }])
})

test('PV6 of many long operations one goes on after each round, and what arrives comes in between', async () => {
  let now = 0
  const { startSlice, yieldIfDue } = createTimeSlicer(() => now)
  const order: string[] = []
  const long = async (name: string) => {
    for (let piece = 0; piece < 3; piece++) {
      now += 10
      await yieldIfDue()
      order.push(name)
    }
  }
  startSlice()
  const all = Promise.all(['a', 'b', 'c'].map(long))
  for (let round = 0; round < 9; round++) {
    await new Promise(setImmediate)
    order.push('.')
  }
  await all
  const between = order.join('').split('.')
  expect(order.filter((name) => name !== '.').join('')).toBe('abcabcabc')
  for (const went of between) expect(went.length).toBeLessThanOrEqual(2)
})

test('PV6 within its share an operation goes on at once', async () => {
  const { startSlice, yieldIfDue } = createTimeSlicer(() => 0)
  startSlice()
  let hasWaited = false
  setImmediate(() => (hasWaited = true))
  for (let piece = 0; piece < 100; piece++) await yieldIfDue()
  expect(hasWaited).toBe(false)
})
