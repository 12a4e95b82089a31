import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Hello, McpDoor } from './mcp/door.ts'

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
  const answer = getRequestListener(fetch)
  const make = () =>
    tls
      ? createHttpsServer(
          { ...settings, cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
          (incoming, outgoing) => void answer(incoming, outgoing),
        )
      : createHttpServer(settings, (incoming, outgoing) => void answer(incoming, outgoing))

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
    const local = createHttpServer(
      settings,
      (incoming, outgoing) => void answer(incoming, outgoing),
    )
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

const mostHello = 8192
const helloWithin = 5000

/** The socket of the stdio bridge: a line that says who, then MCP, byte for byte (SV4). */
export async function listenSocket(
  path: string,
  mcp: Pick<McpDoor, 'serve'>,
  log: Log,
): Promise<{ close(): Promise<void> }> {
  const open = new Set<Socket>()
  const server = createSocketServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', (error) => log.debug('a stdio connection broke', { error: error.message }))
    readHello(socket)
      .then(
        (hello) => mcp.serve(socket, hello),
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
  await boundSocket(server, path)
  return {
    async close() {
      const closed = new Promise((done) => server.close(done))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function readHello(socket: Socket): Promise<Hello> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0)
    const timer = setTimeout(() => done(new Error('no hello came')), helloWithin)
    const ended = () => done(new Error('it closed before its hello'))
    const more = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      const end = read.indexOf('\n')
      if (end === -1 && read.length <= mostHello) return
      if (end === -1 || end > mostHello) return done(new Error('its hello is too long'))
      const line = read.subarray(0, end).toString('utf8')
      const rest = read.subarray(end + 1)
      try {
        done(undefined, parseHello(line), rest)
      } catch (error) {
        done(error as Error)
      }
    }
    function done(error: Error | undefined, hello: Hello = {}, rest?: Buffer) {
      clearTimeout(timer)
      socket.off('data', more)
      socket.off('close', ended)
      socket.pause()
      if (error) return reject(error)
      if (rest && rest.length > 0) socket.unshift(rest)
      resolve(hello)
    }
    socket.on('data', more)
    socket.on('close', ended)
  })
}

function parseHello(line: string): Hello {
  const said: unknown = JSON.parse(line)
  if (typeof said !== 'object' || said === null || !('cowork' in said) || said.cowork !== 1)
    throw new Error('its hello is not of this version')
  const text = (name: string) => {
    const value = (said as Record<string, unknown>)[name]
    return typeof value === 'string' && value !== '' ? { [name]: value } : {}
  }
  return { ...text('token'), ...text('agent'), ...text('session') }
}
