import { Hono } from 'hono'
import type { Context } from 'hono'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Catalogue, Dispatch } from '#dispatch'
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
import type { Env, GuardOptions, StatusOf } from './guards.ts'
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
import { verifyRoute } from './routes/verify.ts'
import type { LedgerSnapshot } from './routes/verify.ts'
import { serverAnswers } from './wire.ts'

export type HttpDeps = {
  readonly guard: GuardOptions
  readonly identity: Identity
  readonly catalogue: Catalogue
  readonly dispatch: Dispatch
  readonly ledger: Ledger
  readonly inbox: Inbox
  readonly snapshot: () => Promise<LedgerSnapshot>
  readonly mcp: Pick<McpEndpoint, 'fetch' | 'sessionCount' | 'messages'>
  /** Whether clients of the 2024-11-05 revision find their addresses (`TRANSPORT=sse`, SV6). */
  readonly oldAddresses: boolean
  readonly metrics: Metrics
  readonly log: Log
  readonly version: string
  /** The words that run `cowork` in a terminal of this machine. */
  readonly command?: readonly string[]
  /** The home of whoever runs the daemon. */
  readonly home?: string
  /** Where the built console lies. */
  readonly webFolder: string
  readonly bodyBytes: number
  readonly callsInFlight: number
  readonly statusOf: StatusOf
  /** Nothing while the daemon can serve, else why not. */
  readonly unready: () => string | undefined
}

export type HttpServer = {
  fetch(request: Request, env: object): Response | Promise<Response>
  /** Ends the streams that would never end by themselves. */
  close(): void
}

/** Everything that comes in over HTTP: guards first, then the doors. */
export function createHttpServer(deps: HttpDeps): HttpServer {
  const { guard, identity, ledger, mcp, metrics, statusOf, log } = deps
  const app = new Hono<Env>()
  const live = createLiveStream({ ledger, log: log.scope('live') })
  metrics.watch('cowork_ledger_entries', 'Entries in the ledger.', ledger.size)
  metrics.watch('cowork_mcp_sessions', 'Open sessions of the older MCP era.', mcp.sessionCount)
  metrics.watch('cowork_live_listeners', 'Listeners of the live stream.', live.listeners)

  app.onError((error, c) => {
    if (error instanceof CoworkError) return sendProblemByCode(c, statusOf, error)
    log.error('a request failed unexpectedly', { path: c.req.path, error: error.stack })
    const message = 'The request failed because of a fault in cowork; the log has the cause.'
    return sendProblem(c, 500, { code: 'internal', message })
  })
  const nothing = (c: Context<Env>) =>
    sendProblem(c, 404, {
      code: 'not_found',
      message: `There is nothing at ${c.req.path.slice(0, 200)}.`,
      hint: 'The console is at /, MCP at /mcp, the API below /api/.',
    })
  app.notFound(nothing)
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
  if (deps.oldAddresses) {
    const serveOld = (c: Context<Env>): Promise<Response> => {
      const bearer = getBearerToken(c)
      const stream = c.req.query('session')
      const old = stream === undefined ? {} : { stream }
      return mcp.fetch(c.req.raw, { address: getRemoteAddress(c), old, ...(bearer && { bearer }) })
    }
    app.get(legacySsePaths.stream, serveOld)
    app.post(legacySsePaths.messages, serveOld)
  }

  app.use('/api/*', setPrivateHeaders, checkContentType)
  mountRoutes(app, buildRoutes({ ...deps, live }), { ...deps, messages: mcp.messages })
  // Who has no token learns nothing about what is there.
  app.all('/api/*', identifyCaller(identity), nothing)
  mountConsole(app, { folder: deps.webFolder, guard })

  return {
    async fetch(request, env) {
      const response = await app.fetch(request, env)
      metrics.responded(response.status)
      return response
    },
    close: live.close,
  }
}

/** Every address besides MCP and the console's. */
export function buildRoutes(deps: HttpDeps & { readonly live: LiveStream }): Route[] {
  const routes: Route[] = [
    ...serverRoutes(deps),
    ...sessionRoutes(deps),
    ...passkeyRoutes(deps),
    ...toolRoutes(deps),
    ...approvalRoutes(deps),
    exportRoute(deps),
    verifyRoute(deps),
    ...ledgerRoutes(deps),
    eventRoute(deps),
    defineRoute({
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'This document, with the tools that the caller may use',
      by: 'anyone',
      answer: serverAnswers['GET /api/openapi.json'],
      async run(_, c) {
        const tools = deps.catalogue.list().filter((tool) => canUseTool(c.get('caller'), tool))
        return buildOpenApi(routes, tools, deps.version)
      },
    }),
  ]
  return routes
}
