// Keeps hostile calls of one agent in flight, in a separate process.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { hostileMessages } from './hostile-messages.ts'
import type { HostileKind } from './hostile-messages.ts'

export type HostileOrder = {
  readonly port: number
  readonly socket: string
  readonly token: string
  readonly kinds: readonly HostileKind[]
  readonly via: 'http' | 'stdio'
  readonly inFlight: number
}
export type HostileDone = {
  readonly calls: number
  /** Counts by reply: an HTTP status, a refusal's code or `result`. */
  readonly answers: Readonly<Record<string, number>>
}

let isStopping = false
const answers: Record<string, number> = {}
let calls = 0

function count(body: string): void {
  const code = /"code\\?":\\?"(\w+)/.exec(body)?.[1] ?? /"code":(-?\d+)/.exec(body)?.[1] ?? 'result'
  answers[code] = (answers[code] ?? 0) + 1
  calls++
}

function buildRequest(
  { port, token }: HostileOrder,
  { headers, body }: { headers: readonly string[]; body: Buffer },
) {
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Authorization: Bearer ${token}`,
    `Content-Length: ${body.length}`,
    ...headers,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Resolves with the complete reply. A closed connection counts as a reply. */
function exchange(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let read = ''
    const more = (chunk: Buffer) => {
      read += chunk.toString('latin1')
      const end = read.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = /\r\ncontent-length: (\d+)/i.exec(read.slice(0, end))?.[1]
      const isWhole =
        length === undefined ? read.endsWith('0\r\n\r\n') : read.length - end - 4 >= Number(length)
      if (isWhole) done()
    }
    const done = () => {
      socket.off('data', more).off('close', done)
      resolve(read)
    }
    socket.on('data', more).once('close', done)
    socket.write(request)
  })
}

async function overHttp(order: HostileOrder): Promise<void> {
  const requests = hostileMessages(order.kinds, 'http').map((message) =>
    buildRequest(order, message),
  )
  let next = 0
  await Promise.all(
    Array.from({ length: order.inFlight }, async () => {
      let socket: Socket | undefined
      while (!isStopping) {
        if (!socket || socket.destroyed || !socket.writable) {
          socket = connect(order.port, '127.0.0.1').setNoDelay()
          socket.on('error', () => undefined)
        }
        count(await exchange(socket, requests[next++ % requests.length] as Buffer))
      }
      socket?.destroy()
    }),
  )
}

async function overStdio({ socket: path, token, kinds, inFlight }: HostileOrder): Promise<void> {
  const messages = hostileMessages(kinds, 'stdio')
  const socket = connect(path)
  socket.on('error', () => undefined)
  const ended = Promise.withResolvers<void>()
  let next = 0
  const send = () =>
    socket.write(
      Buffer.concat([
        (messages[next++ % messages.length] as { body: Buffer }).body,
        Buffer.from('\n'),
      ]),
    )
  const line = (message: object) => socket.write(`${JSON.stringify(message)}\n`)
  line({ cowork: 1, token })
  line({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    },
  })
  line({ jsonrpc: '2.0', method: 'notifications/initialized' })
  let isGreeted = false
  createInterface({ input: socket }).on('line', (answer) => {
    if (!isGreeted) {
      isGreeted = true
      for (let i = 0; i < inFlight; i++) send()
      return
    }
    count(answer)
    if (isStopping) ended.resolve()
    else send()
  })
  socket.on('close', () => ended.resolve())
  await ended.promise
  socket.destroy()
}

let running: Promise<void> = Promise.resolve()
process.on('message', (order: HostileOrder | 'stop') => {
  if (order === 'stop') {
    isStopping = true
    void running.then(() => process.send?.({ calls, answers } satisfies HostileDone))
    return
  }
  running = order.via === 'http' ? overHttp(order) : overStdio(order)
  process.send?.('started')
})
process.send?.('ready')
