import { Hono } from 'hono'
import type { Context } from 'hono'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { ToolRegistry, Dispatch } from '#dispatch'
import type { Inbox } from '#governance'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import { mountConsole } from './console.ts'
import {
  getRemoteAddress,
  getBearerToken,
  checkContentType,
  checkHost,
  checkOrigin,
  checkUrl,
  identifyCaller,
  setPrivateHeaders,
  sendProblem,
  sendProblemByCode,
} from './guards.ts'
import type { Env, GuardOptions, ToHttpStatus } from './guards.ts'
import { createLiveStream } from './live.ts'
import type { LiveStream } from './live.ts'
import { legacySsePaths } from './mcp/endpoint.ts'
import type { McpEndpoint } from './mcp/endpoint.ts'
import type { Metrics } from './metrics.ts'
import { buildOpenApi } from './openapi.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { eventRoute } from './routes/events.ts'
import { exportRoute } from './routes/export.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { passkeyRoutes } from './routes/passkeys.ts'
import { defineRoute, mountRoutes } from './routes/route.ts'
import type { Route } from './routes/route.ts'
import { serverRoutes } from './routes/server.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { canUseTool, toolRoutes } from './routes/tools.ts'
import { upstreamRoutes } from './routes/upstream.ts'
import { verifyRoute } from './routes/verify.ts'
import type { LedgerSnapshot } from './routes/verify.ts'
import { serverAnswers } from './wire.ts'

export type HttpDeps = {
  readonly guard: GuardOptions
  readonly identity: Identity
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  readonly ledger: Ledger
  readonly inbox: Inbox
  readonly snapshot: () => Promise<LedgerSnapshot>
  readonly mcp: Pick<McpEndpoint, 'fetch' | 'sessionCount' | 'messages'>
  /** Serves the endpoints of the 2024-11-05 revision (`TRANSPORT=sse`, SV6). */
  readonly legacySse: boolean
  readonly metrics: Metrics
  readonly log: Log
  readonly version: string
  /** The command that runs `cowork` in a terminal on this machine. */
  readonly command?: readonly string[]
  /** The home folder of the user who runs the daemon. */
  readonly home?: string
  /** The folder of the built console. */
  readonly webFolder: string
  readonly bodyBytes: number
  readonly callsInFlight: number
  readonly toHttpStatus: ToHttpStatus
  /** Returns undefined while the daemon can serve. */
  readonly getUnreadyReason: () => string | undefined
}

export type HttpServer = {
  fetch(request: Request, env: object): Response | Promise<Response>
  /** Ends the live streams, which have no end of their own. */
  close(): void
}

/** Creates the HTTP server. The guards run before every endpoint. */
export function createHttpServer(deps: HttpDeps): HttpServer {
  const { guard, identity, ledger, mcp, metrics, toHttpStatus, log } = deps
  const app = new Hono<Env>()
  const live = createLiveStream({ ledger, log: log.scope('live') })
  metrics.addGauge('cowork_ledger_entries', 'Entries in the ledger.', ledger.size)
  metrics.addGauge('cowork_mcp_sessions', 'Open sessions of legacy MCP clients.', mcp.sessionCount)
  metrics.addGauge('cowork_live_listeners', 'Listeners of the live stream.', live.listenerCount)

  app.onError((error, c) => {
    if (error instanceof CoworkError) return sendProblemByCode(c, toHttpStatus, error)
    log.error('request failed', { path: c.req.path, error: error.stack })
    const message = 'Internal error: the request failed. The log contains the cause.'
    return sendProblem(c, 500, { code: 'internal', message })
  })
  const sendNotFound = (c: Context<Env>) =>
    sendProblem(c, 404, {
      code: 'not_found',
      message: `Not found: ${c.req.path.slice(0, 200)}`,
      hint: 'Use / for the console, /mcp for MCP and /api/ for the API.',
    })
  app.notFound(sendNotFound)
  app.use(checkHost(guard), checkOrigin(guard), checkUrl)

  const serveMcp = (c: Context<Env>): Promise<Response> => {
    const bearer = getBearerToken(c)
    const toolset = c.req.param('toolset')
    return mcp.fetch(c.req.raw, {
      address: getRemoteAddress(c),
      query: c.req.query(),
      ...(bearer && { bearer }),
      ...(toolset && { toolset }),
    })
  }
  app.all('/mcp', serveMcp)
  app.all('/mcp/:toolset', serveMcp)
  if (deps.legacySse) {
    const serveLegacy = (c: Context<Env>): Promise<Response> => {
      const bearer = getBearerToken(c)
      const stream = c.req.query('session')
      const legacySse = stream === undefined ? {} : { stream }
      return mcp.fetch(c.req.raw, {
        address: getRemoteAddress(c),
        legacySse,
        ...(bearer && { bearer }),
      })
    }
    app.get(legacySsePaths.stream, serveLegacy)
    app.post(legacySsePaths.messages, serveLegacy)
  }

  app.use('/api/*', setPrivateHeaders, checkContentType)
  mountRoutes(app, buildRoutes({ ...deps, live }), { ...deps, messages: mcp.messages })
  // Authentication comes first, so that a client without a token cannot find out which paths exist.
  app.all('/api/*', identifyCaller(identity), sendNotFound)
  mountConsole(app, { folder: deps.webFolder, guard })

  return {
    async fetch(request, env) {
      const response = await app.fetch(request, env)
      metrics.countResponse(response.status)
      return response
    },
    close: live.close,
  }
}

/** Returns all routes except MCP and the console. */
export function buildRoutes(deps: HttpDeps & { readonly live: LiveStream }): Route[] {
  const routes: Route[] = [
    ...serverRoutes(deps),
    ...sessionRoutes(deps),
    ...passkeyRoutes(deps),
    ...toolRoutes(deps),
    ...upstreamRoutes(deps),
    ...approvalRoutes(deps),
    exportRoute(deps),
    verifyRoute(deps),
    ...ledgerRoutes(deps),
    eventRoute(deps),
    defineRoute({
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'This document, with the tools that the caller can use',
      by: 'anyone',
      answer: serverAnswers['GET /api/openapi.json'],
      async run(_, c) {
        const tools = deps.registry.list().filter((tool) => canUseTool(c.get('caller'), tool))
        return buildOpenApi(routes, tools, deps.version)
      },
    }),
  ]
  return routes
}
