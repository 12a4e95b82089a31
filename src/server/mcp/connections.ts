import type { Duplex } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Catalogue } from '#dispatch'
import { createDirectCalls } from './direct.ts'
import type { createListens } from './listens.ts'
import type { createServers, Credentials, Held, Link } from './server.ts'
import { createLineTransport, serveLines } from './stdio.ts'
import type { Ends, LineTransport } from './stdio.ts'

/** What the stdio bridge says before the client's first byte (I13). */
export type Hello = { readonly token?: string; readonly agent?: string; readonly session?: string }

export type ConnectionDeps = ReturnType<typeof createServers> & {
  readonly catalogue: Catalogue
  readonly listens: Pick<ReturnType<typeof createListens>, 'over'>
  readonly log: Log
  readonly ended: (session: string) => void
  /** What came with it opens nothing any more. */
  readonly isOver: (held: Held) => boolean
  /** Parses a line when it is the turn of its lane. */
  readonly parse: (lane: string, line: Buffer) => Promise<unknown>
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
  const { catalogue, listens, log, newServer, call, ended, isOver, parse } = deps
  const connections = new Set<Connection>()

  /** Until either side ends it. Says if that is because its token opens nothing any more. */
  async function serve(stream: Duplex | Ends, hello: Hello): Promise<'over' | undefined> {
    const presented: Credentials = {
      address: 'stdio',
      ...(hello.token !== undefined && { bearer: hello.token }),
      ...(hello.agent !== undefined && { fallbackId: hello.agent }),
      ...(hello.session !== undefined && { label: hello.session }),
    }
    const session = newId()
    const link: Link = {
      transport: 'stdio',
      view: { coreOnly: false },
      session,
      busy: 0,
      credentials: () => presented,
    }
    const listening = listens.over(presented, (message) => transport.onmessage?.(message))
    const transport = createLineTransport(stream, {
      parse: (line) => parse(hello.token ?? session, line),
      take: (message) => listening.take(message) || direct.take(message),
      onAnswered: listening.end,
      hearsNews: () => !isOver(presented),
    })
    const servers = new Set<Server>()
    const connection = { presented, servers, transport, unlisten: listening.close }
    const direct = createDirectCalls({
      server: () => (servers.size === 1 ? [...servers][0] : undefined),
      speaksMcp: (name) => catalogue.find(name)?.speaksMcp === true,
      call: (server, request, context) => call(server, link, request, context),
      send: (message) => void transport.send(message),
    })
    connections.add(connection)
    // A client may probe with one era and go on with the other: then two servers live for a moment.
    await serveLines(transport, log, () => {
      const server = newServer(link)
      servers.add(server)
      server.onclose = () => servers.delete(server)
      return server
    }).finally(() => {
      connections.delete(connection)
      listening.close()
      direct.close()
      ended(session)
    })
    return hello.token !== undefined && isOver(presented) ? 'over' : undefined
  }

  return {
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
