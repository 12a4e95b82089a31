import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBridgeSession } from './bridge-session.ts'

type Message = {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string; readonly data: unknown }
}

const line = (message: object) => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const outage = { code: 'daemon_not_running', message: 'Not running.', hint: 'Start one.' }

/** Opens a session; `toClient` and `toDaemon` return the messages since the last call. */
function openSession() {
  const client: Message[] = []
  const daemon: Message[] = []
  const read = (text: string | Buffer) => JSON.parse(text.toString()) as Message
  const session = createBridgeSession({
    toClient: (text) => void client.push(read(text)),
    toDaemon: (text) => void daemon.push(read(text)),
    outage: () => outage,
  })
  session.connect()
  return {
    session,
    fromClient: (message: object) => session.fromClient(line(message)),
    fromDaemon: (message: object) => session.fromDaemon(line(message)),
    toClient: () => client.splice(0),
    toDaemon: () => daemon.splice(0),
  }
}

const initialize = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }
const capabilities = {
  tools: { listChanged: true },
  prompts: {},
  resources: { listChanged: true },
}
const call = (id: number | string) => ({ id, method: 'tools/call', params: { name: 'x' } })

function openLegacy() {
  const parts = openSession()
  parts.fromClient(initialize)
  parts.fromDaemon({ id: 0, result: { capabilities } })
  parts.fromClient({ method: 'notifications/initialized' })
  parts.toClient()
  parts.toDaemon()
  return parts
}

/** Connects a new daemon, answers the repeated handshake and returns the other messages. */
function reconnectLegacy({ session, fromDaemon, toDaemon }: ReturnType<typeof openSession>) {
  session.connect()
  const [first, ...none] = toDaemon()
  expect(first).toMatchObject({ method: 'initialize', params: initialize.params })
  expect(none).toEqual([])
  fromDaemon({ id: first?.id, result: { capabilities } })
  const [second, ...rest] = toDaemon()
  expect(second).toEqual({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return rest
}

test('RA4 an open call fails with outcome_unknown, as text and as data', () => {
  const { session, fromClient, toClient } = openLegacy()
  fromClient(call(1))
  session.disconnect()
  const [answer] = toClient()
  expect(answer).toMatchObject({
    id: 1,
    result: {
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('outcome is unknown') as string }],
      structuredContent: { code: 'outcome_unknown' },
    },
  })
  expect(answer?.result).not.toHaveProperty('resultType')
})

test('RA4 in the current protocol the answer names its type', () => {
  const { session, fromClient, toClient } = openSession()
  fromClient(call('a'))
  session.disconnect()
  expect(toClient()).toMatchObject([{ id: 'a', result: { resultType: 'complete' } }])
})

test('RA4 other open requests get an error, and a ping its response', () => {
  const { session, fromClient, toClient } = openLegacy()
  fromClient({ id: 1, method: 'tools/list' })
  fromClient({ id: 2, method: 'ping' })
  session.disconnect()
  expect(toClient()).toMatchObject([
    { id: 1, error: { code: -32000, data: { code: 'outcome_unknown' } } },
    { id: 2, result: {} },
  ])
})

test('RA4 answered and cancelled requests are not open', () => {
  const { session, fromClient, fromDaemon, toClient, toDaemon } = openLegacy()
  fromClient(call(1))
  fromDaemon({ id: 1, result: {} })
  fromClient(call(2))
  fromClient({ method: 'notifications/cancelled', params: { requestId: 2 } })
  expect(toDaemon().map(({ method }) => method)).toEqual([
    'tools/call',
    'tools/call',
    'notifications/cancelled',
  ])
  expect(toClient()).toHaveLength(1)
  session.disconnect()
  expect(toClient()).toEqual([])
})

test('RA4 a new connection gets the handshake first, and the client is notified of possible list changes', () => {
  const parts = openLegacy()
  parts.session.disconnect()
  parts.fromClient(call(1))
  expect(reconnectLegacy(parts)).toMatchObject([{ id: 1, method: 'tools/call' }])
  expect(parts.toClient().map(({ method }) => method)).toEqual([
    'notifications/tools/list_changed',
    'notifications/resources/list_changed',
  ])
})

test('RA4 a queued request can be cancelled, and no daemon gets either message', () => {
  const parts = openLegacy()
  parts.session.disconnect()
  parts.fromClient(call(1))
  parts.fromClient({ method: 'notifications/cancelled', params: { requestId: 1 } })
  expect(parts.session.queuedBytes()).toBe(0)
  expect(reconnectLegacy(parts)).toEqual([])
})

test('RA4 without a daemon, queued requests fail with the outage, and later ones immediately', () => {
  const parts = openLegacy()
  parts.session.disconnect()
  parts.fromClient(call(1))
  expect(parts.toClient()).toEqual([])
  parts.session.giveUp()
  parts.fromClient({ id: 2, method: 'tools/list' })
  expect(parts.toClient()).toMatchObject([
    { id: 1, result: { isError: true, structuredContent: outage } },
    { id: 2, error: { message: 'Not running. Start one.', data: outage } },
  ])
  expect(reconnectLegacy(parts)).toEqual([])
  parts.session.giveUp()
  parts.fromClient(call(3))
  expect(parts.toDaemon()).toMatchObject([{ id: 3 }])
})

test('RA4 an unanswered initialize is sent again, and its response goes to the client', () => {
  const { session, fromClient, fromDaemon, toClient, toDaemon } = openSession()
  fromClient(initialize)
  toDaemon()
  session.disconnect()
  session.connect()
  expect(toDaemon()).toMatchObject([{ id: 0, method: 'initialize' }])
  fromDaemon({ id: 0, result: { capabilities } })
  expect(toClient()).toMatchObject([{ id: 0, result: {} }])
})

