import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { handshakeVersion, readHello } from './bridge-handshake.ts'
import type { BridgeHello } from './mcp/connections.ts'
import type { McpEndpoint } from './mcp/endpoint.ts'

export type ListenOptions = {
  readonly host: string
  readonly port: number
  readonly headerBytes: number
  readonly bodySeconds: number
  readonly insecureBind: boolean
  readonly isAuthEnabled: boolean
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Binds a free port on both loopbacks if another program uses the configured one (RA10). */
  readonly allowFreePort?: boolean | undefined
  /** The socket of the command line, which only this user can open. */
  readonly socket?: string
}

export type BoundServer = { readonly port: number; close(): Promise<void> }

const loopbacks = ['127.0.0.1', '::1']
const isLoopbackHost = (host: string) =>
  ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase())

/** Listens on both loopbacks, or on another address if TLS or `insecure_bind`, and authentication, are on (SV20). */
export async function listen(
  fetch: (request: Request, env: object) => Response | Promise<Response>,
  options: ListenOptions,
): Promise<BoundServer> {
  const { host, tls, insecureBind, isAuthEnabled } = options
  const isLoopback = isLoopbackHost(host)
  if (!isLoopback && !((tls || insecureBind) && isAuthEnabled))
    throw new CoworkError(
      'bind_refused',
      `Cannot listen on ${host}: the address is not loopback.`,
      {
        hint: 'Set server.tls (or server.insecure_bind: true) and register at least one agent.',
      },
    )
  const settings = {
    maxHeaderSize: options.headerBytes,
    // Node answers 408 to a client that sends its request too slowly.
    requestTimeout: options.bodySeconds * 1000,
    headersTimeout: options.bodySeconds * 1000,
    connectionsCheckingInterval: 1000,
  }
  const onRequest = limitPipelining(getRequestListener(fetch))
  const createServer = () =>
    tls
      ? createHttpsServer(
          { ...settings, cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
          onRequest,
        )
      : createHttpServer(settings, onRequest)

  const { servers, port } =
    isLoopback && options.allowFreePort
      ? await bindFreePort(createServer, options.port)
      : await bindAll(createServer, isLoopback ? loopbacks : [host], options.port)

  if (options.socket !== undefined) {
    const local = createHttpServer(settings, onRequest)
    await bindSocket(local, options.socket)
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

/** The maximum of unanswered requests per connection. Clients wait for the response before the next request. */
const maxPipelined = 8

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * Ends a connection that pipelines many requests: Node reads 64 KB of them, 500 and more, in one iteration of the event
 * loop, and a halt waits for all of them (RS4).
 */
function limitPipelining(onRequest: (...args: Parameters<Listener>) => Promise<void>): Listener {
  const counts = new WeakMap<Socket, number>()
  return (incoming, outgoing) => {
    const { socket } = incoming
    const count = (counts.get(socket) ?? 0) + 1
    if (count > maxPipelined) return void socket.destroy()
    counts.set(socket, count)
    outgoing.once('close', () => counts.set(socket, (counts.get(socket) ?? 1) - 1))
    void onRequest(incoming, outgoing)
  }
}

type BoundServers = { readonly servers: HttpServer[]; readonly port: number }

/** Binds the port on all addresses or on none: another program must not share the port with cowork. */
async function bindAll(
  createServer: () => HttpServer,
  addresses: readonly string[],
  requestedPort: number,
): Promise<BoundServers> {
  const servers: HttpServer[] = []
  let port = requestedPort
  for (const address of addresses) {
    const server = createServer()
    try {
      port = await bindPort(server, address, port)
      servers.push(server)
    } catch (error) {
      // A machine without IPv6 has one loopback.
      if (address === '::1' && isAddressUnavailable(error)) continue
      for (const listening of servers) listening.close()
      throw isAddressInUse(error) ? portTakenError(address, port) : error
    }
  }
  return { servers, port }
}

/** A port that is free on one loopback can be in use on the other, so binding is retried. */
const freePortAttempts = 5

async function bindFreePort(
  createServer: () => HttpServer,
  requestedPort: number,
): Promise<BoundServers> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await bindAll(createServer, loopbacks, attempt === 0 ? requestedPort : 0)
    } catch (error) {
      const isPortTaken = error instanceof CoworkError && error.code === 'port_taken'
      if (!isPortTaken || attempt === freePortAttempts) throw error
    }
  }
}

function bindPort(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Removes the socket of a killed daemon first; the caller holds the lock on the state directory. */
async function bindSocket(server: Server, path: string): Promise<void> {
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

const errorCode = (error: unknown) => (error as NodeJS.ErrnoException).code ?? ''
const isAddressUnavailable = (error: unknown) =>
  ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(errorCode(error))
const isAddressInUse = (error: unknown) => errorCode(error) === 'EADDRINUSE'

const portTakenError = (address: string, port: number) =>
  new CoworkError('port_taken', `Port ${port} on ${address} is used by another program.`, {
    hint: 'Stop that program, or set another port with PORT or server.port.',
  })

/** The time a client has to read the last responses after it closed its side. */
const drainTimeoutMs = 5000

/** Listens for the stdio bridge: one handshake line in each direction, then MCP, byte for byte (SV4). */
export async function listenSocket(
  path: string,
  mcp: Pick<McpEndpoint, 'checkHello' | 'serve'>,
  log: Log,
  version: string,
): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  // Half-open: a client that closed its side still receives the responses.
  const options = { pauseOnConnect: true, allowHalfOpen: true }
  const server = createSocketServer(options, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', (error) => log.debug('connection error', { error: error.message }))
    serve(socket).catch((error: unknown) => {
      log.error('connection failed', { error: errorMessage(error) })
      socket.destroy()
    })
  })

  async function serve(socket: Socket): Promise<void> {
    const hello = await accept(socket)
    if (hello) await mcp.serve(socket, hello)
    const timer = setTimeout(() => socket.destroy(), drainTimeoutMs).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  /** Answers the handshake. Returns undefined after a refusal, which the bridge shows to the user. */
  async function accept(socket: Socket): Promise<BridgeHello | undefined> {
    const encodeReply = (fields: object) =>
      `${JSON.stringify({ cowork: handshakeVersion, ...fields })}\n`
    try {
      const { version: bridge = version, expectsReply, ...hello } = await readHello(socket)
      mcp.checkHello(hello)
      if (expectsReply) socket.write(encodeReply({ version }))
      if (bridge === version) return hello
      log.warn('bridge version differs', { bridge, daemon: version })
      return { ...hello, notice: versionNotice(bridge, version) }
    } catch (error) {
      if (!(error instanceof CoworkError)) throw error
      const { code, message, hint } = error
      log.warn('connection refused', { error: message })
      socket.resume().end(encodeReply({ error: { code, message, hint } }))
      return undefined
    }
  }

  await bindSocket(server, path)
  return {
    async close() {
      const closed = new Promise((done) => server.close(done))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const versionNotice = (bridge: string, daemon: string) =>
  `This client's cowork bridge is version ${bridge.slice(0, 50)}, the daemon is version ${daemon}. If a call behaves unexpectedly, ask the user to run \`cowork restart\` and to restart this client.`
