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
import type { Link, View } from './server.ts'

/** Who opened something that stays open, and the token it goes by now. */
export type Holder = { readonly principal: string; readonly bearer?: string }

export type SessionLimits = { readonly maxSessions: number; readonly idleMs: number }

type Session = {
  readonly id: string
  holder: Holder
  readonly link: Link
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** GET streams the client keeps open: as long as it listens it is not idle. */
  listening: number
}

export type SessionDeps = {
  readonly limits: SessionLimits
  readonly now: Clock
  readonly log: Log
  readonly newLink: (view: View, session: string) => Link
  readonly newServer: (link: Link) => Server
  readonly ended: (session: string) => void
  /** What its token opened is over. */
  readonly isOver: (holder: Holder) => boolean
}

/** The sessions of the 2025 era and before (SV10): bound to whoever opened them, counted, swept. */
export function createSessions(deps: SessionDeps) {
  const { limits, now, log, newLink, newServer, ended, isOver } = deps
  const sessions = new Map<string, Session>()

  const isIdle = ({ usedAt, listening, link }: Session) =>
    listening === 0 && link.busy === 0 && now() - usedAt > limits.idleMs

  function sweep(): void {
    for (const session of sessions.values())
      if (isIdle(session) || isOver(session.holder)) end(session)
  }

  function end({ id, server }: Session): void {
    sessions.delete(id)
    server.close().catch((error: unknown) => log.warn('a session did not close', { id, error }))
  }

  async function handle(
    request: Request,
    view: View,
    holder: Holder,
    parsedBody: unknown,
  ): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const session = id === null ? await open(view, holder, parsedBody) : find(id, view, holder)
    session.usedAt = now()
    session.holder = holder
    const response = await session.transport.handleRequest(request, { parsedBody })
    if (request.method === 'GET' && response.ok) listen(session, request.signal)
    // Nobody was told of a session whose opening was refused.
    if (id === null && !response.ok) end(session)
    return response
  }

  function find(id: string, view: View, { principal }: Holder): Session {
    const session = sessions.get(id)
    if (session && isIdle(session)) end(session)
    else if (session?.holder.principal === principal && session.link.view.toolset === view.toolset)
      return session
    throw new CoworkError('unknown_session', 'There is no such session.', {
      hint: 'It may have been idle too long. Send initialize to open another.',
    })
  }

  async function open(view: View, holder: Holder, body: unknown): Promise<Session> {
    if (!isInitializeRequest(body))
      throw new CoworkError('session_missing', 'The request names no session.', {
        hint: 'Send initialize first, then its Mcp-Session-Id with every request.',
      })
    sweep()
    if (sessions.size >= limits.maxSessions)
      throw new CoworkError('too_many_sessions', `All ${limits.maxSessions} sessions are taken.`, {
        hint: 'Try again later; idle ones are closed.',
      })
    const id = newId()
    const link = newLink(view, id)
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
      ended(id)
    }
    await server.connect(transport)
    return session
  }

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
