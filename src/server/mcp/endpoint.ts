import type { Duplex } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createMcpHandler, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server'
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '#base/clock.ts'
import { createCountedEntries } from '#base/counted-entry.ts'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { parseUse } from '#dispatch'
import type { ToHttpStatus } from '../guards.ts'
import { createInFlightLimiter } from '../limits.ts'
import { createMessages } from '../messages.ts'
import { isCurrentProtocol } from './results.ts'
import { createConnections } from './connections.ts'
import type { BridgeHello } from './connections.ts'
import { createSubscriptions, isSubscribeRequest } from './subscriptions.ts'
import { checkHeaderArguments } from './header-arguments.ts'
import { createLegacySse } from './legacy-sse.ts'
import { errorResponse } from './replies.ts'
import { createServers, trackInFlight } from './server.ts'
import type {
  Credentials,
  BoundCredentials,
  ServerBinding,
  RunningCall,
  ServerDeps,
  ToolView,
} from './server.ts'
import { createSessions } from './sessions.ts'
import type { SessionLimits } from './sessions.ts'
import { combineTaskSources } from './tasks.ts'
import { defaultView, onlyToolset, parseView } from './view.ts'
import { createPendingReply } from './pending-reply.ts'
import { toWireTool } from './wire.ts'

export type McpEndpointDeps = ServerDeps & {
  readonly approvals: Parameters<typeof createPendingReply>[0]['approvals']
  readonly waitMs?: number
  readonly now: Clock
  /** Records requests that are refused before they become calls. */
  readonly note: (draft: EntryDraft) => void
  readonly toHttpStatus: ToHttpStatus
  /** AGENT_ID from the daemon's environment. */
  readonly agentId?: string | undefined
  readonly limits: SessionLimits & {
    readonly bodyBytes: number
    readonly callsInFlight: number
    /** How long `close` waits for running calls. */
    readonly graceMs: number
  }
}

/** The data of an HTTP request outside its MCP message. */
export type IncomingRequest = {
  readonly address: string
  readonly bearer?: string
  readonly parsedBody?: unknown
  /** The toolset in the path, for example `/mcp/files`. */
  readonly toolset?: string
  /** Serves only that toolset. */
  readonly isExclusive?: true
  readonly query?: Readonly<Record<string, string>>
  /**
   * Set on the endpoints of the 2024-11-05 revision: the stream of a message; without `stream`, a
   * new stream is opened.
   */
  readonly legacySse?: { readonly stream?: string }
}

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/**
 * Creates the MCP endpoint: current and legacy protocol, HTTP and stdio, with one registry and one
 * dispatch (SV10).
 */
