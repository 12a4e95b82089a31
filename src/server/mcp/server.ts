import {
  mergeCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import type {
  CallToolRequest,
  CallToolResult,
  ListToolsResult,
  ServerCapabilities,
  ServerContext,
  ServerOptions,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import type { Client } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { joinSelections } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import { hasScope, isListed, addUnlistedToolHint, parseUse } from '#dispatch'
import type { ToolRegistry, Dispatch } from '#dispatch'
import type { Identity, PresentedCredentials } from '#identity'
import type { createInFlightLimiter } from '../limits.ts'
import { formatError, toErrorResult, toProtocolError, toResult } from './results.ts'
import { getClientInfo, createMcpContext, tasksExtension, getTraceparent } from './mcp-context.ts'
import { instructionsFor } from './instructions.ts'
import type { UpstreamServer } from './instructions.ts'
import { createCallLifetime, createProgressReporter } from './call-lifetime.ts'
import type { CallLifetime } from './call-lifetime.ts'
import { attachTasks } from './tasks.ts'
import type { TaskSource } from './tasks.ts'
import type { createPendingReply } from './pending-reply.ts'
import { paginateTools } from './wire.ts'

/** The tools and the form of results that a connection asked for (SV18, SV19). */
export type ToolView = {
  readonly selection: ToolSelection
  /** The client wants the output of every tool in structuredContent (SV19). */
  readonly structured?: boolean
}

/** The credentials of one request. */
export type Credentials = Pick<
  PresentedCredentials,
  'address' | 'bearer' | 'fallbackId' | 'label'
> & {
  /**
   * The principal for the limit of running calls; the caller itself if the endpoint does not know
   * it.
   */
  readonly principal?: string
}

/** The credentials on which a call or stream depends: it ends with them. */
export type BoundCredentials = {
  readonly bearer?: string | undefined
  readonly agentToken?: string | undefined
  /**
   * No token although authentication is on: the client can list tools, and a call may contain a
   * token.
   */
  readonly isAnonymous?: boolean
}

/** A running call. */
export type RunningCall = {
  readonly credentials: BoundCredentials
  /** Resolves when the work is done, possibly after the response. */
  readonly done: Promise<unknown>
  /** Stops the call and returns an authentication error. */
  end(): void
}

/** The connection of a server instance. */
export type ServerBinding = {
  readonly transport: Client['transport']
  readonly view: ToolView
  /**
   * The legacy Mcp-Session-Id or the stdio connection; none with the current protocol over HTTP
   * (I12).
   */
  readonly session?: string
  /** An additional sentence at the end of the instructions. */
  readonly notice?: string
  /** The token of the connection. */
  readonly bearer?: string
  /** The number of running calls, so a busy session does not count as idle. */
  busy: number
  credentials(context: ServerContext): Credentials
}

/** Additional MCP capabilities such as resources, prompts and completions. */
export type McpFeature = {
  readonly capabilities: ServerCapabilities
  readonly cacheHints?: NonNullable<ServerOptions['cacheHints']>
  /** Runs once, before the first client connects. */
  start?(announce: Broadcaster): void
  attach(server: Server, viewer: Viewer): void
  /** Watches URIs for a current client until the signal aborts. Returns the watched URIs. */
  subscribe?(
    caller: Caller,
    uris: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]>
}

/** Notifies every listening client. */
export type Broadcaster = {
  toolsChanged(): void
  promptsChanged(): void
  resourceUpdated(uri: string): void
}

type Viewer = { caller(context: ServerContext): Promise<Caller> }

export type ServerDeps = {
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  readonly identity: Pick<
    Identity,
    'identify' | 'getPrincipal' | 'isTokenEnded' | 'onChange' | 'mode' | 'getSelection' | 'sessions'
  >
  readonly log: Log
  readonly version: string
  readonly features?: readonly McpFeature[]
  /** The servers behind cowork, for the instructions. */
  readonly servers?: () => readonly UpstreamServer[]
  readonly tasks?: TaskSource
}

/**
 * With our schemas, the SDK reports invalid parameters as such; with its own, as an internal
 * error.
 */
const listSchemas = {
  params: z.looseObject({ cursor: z.string().optional() }),
  result: z.looseObject({}),
}

/** The state shared by all server instances of the endpoint. */
type Running = {
  readonly inFlight: InFlight
  readonly calls: Set<RunningCall>
  readonly pendingReply: Pick<ReturnType<typeof createPendingReply>, 'answer'>
  /** Throws during shutdown. */
  readonly checkOpen: () => void
}

/**
 * Creates instances of the SDK's low-level Server on our registry. The current protocol needs one
 * per HTTP request, so shared data is created here once.
 */
export function createServers(deps: ServerDeps, running: Running) {
  const { registry, dispatch, identity, log, tasks, features = [] } = deps
  const info = { name: 'cowork', title: 'cowork', version: deps.version }
  const options: ServerOptions = {
    capabilities: [
      ...features.map((feature) => feature.capabilities),
      ...(tasks ? [{ extensions: { [tasksExtension]: {} } }] : []),
    ].reduce<ServerCapabilities>(mergeCapabilities, { tools: { listChanged: true } }),
    cacheHints: Object.assign(
      // Lists depend on the caller.
      { 'tools/list': { ttlMs: 5000, cacheScope: 'private' } },
      ...features.map((feature) => feature.cacheHints),
    ),
  }

  async function list(
    server: Server,
    link: ServerBinding,
    cursor: string | undefined,
    context: ServerContext,
  ): Promise<ListToolsResult> {
    const isOpen = identity.mode() === 'open'
    // A client may list tools before its first call contains a token (SV21).
    const isUnknown = !isOpen && link.credentials(context).bearer === undefined
    const caller = isUnknown ? undefined : await identifyCaller(server, link, context)
    // Tools beyond the default list may be private, such as those of other servers.
    const selection = caller ? caller.selection : { ...link.view.selection, tools: ['core'] }
    const shown = registry
      .list()
      .filter(
        (tool) => isListed(tool, { selection, isOpen }) && (!caller || hasScope(caller, tool)),
      )
    return paginateTools(shown, cursor, isUnknown ? 'unknown' : isOpen ? 'open' : 'known')
  }

  async function call(
    server: Server,
    link: ServerBinding,
    request: CallToolRequest,
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { name, arguments: input = {} } = request.params
    const lifeline = createCallLifetime(context)
    const credentials = {
      bearer: link.credentials(context).bearer,
      agentToken: getTokenArgument(name, input),
    }
    const ended = Promise.withResolvers<never>()
    const done = runCall(server, link, request, context, lifeline)
    const end = () => {
      ended.reject(accessEndedError(credentials))
      lifeline.end()
    }
    const one: RunningCall = { credentials, done, end }
    const forget = () => running.calls.delete(one)
    running.calls.add(one)
    done.then(forget, forget)
    link.busy += 1
    try {
      return await Promise.race([done, ended.promise])
    } catch (error) {
      if (error instanceof CoworkError) return toErrorResult(error)
      throw error
    } finally {
      link.busy -= 1
      lifeline.cut()
    }
  }

  async function runCall(
    server: Server,
    link: ServerBinding,
    { params: { name, arguments: input = {} } }: CallToolRequest,
    context: ServerContext,
    lifeline: CallLifetime,
  ): Promise<CallToolResult> {
    running.checkOpen()
    const caller = await identifyCaller(server, link, context, callerArguments(name, input))
    const { principal = `${caller.kind}:${caller.id}` } = link.credentials(context)
    const leave = trackInFlight(running.inFlight, principal)
    try {
      const asked = {
        tool: name,
        arguments: withoutToken(name, input),
        caller,
        signal: lifeline.signal,
        progress: createProgressReporter(context, lifeline),
        exchange: createMcpContext(context),
        traceparent: getTraceparent(context),
      }
      const isOpen = identity.mode() === 'open'
      const answer = addUnlistedToolHint(await dispatch(asked), registry, caller, isOpen)
      if (answer.status === 'refused' && !registry.find(name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, formatError(answer))
      const structured = link.view.structured === true
      return answer.status === 'waiting'
        ? await running.pendingReply.answer(server, context, asked, answer, structured)
        : toResult(server, answer, structured)
    } finally {
      leave()
    }
  }

  async function identifyCaller(
    server: Server,
    link: ServerBinding,
    context: ServerContext,
    args: CallerArguments = {},
  ): Promise<Caller> {
    const { principal: _, ...credentials } = link.credentials(context)
    const client = toClient(server, link, context)
    const caller = await identity.identify({
      door: 'mcp',
      ...credentials,
      ...args,
      ...(link.session !== undefined && { session: link.session }),
      ...(client && { client }),
    })
    return { ...caller, selection: joinSelections(caller.selection ?? {}, link.view.selection) }
  }

  /** Logs bugs and hides their text from the client; refusals keep their text. */
  const withErrorLog =
    <Args extends unknown[], T>(handle: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await handle(...args)
      } catch (error) {
        if (error instanceof ProtocolError) throw error
        if (error instanceof CoworkError) throw toProtocolError(error)
        log.error('request failed unexpectedly', {
          error: error instanceof Error ? error.stack : String(error),
        })
        throw new ProtocolError(
          -32603,
          'Internal error: the request failed. The log contains the cause.',
        )
      }
    }

  function newServer(link: ServerBinding): Server {
    const chosen = link.bearer === undefined ? undefined : identity.getSelection(link.bearer)
    const selection = joinSelections(chosen ?? {}, link.view.selection)
    const instructions = [
      instructionsFor(selection, registry.list(), deps.servers?.()),
      ...(link.notice === undefined ? [] : [link.notice]),
    ].join('\n')
    const server = new Server(info, { ...options, instructions })
    const caller = (context: ServerContext) => identifyCaller(server, link, context)
    server.setRequestHandler(
      'tools/list',
      listSchemas,
      withErrorLog(({ cursor }, context) => list(server, link, cursor, context)),
    )
    server.setRequestHandler(
      'tools/call',
      withErrorLog((request, context) => call(server, link, request, context)),
    )
    if (tasks) attachTasks(server, tasks, withErrorLog(caller), link.view.structured === true)
    for (const feature of features) feature.attach(server, { caller: withErrorLog(caller) })
    return server
  }

  return { newServer }
}

type InFlight = ReturnType<typeof createInFlightLimiter>

/** Counts a running call of this principal; returns the function that ends the count (SV25). */
export function trackInFlight(inFlight: InFlight, principal: string): () => void {
  const leave = inFlight.enter(principal)
  if (leave) return leave
  throw new CoworkError('too_many_calls', `Too many running calls: ${principal}.`, {
    hint: 'Wait until some calls finish.',
  })
}

function accessEndedError({ bearer, agentToken }: BoundCredentials): CoworkError {
  const hasToken = bearer !== undefined || agentToken !== undefined
  const why = hasToken ? 'The token was rotated or revoked' : 'Authentication was turned on'
  const message = `${why} while the call was running.`
  return new CoworkError('auth_error', message, {
    hint: 'Check which effects the call had. A person creates a token with `cowork agents add <id>` or `cowork agents rotate <id>`.',
    details: { error: true, auth_error: true, message },
  })
}

type Arguments = Readonly<Record<string, unknown>>
type CallerArguments = { readonly agentId?: string; readonly agentToken?: string }

/** Reads the caller arguments; for cowork_use also those of the inner call (I3, I5). */
function callerArguments(name: string, args: Arguments): CallerArguments {
  const all = { ...(parseUse(name, args)?.arguments as Arguments | undefined), ...args }
  const agentId = all['agent_id'] ?? all['agent']
  const agentToken = all['agent_token']
  return {
    ...(typeof agentId === 'string' && { agentId }),
    ...(typeof agentToken === 'string' && agentToken !== '' && { agentToken }),
  }
}

const getTokenArgument = (name: string, args: Arguments) => callerArguments(name, args).agentToken

/** Removes tokens, which must not leave this endpoint. */
function withoutToken(name: string, input: Arguments): Arguments {
  const { agent_token: _, ...args } = input
  const inner = parseUse(name, args)?.arguments as Arguments | undefined
  return inner ? { ...args, arguments: withoutToken('', inner) } : args
}

/** The client's own description: displayed, never trusted, and short. */
function toClient(
  server: Server,
  { transport }: ServerBinding,
  context: ServerContext,
): Client | undefined {
  const { name, version } = getClientInfo(context) ?? server.getClientVersion() ?? {}
  if (typeof name !== 'string') return undefined
  return {
    name: name.slice(0, 100),
    version: typeof version === 'string' ? version.slice(0, 50) : '',
    transport,
  }
}
