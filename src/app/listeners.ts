import type { Identity } from '#identity'
import { createToolsetHttp, listen, listenSocket } from '#server'
import type { McpEndpoint } from '#server'
import type { Endpoints } from './endpoints.ts'
import { toHttpStatus } from './errors.ts'
import type { StartupContext } from './startup.ts'

/** Opens the HTTP port, the optional port for work tools, and the sockets. */
export async function openListeners(
  start: StartupContext,
  identity: Identity,
  { mcp, http }: Endpoints,
) {
  const { config, paths, address, log, undo, version, allowFreePort } = start
  const { limits } = config.server
  const web = await listen(http.fetch, {
    host: config.server.host,
    port: address.port(),
    headerBytes: limits.header_bytes,
    bodySeconds: limits.body_seconds,
    insecureBind: config.server.insecure_bind,
    isAuthEnabled: identity.mode() === 'closed',
    tls: config.server.tls,
    allowFreePort,
    socket: paths.apiSocket,
  })
  if (allowFreePort && config.server.port !== 0 && web.port !== config.server.port)
    log.warn('configured port in use, listening on another', {
      configured: config.server.port,
      port: web.port,
    })
  address.setPort(web.port)
  undo.add(web.close, http.close)
  const workUrl = await listenForWork(start, mcp, identity.mode() === 'closed')
  const socket = await listenSocket(paths.socket, mcp, log.scope('stdio'), version)
  undo.add(socket.close)
  return { workUrl }
}

/** Opens a separate port for the work tools, if configured (W1, W2). */
async function listenForWork(
  { config, log, shared, undo, allowFreePort }: StartupContext,
  mcp: McpEndpoint,
  isClosed: boolean,
): Promise<string | undefined> {
  const { listen: isWanted, host } = config.work
  if (!isWanted) return undefined
  const needsBearer = shared?.worksyncKey !== undefined
  if (!needsBearer && !isClosed)
    log.warn('the work endpoint is unauthenticated, set WORKSYNC_API_KEY', {
      port: config.work.port,
    })
  let { port } = config.work
  const { limits } = config.server
  const { fetch } = createToolsetHttp({
    guard: { port: () => port, isSecure: false, allowedHosts: [], allowedOrigins: [] },
    mcp,
    toolset: 'work',
    needsBearer,
    toHttpStatus: toHttpStatus,
    log: log.scope('work'),
  })
  const listening = await listen(fetch, {
    host,
    port,
    headerBytes: limits.header_bytes,
    bodySeconds: limits.body_seconds,
    insecureBind: config.server.insecure_bind,
    isAuthEnabled: needsBearer || isClosed,
    allowFreePort,
  })
  undo.add(listening.close)
  ;({ port } = listening)
  return `http://${host}:${port}/mcp`
}
