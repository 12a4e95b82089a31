import { createInterface } from 'node:readline'
import { duplexPair } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { createRig } from '../../../test/conformance/rig.ts'

const common = {
  title: 'A tool',
  description: 'For the test',
  toolset: 'files',
  effect: 'read',
  by: 'anyone',
} as const

let stopped: string[] = []

const tools = [
  defineTool({
    ...common,
    name: 'echo',
    input: z.object({ word: z.string() }),
    output: z.object({ word: z.string() }),
    read: ({ word }) => Promise.resolve({ word }),
  }),
  defineTool({
    ...common,
    name: 'wait',
    input: z.object({}),
    output: z.object({}),
    async read(_, { signal, progress }) {
      progress(1, 2, 'half')
      await sleep(5000, undefined, { signal }).catch(() => stopped.push('wait'))
      return {}
    },
  }),
]

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  stopped = []
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function greeted() {
  const rig = await createRig({ tools })
  open.push(rig)
  const [here, there] = duplexPair()
  void rig.door.serve(there, { agent: 'main' })
  const answers = createInterface({ input: here })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await answers.next()).value ?? 'null') as Answer
  const send = (message: object) =>
    here.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (message: object) => {
    send(message)
    return next()
  }
  const clientInfo = { name: 'raw', version: '0' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  await ask({ id: 'hello', method: 'initialize', params })
  send({ method: 'notifications/initialized' })
  return { rig, here, send, next, ask }
}

type Answer = {
  readonly id?: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const call = (id: unknown, name: unknown, given: unknown, more: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: given, ...more },
})

test('SV10 a malformed call gets a protocol error', async () => {
  const { ask } = await greeted()
  for (const odd of [
    call(1, 5, {}),
    call(2, 'echo', ['hello']),
    call(3, 'echo', { word: 'hello' }, { _meta: { progressToken: {} } }),
  ])
    expect((await ask(odd)).error?.code).toBeLessThan(-32_000)
})

test('SV14 a cancelled call is stopped and not answered', async () => {
  const { send, next, ask } = await greeted()
  send(call(7, 'wait', {}))
  await sleep(50)
  send({ method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } })
  // The next response belongs to the next request.
  expect((await ask(call(8, 'echo', { word: 'on' }))).id).toBe(8)
  expect(stopped).toEqual(['wait'])
  send({ method: 'notifications/cancelled', params: { requestId: 99 } })
  send(call(9, 'echo', { word: 'still' }))
  expect((await next()).id).toBe(9)
})

test('SV14 a client that requests progress receives it', async () => {
  const { send, next } = await greeted()
  send(call(1, 'wait', {}, { _meta: { progressToken: 'p' } }))
  expect(await next()).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 1, total: 2, message: 'half' },
  })
  send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await expect.poll(() => stopped).toEqual(['wait'])
})

test('SV14 a disconnect stops the calls of the client', async () => {
  const { here, send } = await greeted()
  send(call(1, 'wait', {}))
  await sleep(50)
  here.destroy()
  await expect.poll(() => stopped, { timeout: 4000 }).toEqual(['wait'])
})

test('SV10 concurrent calls are answered with their own ids', async () => {
  const { send, next } = await greeted()
  const ids = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? n : `n${n}`))
  for (const id of ids) send(call(id, 'echo', { word: String(id) }))
  const answers = []
  while (answers.length < ids.length) answers.push(await next())
  for (const { id, result } of answers)
    expect(result).toMatchObject({ structuredContent: { word: String(id) } })
  expect(new Set(answers.map(({ id }) => id)).size).toBe(ids.length)
})
