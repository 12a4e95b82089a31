// An HTTP client below node:http that calls one tool repeatedly on kept connections, in a separate process: its CPU must
// not be counted with the server's.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { median, percentile } from '../harness.ts'

export type CallOrder = {
  readonly port: number
  readonly tool: string
  /** With several, each call takes the next. */
  readonly input: object | readonly object[]
  readonly inFlight: number
  readonly token?: string
  /** Ends after this time or count. */
  readonly ms?: number
  readonly calls?: number
}
export type Called = {
  readonly calls: number
  readonly seconds: number
  /** Latency of one call at the caller. */
  readonly p50: number
  readonly p99: number
}

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

function buildRequest({ port, tool, token }: CallOrder, input: object): Buffer {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: tool,
      arguments: input,
      _meta: {
        [`${meta}/protocolVersion`]: version,
        [`${meta}/clientCapabilities`]: {},
        [`${meta}/clientInfo`]: { name: 'bench', version: '1' },
      },
    },
  })
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${version}`,
    'Mcp-Method: tools/call',
    `Mcp-Name: ${tool}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Returns the complete body, for any transfer encoding. */
function findAnswer(read: string): string | undefined {
  const end = read.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = read.slice(0, end).toLowerCase()
  const body = read.slice(end + 4)
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  if (length !== undefined) return Buffer.byteLength(body) >= Number(length) ? body : undefined
  return body.endsWith('0\r\n\r\n') ? body : undefined
}

function exchange(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let read = ''
    const more = (chunk: Buffer) => {
      read += chunk.toString()
      const answer = findAnswer(read)
      if (answer === undefined) return
      socket.off('data', more).off('error', reject)
      if (
        read.startsWith('HTTP/1.1 200') &&
        answer.includes('"result"') &&
        !answer.includes('"isError":true')
      )
        resolve()
      else reject(new Error(`the call failed: ${read.slice(0, 500)}`))
    }
    socket.on('data', more).once('error', reject)
    socket.write(request)
  })
}

async function carryOut(order: CallOrder): Promise<Called> {
  const inputs = Array.isArray(order.input) ? (order.input as readonly object[]) : [order.input]
  const requests = inputs.map((input) => buildRequest(order, input))
  const taken: number[] = []
  const start = performance.now()
  const end = start + (order.ms ?? Infinity)
  let begun = 0
  await Promise.all(
    Array.from({ length: order.inFlight }, async () => {
      const socket = connect(order.port, '127.0.0.1').setNoDelay()
      while (performance.now() < end && begun < (order.calls ?? Infinity)) {
        const request = requests[begun++ % requests.length] as Buffer
        const sent = performance.now()
        await exchange(socket, request)
        taken.push(performance.now() - sent)
      }
      socket.destroy()
    }),
  )
  const seconds = (performance.now() - start) / 1000
  return { calls: begun, seconds, p50: median(taken), p99: percentile(taken, 0.99) }
}

process.on(
  'message',
  (order: CallOrder) => void carryOut(order).then((called) => process.send?.(called)),
)
process.send?.('ready')
