import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createSubscriptions } from './subscriptions.ts'

const nobody = { identify: () => Promise.reject(new Error('nobody is asked for')) }

/** Opens a stream whose source the test controls. */
async function openStream() {
  const subscriptions = createSubscriptions({ identity: nobody as never })
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
  const response = await subscriptions.stream({}, { address: 'x' }, signal, answer)
  return {
    reader: response.body?.getReader(),
    end,
    open: () => [...subscriptions.streams()],
    cancelled: () => cancelled,
  }
}

test('SV10 a broken stream ends once', async () => {
  const { reader, end, open } = await openStream()
  expect(open()).toHaveLength(1)
  end?.error(new Error('the line broke'))
  await expect(reader?.read()).rejects.toThrow('the line broke')
  expect(open()).toEqual([])
})

test('SV10 a stream ends even if its source never finishes', async () => {
  const { reader, open, cancelled } = await openStream()
  const [stream] = open()
  // An unhandled rejection would end the run.
  stream?.end()
  await turn()
  expect(open()).toEqual([])
  expect(cancelled()).toBe(1)
  expect(await reader?.read()).toEqual({ done: true, value: undefined })
})
