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

/** The handshake of the stdio bridge, which precedes the client's first byte (I13). */
export type BridgeHello = {
  readonly token?: string
  readonly agent?: string
  readonly session?: string
  readonly selection?: ToolSelection
  readonly structured?: boolean
  /** The bridge had a connection before this one (RA4). */
  readonly isReconnect?: boolean
  /** Text for the model, such as a version mismatch (RA14). */
  readonly notice?: string
}

export type ConnectionDeps = ReturnType<typeof createServers> & {
  readonly registry: ToolRegistry
  readonly listens: Pick<ReturnType<typeof createSubscriptions>, 'over'>
  readonly log: Log
  readonly ended: (session: string) => void
  /** What came with it opens nothing any more. */
  readonly isOver: (held: BoundCredentials) => boolean
  /** Parses a line when it is the turn of its lane. */
  readonly parse: (lane: string, line: Buffer) => Promise<unknown>
  readonly onRefused: (error: CoworkError) => void
}

/** One client over stdio. */
type Connection = {
  readonly presented: Credentials
  readonly servers: Set<Server>
  readonly transport: LineTransport
  /** Ends what it listens to. */
  unlisten(): void
}

/** The clients over stdio, each of which is a session (I12). */
export function createConnections(deps: ConnectionDeps) {
  const { registry, listens, log, newServer, ended, isOver, parse, onRefused } = deps
  const connections = new Set<Connection>()

  /** Throws when the bridge selects unknown tools, or reconnects with a token that has ended. */
  function checkHello({ selection, token, isReconnect }: BridgeHello): void {
    if (selection) checkSelection(selection, registry.list())
    if (isReconnect && token !== undefined && isOver({ bearer: token })) throw tokenEnded()
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
    const listening = listens.over(presented, (message) => transport.onmessage?.(message))
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
    // A client may probe with one era and go on with the other: then two servers live for a moment.
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
        // One that came without a token goes on, since a call may bring its own; it only hears nothing more.
        if (presented.bearer === undefined) unlisten()
        else void transport.close()
      }
    },
    close: () => Promise.all([...connections].map(({ transport }) => transport.close())),
  }
}

/** The first connection is served with such a token too: the client then shows the AuthError of each call. */
const tokenEnded = () =>
  new CoworkError('auth_error', 'The token of this client has been rotated or revoked.', {
    hint: 'Make one with `cowork agents rotate <id>`, or with `cowork agents add <id>` if\nthe agent was revoked, give it to the client, and start the client again.',
  })
