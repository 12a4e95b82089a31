import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { systemActor } from '#base/entry.ts'
import { silentLog } from '#base/log.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createLiveStream } from './live.ts'
import type { LiveStream } from './live.ts'

const person: Caller = { kind: 'human', id: 'owner', session: 's', verified: true, scopes: ['*'] }
const agent: Caller = { ...person, kind: 'agent', id: 'ada' }

let ledger: TestLedger
let live: LiveStream
let server: ReturnType<typeof createServer>
/** The callers of the next listeners, and whether their credentials are valid. */
let caller = person
let isKnown = true
let refusals: string[] = []

beforeEach(async () => {
  ledger = await openTestLedger()
  live = createLiveStream({ ledger: ledger.ledger, log: silentLog })
  caller = person
  isKnown = true
  refusals = []
  server = createServer((request, response: ServerResponse) => {
    const after = request.headers['last-event-id']
    const listening = {
      caller,
      conditions: {},
      after: after === undefined ? undefined : Number(after),
      identify: () => (isKnown ? Promise.resolve(caller) : Promise.reject(new Error('unknown'))),
      credential: 'one',
    }
    live.open(listening, response).catch((error: { code: string }) => {
      refusals.push(error.code)
      response.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  live.close()
  server.closeAllConnections()
  server.close()
  await ledger.close()
})

const large = 'x'.repeat(50_000)
const record = (count: number, note = large) =>
  ledger.ledger.transact(async (tx) => {
    for (let i = 0; i < count; i++)
      tx.append({ type: 'thing.done', actor: systemActor, data: { note } })
  })

type Reading = {
  readonly socket: Socket
  text(): string
  ids(): number[]
  readonly closed: Promise<unknown>
}

async function open(after?: number): Promise<Reading> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const closed = once(socket, 'close')
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const resume = after === undefined ? '' : `Last-Event-ID: ${after}\r\n`
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${resume}\r\n`)
  await Promise.race([once(socket, 'data'), closed])
  const ids = () => [...text.matchAll(/id: (\d+)\nevent: entry\n/g)].map(([, id]) => Number(id))
  return { socket, text: () => text, ids, closed }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('SV23 a listener that does not read is disconnected, delays nobody, and can resume', async () => {
  const deaf = await open()
  const other = await open()
  deaf.socket.pause()
  let written = 0
  // More than the kernel buffers.
  while (live.listenerCount() === 2 && written < 2000) {
    await record(20)
    written += 20
    await expect.poll(() => other.ids().at(-1)).toBe(written)
  }
  expect(live.listenerCount()).toBe(1)
  deaf.socket.resume()
  await deaf.closed
  const last = deaf.ids().at(-1) ?? 0
  expect(deaf.ids()).toEqual(numbers(1, last))
  const back = await open(last)
  await expect.poll(() => back.ids().at(-1)).toBe(written)
  expect([...deaf.ids(), ...back.ids()]).toEqual(numbers(1, written))
  expect(other.ids()).toEqual(numbers(1, written))
})

test('SV23 a slow listener is not disconnected while it catches up', async () => {
  await record(400)
  const slow = await open(0)
  for (let i = 0; i < 20; i++) {
    slow.socket.pause()
    await record(1)
    await new Promise((turn) => setTimeout(turn, 20))
    slow.socket.resume()
    await new Promise((turn) => setImmediate(turn))
  }
  await expect.poll(() => slow.ids().at(-1), { timeout: 10_000 }).toBe(420)
  expect(slow.ids()).toEqual(numbers(1, 420))
  expect(live.listenerCount()).toBe(1)
})

test('SV23 an idle stream sends heartbeats, and ends at a heartbeat after its credential', async () => {
  live.close()
  live = createLiveStream({ ledger: ledger.ledger, log: silentLog, heartbeatMs: 20 })
  const listener = await open()
  await expect.poll(listener.text).toMatch(/(:\n\n[^:]*){3}/)
  expect(live.listenerCount()).toBe(1)
  isKnown = false
  await listener.closed
  expect(live.listenerCount()).toBe(0)
})

test.each(['agent.revoked', 'session.ended', 'person.removed'])(
  'SV23 after %s all credentials are checked again, and invalid ones receive nothing',
  async (type) => {
    const listener = await open()
    isKnown = false
    await ledger.ledger.record({ type, actor: systemActor })
    await listener.closed
    expect(listener.ids()).toEqual([])
    expect(live.listenerCount()).toBe(0)
  },
)

test('SV25 the streams of an agent are limited, and a stopping daemon opens none', async () => {
  caller = agent
  await Promise.all(Array.from({ length: 64 }, () => open()))
  await open()
  expect(refusals).toEqual(['too_many_listeners'])
  caller = person
  await open()
  expect(live.listenerCount()).toBe(65)
  live.close()
  await open()
  expect(refusals).toEqual(['too_many_listeners', 'shutting_down'])
  expect(live.listenerCount()).toBe(0)
})

test('L11 the ledger is followed while listeners exist, and again for the next listener', async () => {
  await record(3, '')
  const first = await open()
  await record(1, '')
  await expect.poll(first.ids).toEqual([4])
  first.socket.destroy()
  await expect.poll(live.listenerCount).toBe(0)
  await record(2, '')
  const next = await open(4)
  await record(1, '')
  await expect.poll(next.ids).toEqual([5, 6, 7])
})
