import { createInterface } from 'node:readline'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createLog } from '#base/log.ts'
import { defineTool } from '#base/tool.ts'
import { createRig } from '../../../test/conformance/rig.ts'

const echo = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'For the test',
  toolset: 'test',
  effect: 'read',
  by: 'anyone',
  input: z.object({ word: z.string() }),
  output: z.object({ word: z.string() }),
  read: ({ word }) => Promise.resolve({ word }),
})

const version = fc.constantFrom('2026-07-28', '2025-11-25', '2099-01-01', '', 'x')
const method = fc.constantFrom(
  'initialize',
  'server/discover',
  'tools/list',
  'tools/call',
  'tasks/get',
  'ping',
  'no/such',
  'notifications/initialized',
  'notifications/cancelled',
)
/** A valid prefix, so the fuzzing reaches deeper layers. */
const goodMeta = fc.constant({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
})
const meta = fc.record(
  {
    'io.modelcontextprotocol/protocolVersion': fc.oneof(version, fc.jsonValue()),
    'io.modelcontextprotocol/clientCapabilities': fc.oneof(fc.constant({}), fc.jsonValue()),
    'io.modelcontextprotocol/clientInfo': fc.jsonValue(),
    progressToken: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const params = fc.record(
  {
    _meta: fc.oneof(goodMeta, meta, fc.jsonValue()),
    name: fc.oneof(fc.constant('echo'), fc.jsonValue()),
    arguments: fc.oneof(fc.record({ word: fc.string() }), fc.jsonValue()),
    cursor: fc.jsonValue(),
    protocolVersion: fc.jsonValue(),
    inputResponses: fc.jsonValue(),
    requestState: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, fc.jsonValue()),
    id: fc.oneof({ weight: 4, arbitrary: fc.nat() }, fc.jsonValue()),
    method: fc.oneof({ weight: 4, arbitrary: method }, fc.jsonValue()),
    params: fc.oneof({ weight: 4, arbitrary: params }, fc.jsonValue()),
  },
  { requiredKeys: [] },
)
const headers = fc.record(
  {
    'mcp-protocol-version': version,
    'mcp-method': method,
    'mcp-name': fc.constantFrom('echo', 'other'),
    'mcp-session-id': fc.constantFrom('x', ''),
    accept: fc.constantFrom('application/json, text/event-stream', 'text/html'),
    'content-type': fc.constantFrom('application/json', 'text/plain'),
  },
  { requiredKeys: ['accept', 'content-type'] },
)

const exchange = fc.tuple(method, params, headers).map(([name, given, sent]) => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params: given }),
  headers: {
    ...sent,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': name,
    'mcp-name': 'echo',
  },
}))
const text = fc.oneof(
  message.map((value) => JSON.stringify(value)),
  fc.array(message, { maxLength: 3 }).map((value) => JSON.stringify(value)),
  fc.json(),
  fc.string(),
)
async function rigOf() {
  const faults: string[] = []
  const log = createLog({ level: 'error', json: true, write: (line) => faults.push(line) })
  return { faults, rig: await createRig({ tools: [echo], log }) }
}

test('N34 any HTTP input is answered without an internal error', async () => {
  const { rig, faults } = await rigOf()
  await fc.assert(
    fc.asyncProperty(fc.oneof(exchange, fc.record({ body: text, headers })), async (sent) => {
      const request = new Request('http://test/mcp', { method: 'POST', ...sent })
      const response = await rig.door.fetch(request, { address: '127.0.0.1' })
      expect(response.status).toBeLessThan(500)
      const reply = await response.text()
      expect(reply).not.toMatch(/-32603|node_modules|\.ts:/)
    }),
    { numRuns: 300 },
  )
  await rig.close()
  expect(faults).toEqual([])
})

test('N34 any stdio input keeps the connection open', async () => {
  const { rig, faults } = await rigOf()
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (lines) => {
      const [here, there] = duplexPair()
      const served = rig.door.serve(there, {})
      const answers = createInterface({ input: here })
      for (const line of lines) here.write(`${line.replaceAll('\n', ' ')}\n`)
      // A method unknown to both protocol versions is always answered.
      here.write('{"jsonrpc":"2.0","id":"last","method":1}\n')
      for await (const answer of answers) {
        expect(answer).not.toMatch(/node_modules|\.ts:/)
        if (answer.includes('"last"')) break
      }
      here.end()
      await served
    }),
    { numRuns: 100 },
  )
  await rig.close()
  expect(faults).toEqual([])
})
