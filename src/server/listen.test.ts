import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { silentLog } from '#base/log.ts'
import { defineTool } from '#base/tool.ts'
import { anna } from '../../test/acts.ts'
import { createRig } from '../../test/conformance/rig.ts'
import type { RigOptions } from '../../test/conformance/rig.ts'
import { listen, listenSocket } from './listen.ts'
import { acting } from '../../test/tools.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '0' },
  },
}
const initializeLine = `${JSON.stringify(initialize)}\n`

const tool = (name: string, effect: 'read' | 'write') =>
  defineTool({
    name,
    title: name,
    description: 'For the test',
    toolset: 'files',
    by: 'anyone',
    input: z.object({}),
    output: z.object({}),
    ...acting(effect, async () => ({})),
  })
const tools = [tool('look', 'read'), tool('change', 'write')]

/** Opens a socket with a real MCP endpoint; collects logged warnings. */
async function open(options: RigOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-listen-'))
  const path = join(folder, 'daemon.sock')
  const warnings: unknown[] = []
  const warn = (message: string, data?: object) =>
    void warnings.push((data as { error?: string }).error ?? message)
  const rig = await createRig({ tools, ...options })
  const listening = await listenSocket(path, rig.door, { ...silentLog, warn }, '2.0.0')
  onTestFinished(async () => {
    await rig.close()
    await listening.close()
    rmSync(folder, { recursive: true })
  })
  async function plug() {
    const socket = connect(path)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const nextLine = async () =>
      z.looseObject({}).parse(JSON.parse(String((await lines.next()).value ?? 'null')))
    return { socket, nextLine }
  }
  return { rig, plug, warnings }
}

const hello = (fields: object) => `${JSON.stringify({ cowork: 3, version: '2.0.0', ...fields })}\n`

test('SV4 a handshake may arrive in chunks, and MCP follows on the same socket', async () => {
  const { plug, warnings } = await open()
  const { socket, nextLine } = await plug()
  const all = hello({ agent: 'a' }) + initializeLine
  for (const piece of [all.slice(0, 5), all.slice(5, 40), all.slice(40)]) {
    socket.write(piece)
    await new Promise((done) => setTimeout(done, 5))
  }
  expect(await nextLine()).toEqual({ cowork: 3, version: '2.0.0' })
  expect(await nextLine()).toMatchObject({ id: 1, result: {} })
  expect(warnings).toEqual([])
})

test('SV4 a handshake without a reply starts MCP immediately', async () => {
  const { plug } = await open()
  const { socket, nextLine } = await plug()
  socket.write(`{"cowork":1,"agent":"a"}\n${initializeLine}`)
  expect(await nextLine()).toMatchObject({ id: 1, result: {} })
})

test('SV4 a client that closed its side still receives responses', async () => {
  const { plug } = await open()
  const { socket, nextLine } = await plug()
  socket.end(hello({}) + initializeLine)
  await nextLine()
  expect(await nextLine()).toMatchObject({ id: 1, result: {} })
  await once(socket, 'close')
})

test.each([
  ['garbage\n', 'not a JSON object'],
  ['null\n', 'not a JSON object'],
  ['{"cowork":2}\n', 'Incompatible versions'],
  [hello({ tools: 'files' }), 'Invalid tools: expected a list'],
  [hello({ exclude: [1] }), 'Invalid exclude: expected a list'],
  [hello({ results: 'xml' }), 'Unknown result format: "xml"'],
  [hello({ tools: ['flies'] }), 'Unknown tools: "flies"'],
  [hello({ tools: ['files'], exclude: ['all'] }), 'contains no tools'],
  [`${'x'.repeat(20_000)}\n`, 'too long'],
  ['x'.repeat(20_000), 'too long'],
])('SV4 an invalid handshake is refused with the reason: %#', async (text, why) => {
  const { plug, warnings } = await open()
  const { socket, nextLine } = await plug()
  socket.write(text)
  expect(await nextLine()).toMatchObject({
    cowork: 3,
    error: { message: expect.stringContaining(why) as string, hint: expect.any(String) as string },
  })
  await once(socket, 'close')
  expect(warnings).toEqual([expect.stringContaining(why)])
})

