import { expect, test } from 'vitest'
import { testFolders } from '../../../test/roots.ts'
import { FileError } from '../confine/file-error.ts'
import { openRoots } from '../confine/roots.ts'
import { createGuard } from '../rules/guard.ts'
import type { OpMap } from './context.ts'
import { encodeFrame, isWithin } from './frames.ts'
import type { ReplyHead } from './protocol.ts'
import { createTimeSlicer, serve } from './serve.ts'

const emptyBody = Buffer.alloc(0)

/** Serves the given operations and records the replies in order. */
function startServer(ops: Partial<OpMap>) {
  const { setup } = testFolders()
  const replies: { head: ReplyHead; body: string | undefined }[] = []
  const loggedErrors: string[] = []
  const { receive, stop } = serve({
    ops: ops as OpMap,
    context: { roots: openRoots(setup), guard: createGuard(setup.guard), limits: setup.limits },
    send(head, body) {
      const isFitting = isWithin({ head: 1000, body: 10 }, encodeFrame(head, body))
      if (isFitting) replies.push({ head, body: body && Buffer.from(body).toString() })
      return isFitting
    },
    sendAndWait: async (head) => void replies.push({ head, body: undefined }),
    logError: (message) => void loggedErrors.push(message),
  })
  const ask = (id: number, op: string, input: unknown = {}) =>
    receive({ head: { id, op, ask: input }, body: emptyBody })
  return { replies, loggedErrors, receive, ask, stop }
}

const getId = (head: ReplyHead) => ('id' in head ? head.id : 0)

const usage = { files: 0, bytes: 0, folders: [], largest: [] }

test('PV6 sends an answer with a separate body, and an error with its code and path', async () => {
  const { replies, ask, stop } = startServer({
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
  await stop()
  expect(replies.toSorted((left, right) => getId(left.head) - getId(right.head))).toEqual([
    { head: { id: 1, answer: { entries: { paths: [], types: '' } } }, body: 'body' },
    { head: { id: 2, error: { code: 'not_found', message: 'There is nothing.', path: 'a/b' } } },
    // The message of the system names a path and is not sent.
    {
      head: { id: 3, error: { code: 'read_only_disk', message: 'The disk is mounted read-only.' } },
    },
  ])
})

test('PV6 logs an internal error and answers without its details', async () => {
  const { replies, loggedErrors, ask, stop } = startServer({
    usage: () => {
      throw new TypeError('x is not a function at /home/secret')
    },
  })
  ask(1, 'usage')
  ask(2, 'toString')
  await stop()
  expect(JSON.stringify(replies)).not.toContain('secret')
  expect(replies.map(({ head }) => ('error' in head ? head.error.code : '')).toSorted()).toEqual([
    'unreadable',
    'unreadable',
  ])
  expect(loggedErrors).toEqual([expect.stringContaining('TypeError: x is not a function')])
})

test('PV6 refuses an answer that is too large and keeps running', async () => {
  const { replies, loggedErrors, ask, stop } = startServer({
    list: () => ({ entries: { paths: [], types: '' }, body: Buffer.alloc(11) }),
    diff: () => ({ diff: '\u0001'.repeat(200), sensitive: false }),
    listTrash: () => ({ records: [] }),
  })
  ask(1, 'list')
  ask(2, 'diff')
  ask(3, 'listTrash')
  await stop()
  expect(replies.map(({ head }) => head)).toMatchObject([
    { id: 1, error: { code: 'too_large' } },
    { id: 2, error: { code: 'too_large' } },
    { id: 3, answer: { records: [] } },
  ])
  expect(loggedErrors).toEqual([])
})

test('PV6 lets a short operation pass a long one, and stops on cancel', async () => {
  const { replies, receive, ask, stop } = startServer({
    usage: async ({ yieldIfDue }, _ask, _body, cancelled) => {
      while (!cancelled()) await yieldIfDue()
      throw new FileError('cancelled', 'Stopped.')
    },
    listTrash: () => ({ records: [] }),
  })
  ask(1, 'usage')
  ask(2, 'listTrash')
  await expect.poll(() => replies.length).toBe(1)
  receive({ head: { cancel: 1 }, body: emptyBody })
  receive({ head: { cancel: 99 }, body: emptyBody })
  await stop()
  expect(replies.map(({ head }) => head)).toMatchObject([
    { id: 2, answer: { records: [] } },
    { id: 1, error: { code: 'cancelled' } },
  ])
})

test('PV6 cancels running calls on stop and waits for them', async () => {
  const { replies, ask, stop } = startServer({
    usage: async ({ yieldIfDue }, _ask, _body, cancelled) => {
      while (!cancelled()) await yieldIfDue()
      return usage
    },
  })
  ask(1, 'usage')
  await stop()
  expect(replies).toMatchObject([{ head: { id: 1, answer: usage } }])
})

test('PV6 resumes one long operation per event loop round, with new requests in between', async () => {
  let now = 0
  const { startSlice, yieldIfDue } = createTimeSlicer(() => now)
  const order: string[] = []
  const runLong = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      now += 10
      await yieldIfDue()
      order.push(name)
    }
  }
  startSlice()
  const all = Promise.all(['a', 'b', 'c'].map(runLong))
  for (let round = 0; round < 9; round++) {
    await new Promise(setImmediate)
    order.push('.')
  }
  await all
  const resumedByRound = order.join('').split('.')
  expect(order.filter((name) => name !== '.').join('')).toBe('abcabcabc')
  for (const resumed of resumedByRound) expect(resumed.length).toBeLessThanOrEqual(2)
})

test('PV6 does not wait within the time slice', async () => {
  const { startSlice, yieldIfDue } = createTimeSlicer(() => 0)
  startSlice()
  let hasWaited = false
  setImmediate(() => (hasWaited = true))
  for (let step = 0; step < 100; step++) await yieldIfDue()
  expect(hasWaited).toBe(false)
})
