import type { Duplex } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createMcpHandler, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server'
import type { Server, ServerContext, Transport } from '@modelcontextprotocol/server'
import type { Clock } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { createInFlight, mostFileBytes, readJson, tooLarge } from '../limits.ts'
import { isModern } from './answer.ts'
import { createDirectCalls } from './direct.ts'
import { createListens, isListen } from './listens.ts'
import { checkMirrored } from './mirrored.ts'
import { createOldSse } from './old-sse.ts'
import { refusal } from './replies.ts'
import { createServers, enter } from './server.ts'
import type { Credentials, Link, ServerDeps, View } from './server.ts'
import { createSessions } from './sessions.ts'
import type { Holder, SessionLimits } from './sessions.ts'
import { createLineTransport, endsOf, serveLines } from './stdio.ts'
import type { Ends } from './stdio.ts'
import { eitherTasks } from './tasks.ts'
import { createWaiting } from './waiting.ts'
import { wireOf } from './wire.ts'

export type McpDoorDeps = ServerDeps & {
  readonly approvals: Parameters<typeof createWaiting>[0]['approvals']
  readonly patienceMs?: number
  readonly now: Clock
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
export type Arrival = {
  readonly address: string
  readonly bearer?: string
  readonly parsedBody?: unknown
  readonly toolset?: string
  readonly coreOnly?: boolean
  /** On the addresses of the oldest revision: the stream a message is for, or none to open one. */
  readonly old?: { readonly stream?: string }
}

/** What the stdio bridge says before the client's first byte (I13). */
export type Hello = { readonly token?: string; readonly agent?: string; readonly session?: string }

export type McpDoor = ReturnType<typeof createMcpDoor>

/** MCP in both eras, over HTTP and stdio, in front of one catalogue and one dispatch (SV10). */
export function createMcpDoor(deps: McpDoorDeps) {
  const { catalogue, identity, limits, log } = deps
  const inFlight = createInFlight(limits.callsInFlight)
  const calls = new Set<Promise<unknown>>()
  const waiting = createWaiting(deps)
  const listens = createListens(deps)
  const tasks = deps.tasks ? eitherTasks(deps.tasks, waiting.tasks) : waiting.tasks
  const { newServer, call } = createServers(
    { ...deps, tasks },
    { inFlight, calls, waiting, checkOpen },
  )
  /** Which credentials came with which request; the SDK hands the request back to every handler. */
  const arrivals = new WeakMap<
    Request,
    { readonly view: View; readonly credentials: Credentials }
  >()
  const connections = new Set<Connection>()
  let isClosing = false

  // A schema that cannot be listed should stop the start, not the first client.
  for (const tool of catalogue.list()) wireOf(tool)

  const arrivalOf = (request: Request | undefined) => (request && arrivals.get(request)) ?? nobody
  const credentials = ({ http }: ServerContext) => arrivalOf(http?.req).credentials
  const newLink = (view: View, session?: string): Link => ({
    transport: 'http',
    view,
    busy: 0,
    credentials,
    ...(session !== undefined && { session }),
  })

  const modern = createMcpHandler(
    ({ requestInfo }) => newServer(newLink(arrivalOf(requestInfo).view)),
    {
      legacy: 'reject',
      onerror: (error) => log.debug('an MCP request was refused', { error: error.message }),
    },
  )
  const { ended } = identity.sessions
  const isOver = ({ bearer }: Pick<Holder, 'bearer'>) =>
    bearer !== undefined && identity.hasEnded(bearer)
  const sessions = createSessions({ limits, now: deps.now, log, newLink, newServer, ended, isOver })

  function checkOpen(): void {
    if (!isClosing) return
    const hint = 'Try again in a moment.'
    throw new CoworkError('shutting_down', 'cowork is shutting down.', { hint })
  }

  const old = createOldSse({
    maxStreams: limits.maxSessions,
    messagesPath: oldPaths.messages,
    log,
    isOver,
  })

  /** Ends what nobody uses any more, and what was opened by a token that no longer opens anything (I4). */
  function sweep(): void {
    sessions.sweep()
    old.sweep()
    for (const { credentials: presented, end } of listens.streams()) if (isOver(presented)) end()
    for (const { presented, transport } of connections)
      if (isOver(presented)) void transport.close()
  }
  const sweeper = setInterval(sweep, Math.min(limits.idleMs, 60_000))
  sweeper.unref()
  const unfollow = identity.onChange(sweep)

  async function fetch(request: Request, arrival: Arrival): Promise<Response> {
    let body = arrival.parsedBody
    try {
      checkOpen()
      body ??= await bodyOf(request, arrival)
      return await (arrival.old ? serveOld(arrival, body) : serve(request, arrival, body))
    } catch (error) {
      if (error instanceof CoworkError) return refusal(error, body)
      log.error('an MCP request failed unexpectedly', {
        error: error instanceof Error ? error.stack : String(error),
      })
      const message = 'The request failed because of a fault in cowork.'
      return refusal({ code: 'internal', message }, body)
    }
  }

  async function serve(request: Request, arrival: Arrival, body: unknown): Promise<Response> {
    const { bearer, toolset, coreOnly = false } = arrival
    if (toolset !== undefined && !catalogue.list().some((tool) => tool.toolset === toolset))
      throw new CoworkError('unknown_toolset', `/mcp/${toolset.slice(0, 100)} has no tools.`, {
        hint: 'All that you may use are at /mcp.',
      })
    const view = { coreOnly, ...(toolset !== undefined && { toolset }) }
    const presented = presentedBy(arrival)
    const isLegacy = await isLegacyRequest(request, body)

    // A call may bring its token as an argument (seed 001); then its answer says what is wrong with it.
    if (!isLegacy && bearer === undefined && bringsToken(body)) {
      arrivals.set(request, { view, credentials: presented })
      return serveModern(request, body)
    }
    const principal = await identity.principalOf({ door: 'mcp', ...presented })
    // A client that has too many is told to wait by HTTP; the call itself is counted where it runs.
    if (isCall(body)) enter(inFlight, principal)()
    const holder = { ...presented, principal }
    arrivals.set(request, { view, credentials: holder })
    return isLegacy ? sessions.handle(request, view, holder, body) : serveModern(request, body)
  }

  /** In open mode a client without a name of its own goes by the daemon's AGENT_ID, if there is one (I5). */
  function presentedBy({ address, bearer }: Arrival): Credentials {
    const { agentId } = deps
    return {
      address,
      ...(bearer !== undefined && { bearer }),
      ...(agentId !== undefined && { fallbackId: agentId }),
    }
  }

  async function serveModern(request: Request, body: unknown): Promise<Response> {
    if (isListen(body))
      return listens.stream(body, arrivalOf(request).credentials, request.signal, (parsedBody) =>
        modern.fetch(request, { parsedBody }),
      )
    const { params } = isCall(body) ? body : {}
    const tool = catalogue.find(String(params?.name))
    if (tool) checkMirrored(tool, params?.arguments, request.headers)
    return modern.fetch(request, { parsedBody: body })
  }

  /** The addresses of the oldest revision, where they are wanted (SV6). */
  async function serveOld(arrival: Arrival, body: unknown): Promise<Response> {
    const { old: asked } = arrival
    const presented = presentedBy(arrival)
    const principal = await identity.principalOf({ door: 'mcp', ...presented })
    if (isCall(body)) enter(inFlight, principal)()
    const known = { ...presented, principal }
    if (asked?.stream !== undefined) return old.post(asked.stream, known, body)
    return old.open(known, (session) => {
      const server = newServer({ ...newLink(nobody.view, session), credentials: () => known })
      server.onclose = () => ended(session)
      return server
    })
  }

  async function bodyOf(request: Request, arrival: Arrival): Promise<unknown> {
    if (!['GET', 'POST', 'DELETE'].includes(request.method))
      throw new CoworkError('method_not_allowed', `MCP has no use for ${request.method}.`, {
        hint: 'Send messages with POST.',
      })
    if (request.method !== 'POST') return undefined
    if (!isJsonContentType(request.headers.get('content-type')))
      throw new CoworkError('json_expected', 'The body must be JSON.', {
        hint: 'Send it with content-type: application/json.',
      })
    const { bodyBytes } = limits
    const isLarge = Number(request.headers.get('content-length')) > bodyBytes
    if (!isLarge || arrival.bearer === undefined) return readJson(request, bodyBytes)
    // A file may come with a call that writes it, from whom a token vouches for (SV25).
    await identity.principalOf({ door: 'mcp', ...presentedBy(arrival) })
    const body = await readJson(request, Math.max(bodyBytes, mostFileBytes))
    if (isCall(body) && catalogue.find(String(body.params?.name))?.large) return body
    throw tooLarge(bodyBytes)
  }

  async function serveStdioConnection(stream: Duplex | Ends, hello: Hello): Promise<void> {
    if (isClosing) {
      const { input, output } = endsOf(stream)
      input.destroy()
      output.destroy()
      return
    }
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
    const take = (message: unknown) => listening.take(message) || direct.take(message)
    const transport = createLineTransport(stream, undefined, take, listening.end)
    const connection: Connection = { presented, servers: new Set(), transport }
    const direct = createDirectCalls({
      server: () => (connection.servers.size === 1 ? [...connection.servers][0] : undefined),
      speaksMcp: (name) => catalogue.find(name)?.speaksMcp === true,
      call: (server, request, context) => call(server, link, request, context),
      send: (message) => void transport.send(message),
    })
    connections.add(connection)
    // A client may probe with one era and go on with the other: then two servers live for a moment.
    await serveLines(transport, log, () => {
      const server = newServer(link)
      connection.servers.add(server)
      server.onclose = () => connection.servers.delete(server)
      return server
    }).finally(() => {
      connections.delete(connection)
      listening.close()
      direct.close()
      ended(session)
    })
  }

  function tell(send: (server: Server) => Promise<void>): void {
    const all = [...sessions.servers(), ...[...connections].flatMap(({ servers }) => [...servers])]
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
    for (const server of [...connections].flatMap(({ servers }) => [...servers]))
      if (isModern(server)) server.sendResourceUpdated({ uri }).catch(() => undefined)
  }

  async function close(): Promise<void> {
    isClosing = true
    clearInterval(sweeper)
    unfollow()
    const ended = waiting.close()
    const grace = setTimeout(limits.graceMs, undefined, { ref: false })
    await Promise.race([Promise.allSettled([...calls, ended]), grace])
    // The last answers are still on their way out.
    await setImmediate()
    const lines = [...connections].map(({ transport }) => transport.close())
    await Promise.allSettled([modern.close(), sessions.close(), old.close(), ...lines])
  }

  for (const feature of deps.features ?? [])
    feature.start?.({ toolsChanged, promptsChanged, resourceUpdated })
  return {
    fetch,
    serve: serveStdioConnection,
    toolsChanged,
    sessionCount: sessions.size,
    close,
  }
}

/** One client over stdio. */
type Connection = {
  readonly presented: Credentials
  readonly servers: Set<Server>
  readonly transport: Transport
}

/** Where clients of the 2024-11-05 revision connect and post. */
export const oldPaths = { stream: '/sse', messages: '/messages' }

const nobody = { view: { coreOnly: false }, credentials: { address: 'unknown' } }

type ToolCall = {
  readonly params?: {
    readonly name?: unknown
    readonly arguments?: { readonly agent_token?: unknown }
  }
}

const isCall = (body: unknown): body is ToolCall =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'

const bringsToken = (body: unknown): boolean =>
  isCall(body) && typeof body.params?.arguments?.agent_token === 'string'
