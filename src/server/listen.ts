import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { descriptorPassing } from '#base/descriptors.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { lastBytesMs } from './ends.ts'
import type { TakenEnds } from './ends.ts'
import { welcome } from './hello.ts'
import type { Hello } from './mcp/connections.ts'
import type { McpDoor } from './mcp/door.ts'

export type ListenOptions = {
  readonly host: string
  readonly port: number
  readonly headerBytes: number
  readonly bodySeconds: number
  readonly insecureBind: boolean
  readonly closedMode: boolean
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Where the command line comes in: a socket that only this user can open. */
  readonly socket?: string
}

export type Listening = { readonly port: number; close(): Promise<void> }

const loopbacks = ['127.0.0.1', '::1']
const meansLoopback = (host: string) =>
  ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase())

/** Listens on both loopbacks, or on one other address when that is made safe or explicitly allowed (SV20). */
export async function listen(
  fetch: (request: Request, env: object) => Response | Promise<Response>,
  options: ListenOptions,
): Promise<Listening> {
  const { host, tls, insecureBind, closedMode } = options
  const isLoopback = meansLoopback(host)
  if (!isLoopback && !((tls || insecureBind) && closedMode))
    throw new CoworkError('bind_refused', `cowork does not listen on ${host} like this.`, {
      hint: 'Beyond loopback it needs server.tls (or server.insecure_bind: true) and at least one registered agent.',
    })
  const settings = {
    maxHeaderSize: options.headerBytes,
    // A client that sends its request too slowly is answered 408.
    requestTimeout: options.bodySeconds * 1000,
    headersTimeout: options.bodySeconds * 1000,
    connectionsCheckingInterval: 1000,
  }
  const answer = limitPipelining(getRequestListener(fetch))
  const make = () =>
    tls
      ? createHttpsServer(
          { ...settings, cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
          answer,
        )
      : createHttpServer(settings, answer)

  const servers: HttpServer[] = []
  let { port } = options
  for (const address of isLoopback ? loopbacks : [host]) {
    const server = make()
    try {
      port = await bound(server, address, port)
      servers.push(server)
    } catch (error) {
      // A machine without IPv6 has one loopback; a port that is someone else's must not be half ours.
      if (address === '::1' && isMissing(error)) continue
      for (const open of servers) open.close()
      throw isTaken(error) ? portTaken(address, port) : error
    }
  }

  if (options.socket !== undefined) {
    const local = createHttpServer(settings, answer)
    await boundSocket(local, options.socket)
    servers.push(local)
  }

  return {
    port,
    async close() {
      await Promise.all(
        servers.map(
          (server) =>
            new Promise<void>((closed) => {
              server.close(() => closed())
              server.closeAllConnections()
            }),
        ),
      )
    },
  }
}

/** The most requests of one connection without an answer. Clients wait for the answer before the next request. */
const maxPipelined = 8

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * Ends a connection that sends many requests at once: Node reads 64 KB of them, 500 and more, in one turn of the event
 * loop, and a halt waits for all of them (RS4).
 */
function limitPipelining(answer: (...args: Parameters<Listener>) => Promise<void>): Listener {
  const counts = new WeakMap<Socket, number>()
  return (incoming, outgoing) => {
    const { socket } = incoming
    const count = (counts.get(socket) ?? 0) + 1
    if (count > maxPipelined) return void socket.destroy()
    counts.set(socket, count)
    outgoing.once('close', () => counts.set(socket, (counts.get(socket) ?? 1) - 1))
    void answer(incoming, outgoing)
  }
}

function bound(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Whatever lies there was left by a daemon that was killed: the lock on the state folder is ours. */
async function boundSocket(server: Server, path: string): Promise<void> {
  if (process.platform !== 'win32') rmSync(path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? ''
const isMissing = (error: unknown) => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))
const isTaken = (error: unknown) => codeOf(error) === 'EADDRINUSE'

const portTaken = (address: string, port: number) =>
  new CoworkError('port_taken', `Another program listens on ${address} port ${port}.`, {
    hint: 'End it, or choose another port with PORT or server.port.',
  })

/** The socket of the stdio bridge: a line that says who, then MCP, byte for byte, or by the ends that came along (SV4). */
export async function listenSocket(
  path: string,
  mcp: Pick<McpDoor, 'serve'>,
  log: Log,
  passing = descriptorPassing(),
): Promise<{ close(): Promise<void> }> {
  const open = new Set<Socket>()
  // Half open, so that who has said all it wants is still answered.
  const how = { pauseOnConnect: true, allowHalfOpen: true }
  const server = createSocketServer(how, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', (error) => log.debug('a stdio connection broke', { error: error.message }))
    welcome(socket, passing)
      .then(
        ({ hello, ends }) => (ends ? serveEnds(socket, ends, hello) : serveSocket(socket, hello)),
        (error: unknown) => {
          log.warn('a stdio connection was refused', { error: messageOf(error) })
          socket.destroy()
        },
      )
      .catch((error: unknown) => {
        log.error('a stdio connection failed', { error: messageOf(error) })
        socket.destroy()
      })
  })

  /** Who neither reads the last answers nor leaves would be here for ever. */
  async function serveSocket(socket: Socket, hello: Hello): Promise<void> {
    await mcp.serve(socket, hello)
    const timer = setTimeout(() => socket.destroy(), lastBytesMs).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  /** The bridge only waits now. When it is ended, so is the connection of its client. */
  async function serveEnds(bridge: Socket, ends: TakenEnds, hello: Hello): Promise<void> {
    if (bridge.destroyed) return ends.close()
    bridge.on('end', ends.close).on('close', ends.close).resume()
    const why = await mcp.serve(ends, hello)
    await ends.flushed()
    ends.close()
    // Who left knows why it is over; others are told what can be known.
    const word = ends.hasLeft() ? 'left' : why
    bridge.end(word === undefined ? '' : `${word}\n`)
  }

  await boundSocket(server, path)
  return {
    async close() {
      const closed = new Promise((done) => server.close(done))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