export function createMcpEndpoint(deps: McpEndpointDeps) {
  const { registry, identity, limits, log } = deps
  const inFlight = createInFlightLimiter(limits.callsInFlight)
  const messages = createMessages({
    bodyBytes: limits.bodyBytes,
    largeTools: () => registry.list().flatMap(({ large, name }) => (large ? [name] : [])),
  })
  const calls = new Set<RunningCall>()
  const pendingReply = createPendingReply(deps)
  const subscriptions = createSubscriptions(deps)
  const tasks = deps.tasks ? combineTaskSources(deps.tasks, pendingReply.tasks) : pendingReply.tasks
  const servers = createServers({ ...deps, tasks }, { inFlight, calls, pendingReply, checkOpen })
  const { newServer } = servers
  /** The credentials of each request; the SDK passes the request to every handler. */
  const requests = new WeakMap<
    Request,
    { readonly view: ToolView; readonly credentials: Credentials }
  >()
  const recordRefused = createCountedEntries({
    toEntry: buildRefusedEntry,
    appendDeferred: deps.note,
    sleep: (ms) => setTimeout(ms, undefined, { ref: false }),
    log,
  })
  let isClosing = false

  // An invalid schema must fail the startup, not the first client.
  for (const tool of registry.list()) toWireTool(tool)

  const getRequest = (request: Request | undefined) =>
    (request && requests.get(request)) ?? unknownRequest
  const credentials = ({ http }: ServerContext) => getRequest(http?.req).credentials
  const newLink = (view: ToolView, session?: string, bearer?: string): ServerBinding => ({
    transport: 'http',
    view,
    ...(bearer !== undefined && { bearer }),
    busy: 0,
    credentials,
    ...(session !== undefined && { session }),
  })

  const currentHandler = createMcpHandler(
    ({ requestInfo }) => {
      const { view, credentials: brought } = getRequest(requestInfo)
      return newServer(newLink(view, undefined, brought.bearer))
    },
    {
      legacy: 'reject',
      onerror: (error) => log.debug('request refused', { error: error.message }),
    },
  )
  const { endConnection } = identity.sessions
  /** True if the token has ended, or if it is missing and authentication is on (I4, I5). */
  const isOver = ({ bearer, agentToken, isAnonymous }: BoundCredentials) => {
    const tokens = [bearer, agentToken].filter((token) => token !== undefined)
    if (tokens.length > 0) return tokens.some(identity.isTokenEnded)
    return !isAnonymous && identity.mode() === 'closed'
  }
  const sessions = createSessions({
    limits,
    now: deps.now,
    log,
    newLink,
    newServer,
    ended: endConnection,
    isOver,
  })
  const connections = createConnections({
    ...servers,
    registry,
    subscriptions,
    log,
    ended: endConnection,
    isOver,
    parse: messages.parseLine,
    onRefused: (error) => recordRefused({ address: 'stdio', error }),
  })

  function checkOpen(): void {
    if (!isClosing) return
    const hint = 'Retry in a moment.'
    throw new CoworkError('shutting_down', 'cowork is shutting down.', { hint })
  }

  const legacySse = createLegacySse({
    maxStreams: limits.maxSessions,
    messagesPath: legacySsePaths.messages,
    log,
    isOver,
  })

  /** Ends idle sessions, and the calls and streams of ended credentials (I4). */
  async function sweep(): Promise<void> {
    const over = [...calls, ...subscriptions.streams()].filter((one) => isOver(one.credentials))
    for (const { end } of over) end()
    // The responses of these calls are sent before their transport ends.
    if (over.length > 0) await setImmediate()
    for (const open of [sessions, legacySse, connections]) open.sweep()
  }
  const sweeper = setInterval(() => void sweep(), Math.min(limits.idleMs, 60_000))
  sweeper.unref()
  const stopFollowing = identity.onChange(() => {
    void sweep()
    // A person may have changed the tool selection of an agent (SV18).
    toolsChanged()
  })

  async function fetch(request: Request, arrival: IncomingRequest): Promise<Response> {
    let body = arrival.parsedBody
    try {
      checkOpen()
      body ??= await readBody(request, arrival)
      return await (arrival.legacySse
        ? serveLegacySse(arrival, body)
        : serve(request, arrival, body))
    } catch (error) {
      if (error instanceof CoworkError) {
        if (malformedCodes.includes(error.code)) recordRefused({ address: arrival.address, error })
        return errorResponse(error, deps.toHttpStatus(error.code), body)
      }
      log.error('request failed unexpectedly', {
        error: error instanceof Error ? error.stack : String(error),
      })
      const message = 'Internal error: the request failed. The log contains the cause.'
      return errorResponse({ code: 'internal', message }, 500, body)
    }
  }

  async function serve(
    request: Request,
    arrival: IncomingRequest,
    body: unknown,
  ): Promise<Response> {
    const view = getView(arrival)
    const presented = toCredentials(arrival)
    const isLegacy = await isLegacyRequest(request, body)
    // A call with an invalid token argument gets an error result that explains it (File Ops).
    if (!isLegacy && arrival.bearer === undefined && hasTokenArgument(body)) {
      requests.set(request, { view, credentials: presented })
      return serveCurrent(request, body)
    }
    const isAnonymous = identity.mode() === 'closed' && canBeAnonymous(arrival, body)
    const principal = isAnonymous
      ? `anonymous:${arrival.address}`
      : await identity.getPrincipal({ door: 'mcp', ...presented })
    // HTTP returns 429 if the client has too many requests; the call itself is counted when it
    // runs.
    if (isCall(body)) trackInFlight(inFlight, principal)()
    requests.set(request, {
      view,
      credentials: isAnonymous ? presented : { ...presented, principal },
    })
    const holder = { ...presented, principal, ...(isAnonymous && { isAnonymous }) }
    return isLegacy ? sessions.handle(request, view, holder, body) : serveCurrent(request, body)
  }

  function getView({ query = {}, toolset, isExclusive }: IncomingRequest): ToolView {
    const tools = registry.list()
    const view = parseView(query, toolset, tools)
    return isExclusive && toolset !== undefined ? onlyToolset(view, toolset, tools) : view
  }

  /** With authentication off, a client without a name uses the daemon's AGENT_ID, if set (I5). */
  function toCredentials({ address, bearer }: IncomingRequest): Credentials {
    const { agentId } = deps
    return {
      address,
      ...(bearer !== undefined && { bearer }),
      ...(agentId !== undefined && { fallbackId: agentId }),
    }
  }

  async function serveCurrent(request: Request, body: unknown): Promise<Response> {
    if (isSubscribeRequest(body))
      return subscriptions.stream(
        body,
        getRequest(request).credentials,
        request.signal,
        (parsedBody) => currentHandler.fetch(request, { parsedBody }),
      )
    const { params } = isCall(body) ? body : {}
    const tool = registry.find(String(params?.name))
    if (tool) checkHeaderArguments(tool, params?.arguments, request.headers)
    return currentHandler.fetch(request, { parsedBody: body })
  }

  /** Serves the endpoints of the 2024-11-05 revision, if enabled (SV6). */
  async function serveLegacySse(arrival: IncomingRequest, body: unknown): Promise<Response> {
    const { legacySse: asked } = arrival
    const presented = toCredentials(arrival)
    const principal = await identity.getPrincipal({ door: 'mcp', ...presented })
    if (isCall(body)) trackInFlight(inFlight, principal)()
    const known = { ...presented, principal }
    if (asked?.stream !== undefined) return legacySse.post(asked.stream, known, body)
    return legacySse.open(known, (session, held) => {
      const server = newServer({ ...newLink(unknownRequest.view, session), credentials: held })
      server.onclose = () => endConnection(session)
      return server
    })
  }

  async function readBody(request: Request, arrival: IncomingRequest): Promise<unknown> {
    if (!['GET', 'POST', 'DELETE'].includes(request.method))
      throw new CoworkError('method_not_allowed', `Method not allowed: ${request.method}.`, {
        hint: 'Send MCP messages with POST.',
      })
    if (request.method !== 'POST') return undefined
    if (!isJsonContentType(request.headers.get('content-type')))
      throw new CoworkError('json_expected', 'The body must be JSON.', {
        hint: 'Send the body with content-type: application/json.',
      })
    const lane = arrival.bearer ?? arrival.address
    // A body as large as a file is accepted only from a verified agent (SV25).
    const isLarge = Number(request.headers.get('content-length')) > messages.maxBytes
    const canWriteFiles = isLarge && arrival.bearer !== undefined
    if (canWriteFiles) await identity.getPrincipal({ door: 'mcp', ...toCredentials(arrival) })
    return messages.readMessage(lane, request, canWriteFiles)
  }

  function checkHello(hello: BridgeHello): void {
    checkOpen()
    connections.checkHello(hello)
  }

  async function serveStdio(stream: Duplex, hello: BridgeHello): Promise<void> {
    if (!isClosing) return connections.serve(stream, hello)
    stream.destroy()
  }

  function broadcast(send: (server: Server) => Promise<void>): void {
    const all = [...sessions.servers(), ...connections.servers()]
    // An error means that the client is not initialized or has disconnected; it will list again
    // anyway.
    for (const server of all) send(server).catch(() => undefined)
  }

  function toolsChanged(): void {
    currentHandler.notify.toolsChanged()
    broadcast((server) => server.sendToolListChanged())
  }

  function promptsChanged(): void {
    currentHandler.notify.promptsChanged()
    broadcast((server) => server.sendPromptListChanged())
  }

  /** For current clients; legacy clients subscribe at their own server (mcp-resources.ts). */
  function resourceUpdated(uri: string): void {
    currentHandler.notify.resourceUpdated(uri)
    for (const server of connections.servers())
      if (isCurrentProtocol(server)) server.sendResourceUpdated({ uri }).catch(() => undefined)
  }

  async function close(): Promise<void> {
    isClosing = true
    clearInterval(sweeper)
    stopFollowing()
    pendingReply.close()
    const grace = setTimeout(limits.graceMs, undefined, { ref: false })
    const done = [...calls].map((one) => one.done)
    await Promise.race([Promise.allSettled(done), grace])
    // The last responses are still being sent.
    await setImmediate()
    const open = [currentHandler, sessions, legacySse, connections, messages]
    await Promise.allSettled(open.map((one) => one.close()))
  }

  for (const feature of deps.features ?? [])
    feature.start?.({ toolsChanged, promptsChanged, resourceUpdated })
  return {
    fetch,
    checkHello,
    serve: serveStdio,
    toolsChanged,
    sessionCount: sessions.size,
    messages,
    close,
  }
}