test('SV4 a connection that ends before its handshake is dropped', async () => {
  const { plug, warnings } = await open()
  const { socket } = await plug()
  socket.end()
  await expect.poll(() => warnings).toEqual(['The connection closed before the handshake.'])
})

describe('SV18 RA8 the handshake selects tools', () => {
  test.each([
    [{ tools: ['look'] }, ['look']],
    [{ tools: ['files'], exclude: ['look'] }, ['change']],
    [{ tools: ['all'], read_only: true }, ['look']],
  ])('SV18 RA8 %j', async (fields, names) => {
    const { plug } = await open()
    const { socket, nextLine } = await plug()
    socket.write(hello(fields) + initializeLine)
    await nextLine()
    await nextLine()
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`)
    const { result } = z
      .object({ result: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
      .parse(await nextLine())
    expect(result.tools.map(({ name }) => name)).toEqual(names)
  })
})

test('RA14 a bridge of another version is logged, and its model is informed', async () => {
  const { plug, warnings } = await open()
  const { socket, nextLine } = await plug()
  socket.write(hello({ version: '1.9.0' }) + initializeLine)
  expect(await nextLine()).toEqual({ cowork: 3, version: '2.0.0' })
  const { result } = z
    .object({ result: z.looseObject({ instructions: z.string() }) })
    .parse(await nextLine())
  expect(result.instructions).toMatch(/bridge is version 1\.9\.0, the daemon is version 2\.0\.0/)
  expect(warnings).toEqual(['bridge version differs'])
})

test('I4 RA4 an ended token cannot reconnect; a first connection shows its AuthError', async () => {
  const { rig, plug } = await open()
  const by = { id: 'c', caller: anna }
  const { token } = await rig.ledger.transact((tx) => rig.identity.addAgent(tx, { id: 'ops' }, by))
  await rig.ledger.transact((tx) => rig.identity.revokeAgent(tx, { id: 'ops' }, by))
  await rig.identity.listAgents()
  const again = await plug()
  again.socket.write(hello({ token, reconnect: true }))
  expect(await again.nextLine()).toMatchObject({ error: { code: 'auth_error' } })
  const first = await plug()
  first.socket.write(hello({ token }) + initializeLine)
  expect(await first.nextLine()).toEqual({ cowork: 3, version: '2.0.0' })
  expect(await first.nextLine()).toMatchObject({ id: 1, result: {} })
})

const options = {
  host: 'localhost',
  headerBytes: 16_384,
  bodySeconds: 10,
  insecureBind: false,
  isAuthEnabled: false,
}

/** Occupies a port on one loopback. */
async function occupy(address: string): Promise<number> {
  const server = createServer()
  server.listen(0, address)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test.each(['127.0.0.1', '::1'])(
  'RA10 SV20 a port in use on %s is refused, or replaced by a free port on both loopbacks',
  async (address) => {
    const port = await occupy(address)
    const answer = () => new Response('ok')
    await expect(listen(answer, { ...options, port })).rejects.toMatchObject({ code: 'port_taken' })
    const moved = await listen(answer, { ...options, port, allowFreePort: true })
    onTestFinished(moved.close)
    expect(moved.port).not.toBe(port)
    for (const host of ['127.0.0.1', '[::1]'])
      expect(await (await fetch(`http://${host}:${moved.port}/`)).text()).toBe('ok')
  },
)

test('RA10 a free port is kept', async () => {
  const first = await listen(() => new Response('ok'), { ...options, port: 0 })
  await first.close()
  const second = await listen(() => new Response('ok'), {
    ...options,
    port: first.port,
    allowFreePort: true,
  })
  onTestFinished(second.close)
  expect(second.port).toBe(first.port)
})

test('RS4 a connection that pipelines many requests is ended; a few are answered', async () => {
  let served = 0
  const fetch = async () => {
    served++
    return new Response('ok')
  }
  const { port, close } = await listen(fetch, { ...options, port: 0 })
  onTestFinished(close)
  async function send(count: number): Promise<number> {
    const before = served
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    const last = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    socket.resume().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count - 1) + last)
    await once(socket, 'close')
    return served - before
  }
  expect(await send(5)).toBe(5)
  expect(await send(400)).toBeLessThan(20)
})
