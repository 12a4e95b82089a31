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
  readonly closedMode: boolean
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Takes a free port on both loopbacks when another program listens on the chosen one (RA10). */
  readonly allowFreePort?: boolean | undefined
  /** Where the command line comes in: a socket that only this user can open. */
  readonly socket?: string
}

export type BoundServer = { readonly port: number; close(): Promise<void> }

const loopbacks = ['127.0.0.1', '::1']
const meansLoopback = (host: string) =>
  ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase())

/** Listens on both loopbacks, or on one other address when that is made safe or explicitly allowed (SV20). */
export async function listen(
  fetch: (request: Request, env: object) => Response | Promise<Response>,
  options: ListenOptions,
): Promise<BoundServer> {
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

  const { servers, port } =
    isLoopback && options.allowFreePort
      ? await bindFreePort(make, options.port)
      : await bindAll(make, isLoopback ? loopbacks : [host], options.port)

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

type Bound = { readonly servers: HttpServer[]; readonly port: number }

/** Binds one port on every address, or none of them: a port of another program must not be half ours. */
async function bindAll(
  make: () => HttpServer,
  addresses: readonly string[],
  wanted: number,
): Promise<Bound> {
  const servers: HttpServer[] = []
  let port = wanted
  for (const address of addresses) {
    const server = make()
    try {
      port = await bound(server, address, port)
      servers.push(server)
    } catch (error) {
      // A machine without IPv6 has one loopback.
      if (address === '::1' && isMissing(error)) continue
      for (const open of servers) open.close()
      throw isTaken(error) ? portTaken(address, port) : error
    }
  }
  return { servers, port }
}

/** A port that is free on one loopback may be taken on the other, so the kernel is asked a few times. */
const freePortAttempts = 5

async function bindFreePort(make: () => HttpServer, wanted: number): Promise<Bound> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await bindAll(make, loopbacks, attempt === 0 ? wanted : 0)
    } catch (error) {
      const isPortTaken = error instanceof CoworkError && error.code === 'port_taken'
      if (!isPortTaken || attempt === freePortAttempts) throw error
    }
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

/** A client that ended its requests has this long to read the last answers. */
const drainTimeoutMs = 5000

/** The socket of the stdio bridge: one line of handshake each way, then MCP, byte for byte (SV4). */
export async function listenSocket(
  path: string,
  mcp: Pick<McpEndpoint, 'checkHello' | 'serve'>,
  log: Log,
  version: string,
): Promise<{ close(): Promise<void> }> {
  const open = new Set<Socket>()
  // Half open: a client that ended its requests still gets the answers.
  const options = { pauseOnConnect: true, allowHalfOpen: true }
  const server = createSocketServer(options, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', (error) => log.debug('a stdio connection broke', { error: error.message }))
    serve(socket).catch((error: unknown) => {
      log.error('a stdio connection failed', { error: errorMessage(error) })
      socket.destroy()
    })
  })

  async function serve(socket: Socket): Promise<void> {
    const hello = await accept(socket)
    if (hello) await mcp.serve(socket, hello)
    const timer = setTimeout(() => socket.destroy(), drainTimeoutMs).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  /** Answers the handshake. Returns undefined after a refusal, which the bridge shows to its user. */
  async function accept(socket: Socket): Promise<BridgeHello | undefined> {
    const answer = (fields: object) =>
      `${JSON.stringify({ cowork: handshakeVersion, ...fields })}\n`
    try {
      const { version: bridge = version, wantsAnswer, ...hello } = await readHello(socket)
      mcp.checkHello(hello)
      if (wantsAnswer) socket.write(answer({ version }))
      if (bridge === version) return hello
      log.warn('stdio: the bridge is of another version', { bridge, daemon: version })
      return { ...hello, notice: versionNotice(bridge, version) }
    } catch (error) {
      if (!(error instanceof CoworkError)) throw error
      const { code, message, hint } = error
      log.warn('a stdio connection was refused', { error: message })
      socket.resume().end(answer({ error: { code, message, hint } }))
      return undefined
    }
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

const versionNotice = (bridge: string, daemon: string) =>
  `This client's cowork bridge is version ${bridge.slice(0, 50)}, the daemon is version ${daemon}. If a call behaves unexpectedly, ask the user to run \`cowork restart\` and to restart this client.`