test('RA4 legacy subscriptions are renewed without a response to the client', () => {
  const parts = openLegacy()
  const subscribe = (id: number, method: string, uri: string) => {
    parts.fromClient({ id, method, params: { uri } })
    parts.fromDaemon({ id, result: {} })
  }
  subscribe(1, 'resources/subscribe', 'a:1')
  subscribe(2, 'resources/subscribe', 'b:1')
  subscribe(3, 'resources/unsubscribe', 'a:1')
  parts.toDaemon()
  parts.session.disconnect()
  parts.toClient()
  const [again, ...rest] = reconnectLegacy(parts)
  expect(again).toMatchObject({ method: 'resources/subscribe', params: { uri: 'b:1' } })
  expect(rest).toEqual([])
  parts.fromDaemon({ id: again?.id, result: {} })
  expect(parts.toClient().at(-1)).toMatchObject({
    method: 'notifications/resources/updated',
    params: { uri: 'b:1' },
  })
})

test('RA4 an open subscriptions/listen continues and reports possible changes', () => {
  const { session, fromClient, fromDaemon, toClient, toDaemon } = openSession()
  const listen = { id: 'listen:0', method: 'subscriptions/listen', params: { notifications: {} } }
  const meta = { 'io.modelcontextprotocol/subscriptionId': 'listen:0' }
  const acknowledged = {
    method: 'notifications/subscriptions/acknowledged',
    params: {
      _meta: meta,
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a:1'] },
    },
  }
  fromClient(listen)
  fromDaemon(acknowledged)
  expect(toClient()).toMatchObject([acknowledged])
  toDaemon()
  session.disconnect()
  session.giveUp()
  expect(toClient()).toEqual([])
  session.connect()
  expect(toDaemon()).toMatchObject([listen])
  fromDaemon(acknowledged)
  expect(toClient()).toMatchObject([
    { method: 'notifications/tools/list_changed', params: { _meta: meta } },
    { method: 'notifications/resources/updated', params: { uri: 'a:1', _meta: meta } },
  ])
  fromClient({ method: 'notifications/cancelled', params: { requestId: 'listen:0' } })
  toDaemon()
  session.disconnect()
  session.connect()
  expect(toDaemon()).toEqual([])
})

test('RA4 a response to a request of a stopped daemon reaches no other daemon', () => {
  const parts = openLegacy()
  const request = { id: 0, method: 'elicitation/create', params: {} }
  parts.fromDaemon(request)
  expect(parts.toClient()).toMatchObject([{ id: 0 }])
  parts.session.disconnect()
  expect(parts.toClient()).toMatchObject([
    { method: 'notifications/cancelled', params: { requestId: 0 } },
  ])
  reconnectLegacy(parts)
  parts.toClient()
  parts.fromDaemon(request)
  const [shown] = parts.toClient()
  expect(shown).toMatchObject({ id: 1, method: 'elicitation/create' })
  parts.fromClient({ id: 0, result: { action: 'accept' } })
  expect(parts.toDaemon()).toEqual([])
  parts.fromClient({ id: 1, result: { action: 'decline' } })
  parts.fromClient({ id: 1, result: { action: 'accept' } })
  expect(parts.toDaemon()).toEqual([{ jsonrpc: '2.0', id: 0, result: { action: 'decline' } }])
})

test('RA4 a request that the daemon cancels is cancelled by the id of the client', () => {
  const parts = openLegacy()
  parts.fromDaemon({ id: 0, method: 'ping' })
  parts.session.disconnect()
  reconnectLegacy(parts)
  parts.fromDaemon({ id: 0, method: 'ping' })
  parts.toClient()
  parts.fromDaemon({ method: 'notifications/cancelled', params: { requestId: 0 } })
  expect(parts.toClient()).toMatchObject([{ params: { requestId: 1 } }])
})

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('ask' as const), id: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('answer' as const), id: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), id: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ act: 'lose' as const }, { act: 'give up' as const }),
  },
)

test('RA4 in any sequence, each request gets exactly one response, or none if cancelled', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { session, fromClient, fromDaemon, toClient, toDaemon } = openSession()
      let isConnected = true
      /** Open requests of the client, and those at the daemon. */
      const expected = new Set<number>()
      const atDaemon = new Set<unknown>()
      const drain = () => {
        for (const { id, method } of toDaemon()) if (method === 'tools/call') atDaemon.add(id)
        for (const { id } of toClient()) expect(expected.delete(id as number)).toBe(true)
      }
      const connect = () => {
        session.connect()
        isConnected = true
      }
      for (const step of steps) {
        if (step.act === 'ask' && !expected.has(step.id)) {
          expected.add(step.id)
          fromClient(call(step.id))
        } else if (step.act === 'answer' && atDaemon.delete(step.id)) {
          fromDaemon({ id: step.id, result: {} })
        } else if (step.act === 'cancel' && expected.delete(step.id)) {
          fromClient({ method: 'notifications/cancelled', params: { requestId: step.id } })
          atDaemon.delete(step.id)
        } else if (step.act === 'give up') session.giveUp()
        else if (step.act === 'lose' && isConnected) {
          session.disconnect()
          atDaemon.clear()
          isConnected = false
        } else if (step.act === 'lose') connect()
        drain()
      }
      if (isConnected) session.disconnect()
      session.giveUp()
      drain()
      expect([...expected]).toEqual([])
    }),
  )
})
