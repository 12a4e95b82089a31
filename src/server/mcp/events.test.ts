import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createEventStore } from './events.ts'

const message = (text: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'x',
  params: { text },
})

test('SV10 a broken stream resumes after the last event, without events of other streams', async () => {
  const store = createEventStore()
  const last = await store.storeEvent('a', message('1'))
  await store.storeEvent('b', message('of another stream'))
  const next = await store.storeEvent('a', message('2'))
  const sent: unknown[] = []
  const stream = await store.replayEventsAfter(last, {
    send: async (id, event) => void sent.push([id, event]),
  })
  expect(stream).toBe('a')
  expect(sent).toEqual([[next, message('2')]])
})

test('SV10 stored events are bounded, and a deleted event is an error', async () => {
  const store = createEventStore()
  const first = await store.storeEvent('a', message('x'))
  for (let at = 0; at < 20; at++) await store.storeEvent('a', message('x'.repeat(20_000)))
  expect(await store.getStreamIdForEventId?.(first)).toBeUndefined()
  await expect(store.replayEventsAfter(first, { send: async () => undefined })).rejects.toThrow(
    'no longer stored',
  )
  const huge = await store.storeEvent('a', message('x'.repeat(1_000_000)))
  expect(await store.getStreamIdForEventId?.(huge)).toBe('a')
})
