import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'

/** What a client would see of us. */
export type Seen = { readonly server: string; readonly protocol: string; readonly tools: number }

type Message = {
  readonly id?: number
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message?: string }
}
type Ask = (method: string, params: object) => Promise<Message>

const patience = 30_000
const protocolVersion = '2025-06-18'

export type Command = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Environment
}

/** Starts what a client was told to start, and greets it as the client will (K4). */
export async function greetCommand(
  { command, args, env }: Command,
  version: string,
): Promise<Seen> {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  const timer = setTimeout(() => child.kill(), patience)
  let told = ''
  child.stderr.on('data', (chunk: Buffer) => (told = (told + chunk.toString()).slice(-2000)))
  // It may end before it has read what we say; that it did is told below.
  child.stdin.on('error', () => undefined)
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
  failed.catch(() => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  let id = 0
  const ask: Ask = async (method, params) => {
    id += 1
    send({ jsonrpc: '2.0', id, method, params })
    for (;;) {
      const next = await Promise.race([lines.next(), failed])
      if (next.done) throw new Error(`it ended without an answer to ${method}`)
      const message = JSON.parse(String(next.value)) as Message
      if (message.id === id) return message
    }
  }
  try {
    return await greet(ask, async (method) => void send({ jsonrpc: '2.0', method }), version)
  } catch (cause) {
    throw unanswered([command, ...args].join(' '), told.trim(), cause)
  } finally {
    clearTimeout(timer)
    child.stdin.end()
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill()
  }
}

/** The same over HTTP, with the token that the client's variable will hold. */
export async function greetUrl(url: string, token: string, version: string): Promise<Seen> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const signal = AbortSignal.timeout(patience)
  const post = async (message: object) => {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signal,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`it answered ${response.status}: ${text.slice(0, 500)}`)
    const session = response.headers.get('mcp-session-id')
    if (session) headers['mcp-session-id'] = session
    return text
  }
  let id = 0
  const ask: Ask = async (method, params) => {
    id += 1
    return answerIn(await post({ id, method, params }), id)
  }
  try {
    const seen = await greet(ask, (method) => post({ method }), version)
    await fetch(url, { method: 'DELETE', headers, signal })
    return seen
  } catch (cause) {
    throw unanswered(url, '', cause)
  }
}

async function greet(
  ask: Ask,
  tell: (method: string) => Promise<unknown>,
  version: string,
): Promise<Seen> {
  const clientInfo = { name: 'cowork-connect', version }
  const hello = resultOf(await ask('initialize', { protocolVersion, capabilities: {}, clientInfo }))
  await tell('notifications/initialized')
  let tools = 0
  let cursor: unknown
  do {
    const page = resultOf(await ask('tools/list', cursor === undefined ? {} : { cursor }))
    tools += Array.isArray(page['tools']) ? page['tools'].length : 0
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  // Tools are listed without a token: only a call shows that the client has one where it is needed.
  const status = resultOf(await ask('tools/call', { name: 'cowork_status', arguments: {} }))
  const refusal = (status['structuredContent'] ?? {}) as Readonly<Record<string, unknown>>
  if (refusal['auth_error']) throw new Error(String(refusal['message']))
  const { name, version: serverVersion } = { ...(hello['serverInfo'] as Record<string, unknown>) }
  return {
    server: `${String(name)} ${String(serverVersion)}`,
    protocol: String(hello['protocolVersion']),
    tools,
  }
}

function resultOf({ result, error }: Message): Readonly<Record<string, unknown>> {
  if (!result) throw new Error(error?.message ?? 'its answer is not one of MCP')
  return result
}

/** A plain answer, or a stream of them. */
function answerIn(text: string, id: number): Message {
  const bodies = text.startsWith('{')
    ? [text]
    : Array.from(text.matchAll(/^data: ?(.+)$/gm), ([, data = '']) => data)
  const found = bodies.map((body) => JSON.parse(body) as Message).find((one) => one.id === id)
  if (!found) throw new Error('it gave no answer')
  return found
}

function unanswered(what: string, told: string, cause: unknown): CoworkError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CoworkError(
    'handshake_failed',
    `${what} did not answer as a client needs it: ${why}.${told && `\n${told}`}`,
    { hint: '`cowork doctor` may find the cause.', cause },
  )
}
