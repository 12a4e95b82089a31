import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { version } from '../launcher.ts'

/** A way into the daemon for MCP clients, spoken by hand: what is checked is the wire itself (W42). */
export type Door = {
  readonly name: string
  /** An address that has the tools about work and no others (W1). */
  readonly isForWork: boolean
  ask(method: string, params?: object): Promise<unknown>
  close(): Promise<void> | void
}

/** What the bridge says of itself before the client's first byte. */
export type Hello = {
  readonly cowork: number
  readonly token?: string
  readonly agent?: string
}

type Reply = {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: unknown }
}

const patience = 30_000
const revision = '2025-11-25'
const hello = () => ({
  protocolVersion: revision,
  capabilities: {},
  clientInfo: { name: 'cowork-verify', version: version() },
})

/** As the stdio bridge does: one message a line over the daemon's socket. */
export async function openStdio(paths: StatePaths, who: Hello): Promise<Door> {
  const socket = connect(paths.socket)
  await once(socket, 'connect')
  const waiting = new Map<number, PromiseWithResolvers<Reply>>()
  const lines = createInterface({ input: socket })
  lines.on('line', (line) => {
    const reply = JSON.parse(line) as Reply
    waiting.get(Number(reply.id))?.resolve(reply)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    const gone = new CoworkError('failed', 'The daemon ended the connection.')
    for (const { reject } of waiting.values()) reject(gone)
  })
  const write = (message: object) => socket.write(`${JSON.stringify(message)}\n`)
  let last = 0
  async function ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++last
    const answered = Promise.withResolvers<Reply>()
    waiting.set(id, answered)
    const timer = setTimeout(() => answered.reject(tooSlow(method)), patience)
    write({ jsonrpc: '2.0', id, method, params })
    try {
      return resultOf(await answered.promise)
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
  }
  write({ ...who, tools: ['work'] })
  await ask('initialize', hello())
  write({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { name: 'stdio', isForWork: false, ask, close: () => void socket.destroy() }
}

/** As a client of the Streamable HTTP transport does, with a session, at the address for work. */
export async function openHttp(url: string, token: string | undefined): Promise<Door> {
  let session: string | undefined
  const post = (message: object, method = 'POST') =>
    fetch(url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && {
          'mcp-session-id': session,
          'mcp-protocol-version': revision,
        }),
      },
      ...(method === 'POST' && { body: JSON.stringify(message) }),
      signal: AbortSignal.timeout(patience),
    })
  let last = 0
  async function ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++last
    const response = await post({ jsonrpc: '2.0', id, method, params })
    session ??= response.headers.get('mcp-session-id') ?? undefined
    const text = await response.text()
    const reply = repliesIn(text).find((one) => one.id === id)
    if (reply) return resultOf(reply)
    throw new CoworkError('failed', `${method} was answered ${response.status} without a result.`)
  }
  await ask('initialize', hello())
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const end = async () => void (await post({}, 'DELETE').catch(() => undefined))
  return { name: url, isForWork: true, ask, close: end }
}

/** A reply comes as JSON, or as an event of a stream that ends with it. */
function repliesIn(text: string): Reply[] {
  const isStream = /^(event|data|id|:)/m.test(text)
  const messages = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    : [text]
  return messages.flatMap((message) => {
    try {
      return [JSON.parse(message) as Reply]
    } catch {
      return []
    }
  })
}

function resultOf({ result, error }: Reply): unknown {
  if (error) throw new CoworkError('failed', String(error.message))
  return result
}

const tooSlow = (method: string) =>
  new CoworkError('timeout', `${method} was not answered within ${patience / 1000} seconds.`)
