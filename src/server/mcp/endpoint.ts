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
  readonly patienceMs?: number
  readonly now: Clock
  /** For requests that are refused before they are calls. */
  readonly note: (draft: EntryDraft) => void
  readonly toHttpStatus: ToHttpStatus
  /** AGENT_ID of the daemon's environment. */
  readonly agentId?: string | undefined
  readonly limits: SessionLimits & {
    readonly bodyBytes: number
    readonly callsInFlight: number
    /** How long `close` waits for calls under way. */
    readonly graceMs: number
  }
}

/** What the HTTP door knows of a request before MCP begins. */
export type IncomingRequest = {
  readonly address: string
  readonly bearer?: string
  readonly parsedBody?: unknown
  /** The toolset in the path, as in `/mcp/files`. */
  readonly toolset?: string
  /** Serves that toolset and nothing else. */
  readonly isOnly?: true
  readonly query?: Readonly<Record<string, string>>
  /** On the addresses of the oldest revision: the stream a message is for, or none to open one. */
  readonly old?: { readonly stream?: string }
}

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/** MCP in both eras, over HTTP and stdio, in front of one registry and one dispatch (SV10). */
export function createMcpEndpoint(deps: McpEndpointDeps) {
  const { registry, identity, limits, log } = deps
  const inFlight = createInFlightLimiter(limits.callsInFlight)
  const messages = createMessages({
    bodyBytes: limits.bodyBytes,
    largeTools: () => registry.list().flatMap(({ large, name }) => (large ? [name] : [])),
  })
  const calls = new Set<RunningCall>()
  const waiting = createPendingReply(deps)
  const listens = createSubscriptions(deps)
  const tasks = deps.tasks ? combineTaskSources(deps.tasks, waiting.tasks) : waiting.tasks
  const servers = createServers({ ...deps, tasks }, { inFlight, calls, waiting, checkOpen })
  const { newServer } = servers
  /** Which credentials came with which request; the SDK hands the request back to every handler. */
  const arrivals = new WeakMap<
    Request,
    { readonly view: ToolView; readonly credentials: Credentials }
  >()
  const recordRefused = createCountedEntries({
    toEntry: refusedEntry,
    appendDeferred: deps.note,
    sleep: (ms) => setTimeout(ms, undefined, { ref: false }),
    log,
  })
  let isClosing = false

  // A schema that cannot be listed should stop the start, not the first client.
  for (const tool of registry.list()) toWireTool(tool)

  const arrivalOf = (request: Request | undefined) => (request && arrivals.get(request)) ?? nobody
  const credentials = ({ http }: ServerContext) => arrivalOf(http?.req).credentials
  const newLink = (view: ToolView, session?: string, bearer?: string): ServerBinding => ({
    transport: 'http',
    view,
    ...(bearer !== undefined && { bearer }),
    busy: 0,
    credentials,
    ...(session !== undefined && { session }),
  })

  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const { view, credentials: brought } = arrivalOf(requestInfo)
      return newServer(newLink(view, undefined, brought.bearer))
    },
    {
      legacy: 'reject',
      onerror: (error) => log.debug('an MCP request was refused', { error: error.message }),
    },
  )
  const { endConnection } = identity.sessions
  /** Its token opens nothing any more; where it has none, the door is closed (I4, I5). */
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
    listens,
    log,
    ended: endConnection,
    isOver,
    parse: messages.parseLine,
    onRefused: (error) => recordRefused({ address: 'stdio', error }),
  })

  function checkOpen(): void {
    if (!isClosing) return
    const hint = 'Try again in a moment.'
    throw new CoworkError('shutting_down', 'cowork is shutting down.', { hint })
  }

  const old = createLegacySse({
    maxStreams: limits.maxSessions,
    messagesPath: legacySsePaths.messages,
    log,
    isOver,
  })

  /** Ends what nobody uses any more, and what is held by those who may not come in any more (I4). */
  async function sweep(): Promise<void> {
    const over = [...calls, ...listens.streams()].filter(({ held }) => isOver(held))
    for (const { end } of over) end()
    // The answers of these calls go out before what carries them ends.
    if (over.length > 0) await setImmediate()
    for (const open of [sessions, old, connections]) open.sweep()
  }
  const sweeper = setInterval(() => void sweep(), Math.min(limits.idleMs, 60_000))
  sweeper.unref()
  const unfollow = identity.onChange(() => {
    void sweep()
    // A person may have chosen other tools for an agent (SV18).
    toolsChanged()
  })

  async function fetch(request: Request, arrival: IncomingRequest): Promise<Response> {
    let body = arrival.parsedBody
    try {
      checkOpen()
      body ??= await bodyOf(request, arrival)
      return await (arrival.old ? serveOld(arrival, body) : serve(request, arrival, body))
    } catch (error) {
      if (error instanceof CoworkError) {
        if (malformed.includes(error.code)) recordRefused({ address: arrival.address, error })
        return errorResponse(error, deps.toHttpStatus(error.code), body)
      }
      log.error('an MCP request failed unexpectedly', {
        error: error instanceof Error ? error.stack : String(error),
      })
      const message = 'The request failed because of a fault in cowork.'
      return errorResponse({ code: 'internal', message }, 500, body)
    }
  }

  async function serve(
    request: Request,
    arrival: IncomingRequest,
    body: unknown,
  ): Promise<Response> {
    const view = viewOf(arrival)
    const presented = presentedBy(arrival)
    const isLegacy = await isLegacyRequest(request, body)
    // The answer of a call that brings its token as an argument says what is wrong with it (seed 001).
    if (!isLegacy && arrival.bearer === undefined && bringsToken(body)) {
      arrivals.set(request, { view, credentials: presented })
      return serveModern(request, body)
    }
    const isAnonymous = identity.mode() === 'closed' && canBeAnonymous(arrival, body)
    const principal = isAnonymous
      ? `anonymous:${arrival.address}`
      : await identity.getPrincipal({ door: 'mcp', ...presented })
    // A client that has too many is told to wait by HTTP; the call itself is counted where it runs.
    if (isCall(body)) trackInFlight(inFlight, principal)()
    arrivals.set(request, {
      view,
      credentials: isAnonymous ? presented : { ...presented, principal },
    })
    const holder = { ...presented, principal, ...(isAnonymous && { isAnonymous }) }
    return isLegacy ? sessions.handle(request, view, holder, body) : serveModern(request, body)
  }

  function viewOf({ query = {}, toolset, isOnly }: IncomingRequest): ToolView {
    const tools = registry.list()
    const view = parseView(query, toolset, tools)
    return isOnly && toolset !== undefined ? onlyToolset(view, toolset, tools) : view
  }

  /** In open mode a client without a name of its own goes by the daemon's AGENT_ID, if there is one (I5). */
  function presentedBy({ address, bearer }: IncomingRequest): Credentials {
    const { agentId } = deps
    return {
      address,
      ...(bearer !== undefined && { bearer }),
      ...(agentId !== undefined && { fallbackId: agentId }),
    }
  }

  async function serveModern(request: Request, body: unknown): Promise<Response> {
    if (isSubscribeRequest(body))
      return listens.stream(body, arrivalOf(request).credentials, request.signal, (parsedBody) =>
        modern.fetch(request, { parsedBody }),
      )
    const { params } = isCall(body) ? body : {}
    const tool = registry.find(String(params?.name))
    if (tool) checkHeaderArguments(tool, params?.arguments, request.headers)
    return modern.fetch(request, { parsedBody: body })
  }

  /** The addresses of the oldest revision, where they are wanted (SV6). */
  async function serveOld(arrival: IncomingRequest, body: unknown): Promise<Response> {
    const { old: asked } = arrival
    const presented = presentedBy(arrival)
    const principal = await identity.getPrincipal({ door: 'mcp', ...presented })
    if (isCall(body)) trackInFlight(inFlight, principal)()
    const known = { ...presented, principal }
    if (asked?.stream !== undefined) return old.post(asked.stream, known, body)
    return old.open(known, (session, held) => {
      const server = newServer({ ...newLink(nobody.view, session), credentials: held })
      server.onclose = () => endConnection(session)
      return server
    })
  }

  async function bodyOf(request: Request, arrival: IncomingRequest): Promise<unknown> {
    if (!['GET', 'POST', 'DELETE'].includes(request.method))
      throw new CoworkError('method_not_allowed', `MCP has no use for ${request.method}.`, {
        hint: 'Send messages with POST.',
      })
    if (request.method !== 'POST') return undefined
    if (!isJsonContentType(request.headers.get('content-type')))
      throw new CoworkError('json_expected', 'The body must be JSON.', {
        hint: 'Send it with content-type: application/json.',
      })
    const lane = arrival.bearer ?? arrival.address
    // A file may come with a call that writes it, from whom a token vouches for (SV25).
    const isLarge = Number(request.headers.get('content-length')) > messages.maxBytes
    const canWriteFiles = isLarge && arrival.bearer !== undefined
    if (canWriteFiles) await identity.getPrincipal({ door: 'mcp', ...presentedBy(arrival) })
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

  function tell(send: (server: Server) => Promise<void>): void {
    const all = [...sessions.servers(), ...connections.servers()]
    // One that has not said hello yet, or just left, will list anew anyway.
    for (const server of all) send(server).catch(() => undefined)
  }

  function toolsChanged(): void {
    modern.notify.toolsChanged()
    tell((server) => server.sendToolListChanged())
  }

  function promptsChanged(): void {
    modern.notify.promptsChanged()
    tell((server) => server.sendPromptListChanged())
  }

  /** Only the newer era: a client of the older one subscribes at its own server (mcp-resources.ts). */
  function resourceUpdated(uri: string): void {
    modern.notify.resourceUpdated(uri)
    for (const server of connections.servers())
      if (isCurrentProtocol(server)) server.sendResourceUpdated({ uri }).catch(() => undefined)
  }

  async function close(): Promise<void> {
    isClosing = true
    clearInterval(sweeper)
    unfollow()
    waiting.close()
    const grace = setTimeout(limits.graceMs, undefined, { ref: false })
    const done = [...calls].map((one) => one.done)
    await Promise.race([Promise.allSettled(done), grace])
    // The last answers are still on their way out.
    await setImmediate()
    const open = [modern, sessions, old, connections, messages]
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

/** Faults of the request itself; those of credentials and of load are recorded or counted elsewhere. */
const malformed = [
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

const refusedEntry = (address: string, { error }: RefusedRequest, count: number): EntryDraft => ({
  type: 'request.refused',
  actor: systemActor,
  domain: 'cowork',
  subject: address,
  outcome: error.code,
  data: { message: error.message, count },
})

/** Where clients of the 2024-11-05 revision connect and post. */
export const legacySsePaths = { stream: '/sse', messages: '/messages' }

const nobody: { readonly view: ToolView; readonly credentials: Credentials } = {
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

const bringsToken = (body: unknown): boolean => {
  if (!isCall(body)) return false
  const { name, arguments: args } = body.params ?? {}
  const used = parseUse(String(name), args)?.arguments as typeof args
  return typeof (args?.agent_token ?? used?.agent_token) === 'string'
}

/** Handshake and lists need no token, so that a client can start; calls and subscriptions do (SV21). */
const canBeAnonymous = ({ bearer }: IncomingRequest, body: unknown): boolean =>
  bearer === undefined && (isCall(body) ? bringsToken(body) : !isSubscribeRequest(body))
