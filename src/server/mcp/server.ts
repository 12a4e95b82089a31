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

/** What came with one request besides its message. */
export type Credentials = Pick<
  PresentedCredentials,
  'address' | 'bearer' | 'fallbackId' | 'label'
> & {
  /** Whose calls in flight it counts among; the caller's own where the door could not tell. */
  readonly principal?: string
}

/** What lets a request in: what it opens ends with these. */
export type BoundCredentials = {
  readonly bearer?: string | undefined
  readonly agentToken?: string | undefined
  /** It came without a token though one is needed: it lists tools, and a call may bring one. */
  readonly isAnonymous?: boolean
}

/** A call under way. */
export type RunningCall = {
  readonly held: BoundCredentials
  /** When its work is, which may be after it was answered. */
  readonly done: Promise<unknown>
  /** Stops it, and answers that whoever makes it may not come in any more. */
  end(): void
}

/** Where a server instance speaks, and for whom. */
export type ServerBinding = {
  readonly transport: Client['transport']
  readonly view: ToolView
  /** The older era's Mcp-Session-Id, or the stdio connection; the newer HTTP has none (I12). */
  readonly session?: string
  /** A sentence for the model at the end of the instructions. */
  readonly notice?: string
  /** The token it came with. */
  readonly bearer?: string
  /** Calls under way, so that a session at work is not taken for idle. */
  busy: number
  credentials(context: ServerContext): Credentials
}

/** Resources, prompts, completions: whatever else a server offers beside tools. */
export type McpFeature = {
  readonly capabilities: ServerCapabilities
  readonly cacheHints?: NonNullable<ServerOptions['cacheHints']>
  /** Called once, before any client comes. */
  start?(announce: Broadcaster): void
  attach(server: Server, viewer: Viewer): void
  /** A client of the newer era wants to hear of these addresses until the signal. Which of them it will. */
  listens?(caller: Caller, uris: readonly string[], signal: AbortSignal): Promise<readonly string[]>
}

/** Tells every client that listens. */
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
  readonly tasks?: TaskSource
}

/** With schemas of ours the SDK answers wrong parameters as such; by its own it calls them its own fault. */
const listSchemas = {
  params: z.looseObject({ cursor: z.string().optional() }),
  result: z.looseObject({}),
}

/** What the door knows of all its servers together. */
type Running = {
  readonly inFlight: InFlight
  readonly calls: Set<RunningCall>
  readonly waiting: Pick<ReturnType<typeof createPendingReply>, 'answer'>
  /** Throws once the door is closing. */
  readonly checkOpen: () => void
}

