import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { handshakeCommand, handshakeUrl } from './handshake.ts'

const node = (script: string) => ({
  command: process.execPath,
  args: ['-e', script],
  env: process.env,
})

const server = `
const lines = require('node:readline').createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, serverInfo: { name: 'x', version: '1' } }
    : { tools: params.cursor ? [{}] : [{}, {}], ...(params.cursor ? {} : { nextCursor: 'more' }) }
  console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' }))
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

test('K4 the handshake counts the tools of all pages', async () => {
  expect(await handshakeCommand(node(server))).toEqual({
    server: 'x 1',
    protocol: '2025-06-18',
    tools: 3,
  })
})

test.each([
  ['console.error("no socket"); process.exit(3)', 'no socket'],
  ['console.log("hello")', 'not valid JSON'],
  [
    'process.stdin.once("data", () => console.log(JSON.stringify({id: 1, error: {message: "AuthError"}})))',
    'AuthError',
  ],
])('K4 %s fails the handshake, and the error shows the output', async (script, message) => {
  await expect(handshakeCommand(node(script))).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining(message),
  })
})

test('K4 a missing command fails the handshake', async () => {
  const missing = { command: '/nowhere/node', args: [], env: {} }
  await expect(handshakeCommand(missing)).rejects.toMatchObject({ code: 'handshake_failed' })
})

test('K4 an endpoint that refuses the token fails the handshake', async () => {
  const http = createServer((_, response) => response.writeHead(401).end('{"error":{}}'))
  onTestFinished(() => void http.close())
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const { port } = http.address() as AddressInfo
  await expect(handshakeUrl(`http://127.0.0.1:${port}/mcp`, 't')).rejects.toThrow('status 401')
})
