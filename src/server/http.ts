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
import { createInFlight, readJson } from './limits.ts'
import type { McpDoor } from './mcp/door.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { toolRoutes } from './routes/tools.ts'

export type HttpDeps = {
  readonly guard: GuardOptions
  readonly identity: Identity
  readonly dispatch: Dispatch
  readonly ledger: Ledger
  readonly mcp: McpDoor
  readonly log: Log
  readonly limits: { readonly bodyBytes: number; readonly callsInFlight: number }
  /** Nothing while the daemon can serve, else why not. */
  readonly unready: () => string | undefined
}

/** Everything that comes in over HTTP: guards first, then the doors. */
export function createHttp(deps: HttpDeps): Hono<Env> {
  const { guard, identity, mcp, limits, log } = deps
  const app = new Hono<Env>()
  const inFlight = createInFlight(limits.callsInFlight)

  app.onError((error, c) => {
    if (error instanceof CoworkError) return refuseBy(c, problemOf(error))
    log.error('a request failed unexpectedly', { path: c.req.path, error: error.stack })
    return refuse(c, 500, { code: 'internal', message: 'The request failed because of a fault in cowork.' })
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
    const why = deps.unready()
    return why ? c.json({ ok: false, why }, 503) : c.json({ ok: true })
  })

  async function serveMcp(c: Context<Env>): Promise<Response> {
    const why = deps.unready()
    if (why) return refuse(c, 503, { code: 'shutting_down', message: why })
    const bearer = bearerOf(c)
    const address = addressOf(c)
    const isPost = c.req.method === 'POST'
    const parsedBody = isPost ? await readJson(c.req.raw, limits.bodyBytes) : undefined
    const toolset = c.req.param('toolset')
    const principal = await principalOf(bearer, address, parsedBody)
    const leave = isToolCall(parsedBody) ? inFlight.enter(principal) : () => undefined
    if (!leave)
      return refuse(c, 429, {
        code: 'too_many_calls',
        message: `${principal} has ${limits.callsInFlight} calls under way.`,
        hint: 'Wait for some of them to end.',
      })
    try {
      const response = await mcp.fetch(c.req.raw, {
        address,
        parsedBody,
        coreOnly: c.req.query('tools') === 'core',
        ...(bearer && { bearer }),
        ...(toolset && { toolset }),
      })
      return isStream(response) ? onEnd(response, leave) : (leave(), response)
    } catch (error) {
      leave()
      throw error
    }
  }

  /** A tool call may bring its token as an argument (seed 001); everything else brings it as bearer. */
  async function principalOf(bearer: string | undefined, address: string, body: unknown) {
    const agentToken = isToolCall(body) ? body.params?.arguments?.agent_token : undefined
    return identity.principalOf({
      door: 'mcp',
      address,
      ...(bearer && { bearer }),
      ...(typeof agentToken === 'string' && { agentToken }),
    })
  }

  app.all('/mcp', checkContentType, serveMcp)
  app.all('/mcp/:toolset', checkContentType, serveMcp)
  app.use('/api/*', checkContentType, identifyCaller(identity))
  app.route('/api/tools', toolRoutes(deps))
  app.route('/api/ledger', ledgerRoutes(deps))
  return app
}

type ToolCall = { method: 'tools/call'; params?: { arguments?: { agent_token?: unknown } } }

const isToolCall = (body: unknown): body is ToolCall =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'

const isStream = (response: Response) =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true

/** The same response, with a word when its stream is over, however it ends. */
function onEnd(response: Response, ended: () => void): Response {
  if (!response.body) {
    ended()
    return response
  }
  const watched = response.body.pipeThrough(
    new TransformStream({ flush: ended, cancel: ended } as Transformer),
  )
  return new Response(watched, response)
}
