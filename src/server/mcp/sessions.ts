import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Server } from '@modelcontextprotocol/server'
import type { Clock } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import { createEventStore } from './events.ts'
import type { ServerBinding, ToolView } from './server.ts'

/** The owner of a session or stream, with its latest token. */
export type SessionOwner = {
  readonly principal: string
  readonly bearer?: string
  readonly isAnonymous?: boolean
}

const maxEnded = 1000

const isId = (id: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)

const unknownSessionError = () =>
  new CoworkError('unknown_session', 'Unknown session.', {
    hint: 'Send initialize to open a new session.',
  })

/** Clients without a token must not use up the sessions of others. */
const maxAnonymous = 16

export type SessionLimits = { readonly maxSessions: number; readonly idleMs: number }

type Session = {
  readonly id: string
  holder: SessionOwner
  readonly link: ServerBinding
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** The number of open GET streams: a listening client is not idle. */
  listening: number
}

export type SessionDeps = {
  readonly limits: SessionLimits
  readonly now: Clock
  readonly log: Log
  readonly newLink: (view: ToolView, session: string, bearer?: string) => ServerBinding
  readonly newServer: (link: ServerBinding) => Server
  readonly ended: (session: string) => void
  /** True if the credentials of the session are no longer valid. */
  readonly isOver: (holder: SessionOwner) => boolean
}

/**
 * Manages the sessions of legacy clients (SV10): bound to their owner, limited, and ended when
 * idle.
 */
export function createSessions(deps: SessionDeps) {
  const { limits, now, log, newLink, newServer, ended: onEnded, isOver } = deps
  const sessions = new Map<string, Session>()
  const ended = new Set<string>()

  const isIdle = ({ usedAt, listening, link }: Session) =>
    listening === 0 && link.busy === 0 && now() - usedAt > limits.idleMs

  function sweep(): void {
    for (const session of sessions.values())
      if (isIdle(session) || isOver(session.holder)) end(session)
  }

  function end({ id, server }: Session): void {
    sessions.delete(id)
    server.close().catch((error: unknown) => log.warn('session did not close', { id, error }))
  }

  async function handle(
    request: Request,
    view: ToolView,
    holder: SessionOwner,
    parsedBody: unknown,
  ): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const session =
      id === null
        ? await open(view, holder, parsedBody)
        : (find(id, holder) ?? (await reopen(id, request, view, holder, parsedBody)))
    session.usedAt = now()
    session.holder = holder
    const response = await session.transport.handleRequest(request, { parsedBody })
    if (request.method === 'GET' && response.ok) listen(session, request.signal)
    if (request.method === 'DELETE') addEnded(session.id)
    // The client never learns the id of a session that was refused.
    if (id === null && !response.ok) end(session)
    return response
  }

  function find(id: string, { principal }: SessionOwner): Session | undefined {
    const session = sessions.get(id)
    if (session && session.holder.principal !== principal) throw unknownSessionError()
    if (!session || !isIdle(session)) return session
    end(session)
    return undefined
  }

  /**
   * Reopens a session that ended with the daemon or by idling: some clients never send initialize
   * a second time (Gemini CLI 0.61). The capabilities of the client are lost. A session that its
   * client ended stays ended.
   */
  async function reopen(
    id: string,
    request: Request,
    view: ToolView,
    holder: SessionOwner,
    body: unknown,
  ): Promise<Session> {
    const isOver = !isId(id) || ended.has(id) || request.method !== 'POST'
    if (isOver || isInitializeRequest(body)) throw unknownSessionError()
    // Identity treats it as a new session: grants of the old one ended with it (I12, GR5).
    const session = await create(id, view, holder, newId())
    const protocolVersion = request.headers.get('mcp-protocol-version') ?? '2025-03-26'
    const clientInfo = { name: 'unknown', version: '' }
    const params = { protocolVersion, capabilities: {}, clientInfo }
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
    for (const message of [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
      const headers = new Headers(request.headers)
      if (message === initialize) headers.delete('mcp-session-id')
      const again = new Request(request.url, { method: 'POST', headers })
      const response = await session.transport.handleRequest(again, { parsedBody: message })
      await response.text()
    }
    return session
  }

  async function open(view: ToolView, holder: SessionOwner, body: unknown): Promise<Session> {
    if (!isInitializeRequest(body))
      throw new CoworkError('session_missing', 'The request has no session id.', {
        hint: 'Send initialize first, then its Mcp-Session-Id with every request.',
      })
    return create(newId(), view, holder)
  }

  async function create(
    id: string,
    view: ToolView,
    holder: SessionOwner,
    own = id,
  ): Promise<Session> {
    sweep()
    const isTaken = (holder.isAnonymous ?? false) && countAnonymous() >= maxAnonymous
    if (isTaken || sessions.size >= limits.maxSessions)
      throw new CoworkError('too_many_sessions', 'Too many open sessions.', {
        hint: 'Retry later; idle sessions are closed.',
      })
    const link = newLink(view, own, holder.bearer)
    const server = newServer(link)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: createEventStore(),
      retryInterval: 1000,
    })
    const session = { id, holder, link, server, transport, usedAt: now(), listening: 0 }
    sessions.set(id, session)
    server.onclose = () => {
      sessions.delete(id)
      onEnded(own)
    }
    await server.connect(transport)
    return session
  }

  function addEnded(id: string): void {
    ended.add(id)
    const [oldest] = ended
    if (ended.size > maxEnded && oldest !== undefined) ended.delete(oldest)
  }

  const countAnonymous = () =>
    [...sessions.values()].filter(({ holder }) => holder.isAnonymous).length

  function listen(session: Session, signal: AbortSignal): void {
    session.listening += 1
    signal.addEventListener('abort', () => {
      session.listening -= 1
      session.usedAt = now()
    })
  }

  return {
    handle,
    sweep,
    size: () => sessions.size,
    servers: () => sessions.values().map(({ server }) => server),
    async close(): Promise<void> {
      await Promise.allSettled([...sessions.values()].map(({ server }) => server.close()))
    },
  }
}
