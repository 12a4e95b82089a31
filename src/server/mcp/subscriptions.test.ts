import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createSubscriptions } from './subscriptions.ts'

const nobody = { identify: () => Promise.reject(new Error('nobody is asked for')) }

/** A stream that is open, whose other end is the test's. */
async function openStream() {
  const listens = createSubscriptions({ identity: nobody as never })
  let end: ReadableStreamDefaultController<Uint8Array> | undefined
  let cancelled = 0
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (end = controller),
    cancel() {
      cancelled++
      throw new Error('it does not let go')
    },
  })
  const headers = { 'content-type': 'text/event-stream' }
  const answer = () => Promise.resolve(new Response(body, { headers }))
  const { signal } = new AbortController()
  const response = await listens.stream({}, { address: 'x' }, signal, answer)
  return {
    reader: response.body?.getReader(),
    end,
    open: () => [...listens.streams()],
    cancelled: () => cancelled,
  }
}

test('SV10 a stream that breaks is over: nobody waits for it, and nobody ends it twice', async () => {
  const { reader, end, open } = await openStream()
  expect(open()).toHaveLength(1)
  end?.error(new Error('the line broke'))
  await expect(reader?.read()).rejects.toThrow('the line broke')
  expect(open()).toEqual([])
})

test('SV10 a stream whose source does not let go ends all the same', async () => {
  const { reader, open, cancelled } = await openStream()
  const [stream] = open()
  // An unhandled rejection would end the run.
  stream?.end()
  await turn()
  expect(open()).toEqual([])
  expect(cancelled()).toBe(1)
  expect(await reader?.read()).toEqual({ done: true, value: undefined })
})
