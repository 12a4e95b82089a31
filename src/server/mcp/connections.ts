import type { Duplex } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import { checkSelection } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import type { ToolRegistry } from '#dispatch'
import type { createSubscriptions } from './subscriptions.ts'
import type { createServers, Credentials, BoundCredentials, ServerBinding } from './server.ts'
import { createLineTransport, serveStdioLines } from './stdio.ts'
import type { LineTransport } from './stdio.ts'

/** The handshake of the stdio bridge, sent before the client's first byte (I13). */
export type BridgeHello = {
  readonly token?: string
  readonly agent?: string
  readonly session?: string
  readonly selection?: ToolSelection
  readonly structured?: boolean
  /** The bridge reconnects (RA4). */
  readonly isReconnect?: boolean
  /** Text for the model, such as a version mismatch (RA14). */
  readonly notice?: string
}

export type ConnectionDeps = ReturnType<typeof createServers> & {
  readonly registry: ToolRegistry
  readonly subscriptions: Pick<ReturnType<typeof createSubscriptions>, 'forConnection'>
  readonly log: Log
  readonly ended: (session: string) => void
  /** True if the credentials are no longer valid. */
  readonly isOver: (held: BoundCredentials) => boolean
  /** Parses a line when its lane is served. */
  readonly parse: (lane: string, line: Buffer) => Promise<unknown>
  readonly onRefused: (error: CoworkError) => void
}

type Connection = {
  readonly presented: Credentials
  readonly servers: Set<Server>
  readonly transport: LineTransport
  unlisten(): void
}

/** Manages the stdio clients; each connection is a session (I12). */
export function createConnections(deps: ConnectionDeps) {
  const { registry, subscriptions, log, newServer, ended, isOver, parse, onRefused } = deps
  const connections = new Set<Connection>()

  /** Throws if the bridge selects unknown tools or reconnects with an ended token. */
  function checkHello({ selection, token, isReconnect }: BridgeHello): void {
    if (selection) checkSelection(selection, registry.list())
    if (isReconnect && token !== undefined && isOver({ bearer: token })) throw tokenEndedError()
  }

  /** Serves one connection until either side ends it. */
  async function serve(stream: Duplex, hello: BridgeHello): Promise<void> {
    const presented: Credentials = {
      address: 'stdio',
      ...(hello.token !== undefined && { bearer: hello.token }),
      ...(hello.agent !== undefined && { fallbackId: hello.agent }),
      ...(hello.session !== undefined && { label: hello.session }),
    }
    const session = newId()
    const link: ServerBinding = {
      transport: 'stdio',
      view: {
        selection: hello.selection ?? {},
        ...(hello.structured && { structured: true }),
      },
      session,
      ...(hello.token !== undefined && { bearer: hello.token }),
      ...(hello.notice !== undefined && { notice: hello.notice }),
      busy: 0,
      credentials: () => presented,
    }
    const listening = subscriptions.forConnection(presented, (message) =>
      transport.onmessage?.(message),
    )
    const transport = createLineTransport(stream, {
      parse: (line) => parse(hello.token ?? session, line),
      take: listening.take,
      onAnswered: listening.end,
      onRefused,
      hearsNews: () => !isOver(presented),
    })
    const servers = new Set<Server>()
    const connection = { presented, servers, transport, unlisten: listening.close }
    connections.add(connection)
    // A client may probe with one protocol version and continue with the other, so two servers can
    // exist briefly.
    await serveStdioLines(transport, log, () => {
      const server = newServer(link)
      servers.add(server)
      server.onclose = () => servers.delete(server)
      return server
    }).finally(() => {
      connections.delete(connection)
      listening.close()
      ended(session)
    })
  }

  return {
    checkHello,
    serve,
    servers: (): Server[] => [...connections].flatMap(({ servers }) => [...servers]),
    sweep(): void {
      for (const { presented, transport, unlisten } of connections) {
        if (!isOver(presented)) continue
        // A connection without a token stays open, because a call may contain one; its
        // subscriptions end.
        if (presented.bearer === undefined) unlisten()
        else void transport.close()
      }
    },
    close: () => Promise.all([...connections].map(({ transport }) => transport.close())),
  }
}

/**
 * The first connection of a bridge with an ended token is accepted, so the client shows the
 * AuthError of each call.
 */
const tokenEndedError = () =>
  new CoworkError('auth_error', 'Token rotated or revoked.', {
    hint: 'Create a token with `cowork agents rotate <id>`, or with `cowork agents add <id>` if\nthe agent was revoked. Set it in the client and restart the client.',
  })