/**
 * Makes the SDK's low-level Server over our own registry. The newer HTTP era asks for one per request, so
 * everything that can be shared is made here, once.
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
      // What is listed depends on the caller.
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
    // A client may learn what there is before it brings a token with its first call (SV21).
    const isUnknown = !isOpen && link.credentials(context).bearer === undefined
    const caller = isUnknown ? undefined : await callerOf(server, link, context)
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
    const { name, arguments: given = {} } = request.params
    const lifeline = createCallLifetime(context)
    const held = { bearer: link.credentials(context).bearer, agentToken: tokenIn(name, given) }
    const ended = Promise.withResolvers<never>()
    const done = perform(server, link, request, context, lifeline)
    const end = () => {
      ended.reject(shutOut(held))
      lifeline.end()
    }
    const one: RunningCall = { held, done, end }
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

  async function perform(
    server: Server,
    link: ServerBinding,
    { params: { name, arguments: given = {} } }: CallToolRequest,
    context: ServerContext,
    lifeline: CallLifetime,
  ): Promise<CallToolResult> {
    running.checkOpen()
    const caller = await callerOf(server, link, context, callerArguments(name, given))
    const { principal = `${caller.kind}:${caller.id}` } = link.credentials(context)
    const leave = trackInFlight(running.inFlight, principal)
    try {
      const asked = {
        tool: name,
        arguments: withoutToken(name, given),
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
        ? await running.waiting.answer(server, context, asked, answer, structured)
        : toResult(server, answer, structured)
    } finally {
      leave()
    }
  }

  async function callerOf(
    server: Server,
    link: ServerBinding,
    context: ServerContext,
    args: CallerArguments = {},
  ): Promise<Caller> {
    const { principal: _, ...credentials } = link.credentials(context)
    const client = clientOf(server, link, context)
    const caller = await identity.identify({
      door: 'mcp',
      ...credentials,
      ...args,
      ...(link.session !== undefined && { session: link.session }),
      ...(client && { client }),
    })
    return { ...caller, selection: joinSelections(caller.selection ?? {}, link.view.selection) }
  }

  /** Bugs are logged here and answered without their words; refusals keep theirs. */
  const guarded =
    <Args extends unknown[], T>(handle: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await handle(...args)
      } catch (error) {
        if (error instanceof ProtocolError) throw error
        if (error instanceof CoworkError) throw toProtocolError(error)
        log.error('an MCP request failed unexpectedly', {
          error: error instanceof Error ? error.stack : String(error),
        })
        throw new ProtocolError(-32603, 'The request failed because of a fault in cowork.')
      }
    }

  function newServer(link: ServerBinding): Server {
    const chosen = link.bearer === undefined ? undefined : identity.getSelection(link.bearer)
    const selection = joinSelections(chosen ?? {}, link.view.selection)
    const instructions = [
      instructionsFor(selection, registry.list()),
      ...(link.notice === undefined ? [] : [link.notice]),
    ].join('\n')
    const server = new Server(info, { ...options, instructions })
    const caller = (context: ServerContext) => callerOf(server, link, context)
    server.setRequestHandler(
      'tools/list',
      listSchemas,
      guarded(({ cursor }, context) => list(server, link, cursor, context)),
    )
    server.setRequestHandler(
      'tools/call',
      guarded((request, context) => call(server, link, request, context)),
    )
    if (tasks) attachTasks(server, tasks, guarded(caller), link.view.structured === true)
    for (const feature of features) feature.attach(server, { caller: guarded(caller) })
    return server
  }

  return { newServer }
}

type InFlight = ReturnType<typeof createInFlightLimiter>

/** Counts a call of this principal until the function it gives is called (SV25). */
export function trackInFlight(inFlight: InFlight, principal: string): () => void {
  const leave = inFlight.enter(principal)
  if (leave) return leave
  throw new CoworkError('too_many_calls', `${principal} has too many calls under way.`, {
    hint: 'Wait for some of them to end.',
  })
}

function shutOut({ bearer, agentToken }: BoundCredentials): CoworkError {
  const hasToken = bearer !== undefined || agentToken !== undefined
  const why = hasToken ? 'Its token was rotated or revoked' : 'The door was closed'
  const message = `${why} while the call was under way.`
  return new CoworkError('auth_error', message, {
    hint: 'What it had begun may be done. A person makes a token with `cowork agents add <id>` or `cowork agents rotate <id>`.',
    details: { error: true, auth_error: true, message },
  })
}

type Arguments = Readonly<Record<string, unknown>>
type CallerArguments = { readonly agentId?: string; readonly agentToken?: string }

/** The arguments that say who calls: of cowork_use also those of the call inside (I3, I5). */
function callerArguments(name: string, args: Arguments): CallerArguments {
  const all = { ...(parseUse(name, args)?.arguments as Arguments | undefined), ...args }
  const agentId = all['agent_id'] ?? all['agent']
  const agentToken = all['agent_token']
  return {
    ...(typeof agentId === 'string' && { agentId }),
    ...(typeof agentToken === 'string' && agentToken !== '' && { agentToken }),
  }
}

const tokenIn = (name: string, args: Arguments) => callerArguments(name, args).agentToken

/** Tokens go no further than this endpoint. */
function withoutToken(name: string, given: Arguments): Arguments {
  const { agent_token: _, ...args } = given
  const inner = parseUse(name, args)?.arguments as Arguments | undefined
  return inner ? { ...args, arguments: withoutToken('', inner) } : args
}

/** What the other side says of itself: shown, never trusted, and short. */
function clientOf(
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