/** Malformed requests. Authentication failures and limits are recorded or counted elsewhere. */
const malformedCodes = [
  'invalid_json',
  'json_expected',
  'too_large',
  'unknown_toolset',
  'unknown_tools',
  'empty_selection',
  'unknown_parameter',
  'header_mismatch',
]

type RefusedRequest = { readonly address: string; readonly error: CoworkError }

const buildRefusedEntry = (
  address: string,
  { error }: RefusedRequest,
  count: number,
): EntryDraft => ({
  type: 'request.refused',
  actor: systemActor,
  domain: 'cowork',
  subject: address,
  outcome: error.code,
  data: { message: error.message, count },
})

/** The endpoints of the 2024-11-05 revision. */
export const legacySsePaths = { stream: '/sse', messages: '/messages' }

const unknownRequest: { readonly view: ToolView; readonly credentials: Credentials } = {
  view: defaultView,
  credentials: { address: 'unknown' },
}

type ToolCall = {
  readonly params?: {
    readonly name?: unknown
    readonly arguments?: { readonly agent_token?: unknown }
  }
}

const isCall = (body: unknown): body is ToolCall =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'

const hasTokenArgument = (body: unknown): boolean => {
  if (!isCall(body)) return false
  const { name, arguments: args } = body.params ?? {}
  const used = parseUse(String(name), args)?.arguments as typeof args
  return typeof (args?.agent_token ?? used?.agent_token) === 'string'
}

/**
 * Handshake and lists need no token, so a client can start; calls and subscriptions need one
 * (SV21).
 */
const canBeAnonymous = ({ bearer }: IncomingRequest, body: unknown): boolean =>
  bearer === undefined && (isCall(body) ? hasTokenArgument(body) : !isSubscribeRequest(body))
