import { Hono } from 'hono'
import type { Context } from 'hono'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Dispatch } from '#dispatch'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import {
  addressOf,
  bearerOf,
  checkContentType,
  checkHost,
  checkOrigin,
  identifyCaller,
  problemOf,
  refuse,
  refuseBy,
} from './guards.ts'
import type { Env, GuardOptions } from './guards.ts'
import type { McpDoor } from './mcp/door.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { toolRoutes } from './routes/tools.ts'

export type HttpDeps = {
  readonly guard: GuardOptions
  readonly identity: Identity
  readonly dispatch: Dispatch
  readonly ledger: Ledger
  readonly mcp: Pick<McpDoor, 'fetch'>
  readonly log: Log
  readonly bodyBytes: number
  /** Nothing while the daemon can serve, else why not. */
  readonly unready: () => string | undefined
}

/** Everything that comes in over HTTP: guards first, then the doors. */
export function createHttp(deps: HttpDeps): Hono<Env> {
  const { guard, identity, mcp, log, unready } = deps
  const app = new Hono<Env>()

  app.onError((error, c) => {
    if (error instanceof CoworkError) return refuseBy(c, problemOf(error))
    log.error('a request failed unexpectedly', { path: c.req.path, error: error.stack })
    const message = 'The request failed because of a fault in cowork; the log has the cause.'
    return refuse(c, 500, { code: 'internal', message })
  })
  app.notFound((c) =>
    refuse(c, 404, {
      code: 'not_found',
      message: `There is nothing at ${c.req.path.slice(0, 200)}.`,
      hint: 'MCP is at /mcp, the API below /api/.',
    }),
  )
  app.use(checkHost(guard), checkOrigin(guard))

  app.get('/healthz', (c) => c.json({ ok: true }))
  app.get('/readyz', (c) => {
    const why = unready()
    return why ? c.json({ ok: false, why }, 503) : c.json({ ok: true })
  })

  const serveMcp = (c: Context<Env>): Promise<Response> => {
    const bearer = bearerOf(c)
    const toolset = c.req.param('toolset')
    return mcp.fetch(c.req.raw, {
      address: addressOf(c),
      coreOnly: c.req.query('tools') === 'core',
      ...(bearer && { bearer }),
      ...(toolset && { toolset }),
    })
  }
  app.all('/mcp', serveMcp)
  app.all('/mcp/:toolset', serveMcp)

  app.use('/api/*', checkContentType, identifyCaller(identity))
  app.route('/api/tools', toolRoutes(deps))
  app.route('/api/ledger', ledgerRoutes(deps))
  return app
}
