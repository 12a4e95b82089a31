import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { CoworkError } from '#base/errors.ts'
import { version } from './launcher.ts'
import { parseJson } from './output.ts'

export type McpResult = Readonly<Record<string, unknown>>

/** A minimal MCP client: the checks need the exact wire messages (K4, W42). */
export type McpClient = {
  request(method: string, params?: object): Promise<McpResult>
  notify(method: string): Promise<unknown>
}

type Reply = {
  readonly id?: unknown
  readonly result?: McpResult
  readonly error?: { readonly message?: string }
}

const answerTimeoutMs = 30_000

export function createLineClient(input: Readable, write: (line: string) => void): McpClient {
  const pending = new Map<number, PromiseWithResolvers<Reply>>()
  let failure: unknown
  const fail = (error: unknown) => {
    failure ??= error
    for (const { reject } of pending.values()) reject(failure)
  }
  createInterface({ input }).on('line', (line) => {
    try {
      const reply = JSON.parse(line) as Reply
      pending.get(Number(reply.id))?.resolve(reply)
    } catch (error) {
      fail(error)
    }
  })
  input.on('close', () =>
    fail(new CoworkError('failed', 'the connection closed without a response')),
  )
  const send = (message: object) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let last = 0
  return {
    async request(method, params = {}) {
      const id = ++last
      const response = Promise.withResolvers<Reply>()
      pending.set(id, response)
      const timer = setTimeout(() => {
        const message = `${method}: no response within ${answerTimeoutMs / 1000} seconds`
        response.reject(new CoworkError('timeout', message))
      }, answerTimeoutMs)
      if (failure) response.reject(failure)
      else send({ id, method, params })
      try {
        return getResult(await response.promise)
      } finally {
        clearTimeout(timer)
        pending.delete(id)
      }
    },
    notify: async (method) => send({ method }),
  }
}

export function createHttpClient(url: string, token: string | undefined, revision: string) {
  const headers: Record<string, string> = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const request = (method: 'POST' | 'DELETE', body?: string) =>
    fetch(url, {
      method,
      headers,
      body: body ?? null,
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
  async function post(message: object) {
    const response = await request('POST', JSON.stringify({ jsonrpc: '2.0', ...message }))
    const session = response.headers.get('mcp-session-id')
    if (session)
      Object.assign(headers, { 'mcp-session-id': session, 'mcp-protocol-version': revision })
    return { status: response.status, text: await response.text() }
  }
  let last = 0
  return {
    async request(method: string, params: object = {}) {
      const id = ++last
      const { status, text } = await post({ id, method, params })
      const reply = parseReplies(text).find((candidate) => candidate.id === id)
      if (reply) return getResult(reply)
      const message = `${method}: status ${status} without a result: ${text.slice(0, 500)}`
      throw new CoworkError('failed', message)
    },
    async notify(method: string) {
      const { status, text } = await post({ method })
      if (status >= 400)
        throw new CoworkError('failed', `${method}: status ${status}: ${text.slice(0, 500)}`)
    },
    async end() {
      if ('mcp-session-id' in headers) await request('DELETE').catch(() => undefined)
    },
  } satisfies McpClient & { end(): Promise<void> }
}

export async function initialize(
  client: McpClient,
  name: string,
  protocolVersion: string,
): Promise<McpResult> {
  const result = await client.request('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name, version: version() },
  })
  await client.notify('notifications/initialized')
  return result
}

export async function listTools({ request }: McpClient): Promise<{ readonly name: string }[]> {
  const tools: { readonly name: string }[] = []
  for (let cursor: unknown; ;) {
    const page = await request('tools/list', cursor === undefined ? {} : { cursor })
    if (Array.isArray(page['tools'])) tools.push(...(page['tools'] as typeof tools))
    cursor = page['nextCursor']
    if (cursor === undefined) return tools
  }
}

/** Parses a response body: JSON, or an event stream that ends with the reply. */
function parseReplies(text: string): Reply[] {
  const isStream = /^(event|data|id|:)/m.test(text)
  const messages = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    : [text]
  return messages.flatMap((message) => (parseJson(message) as Reply | undefined) ?? [])
}

function getResult({ result, error }: Reply): McpResult {
  if (result) return result
  throw new CoworkError('failed', error?.message ?? 'invalid MCP response')
}
