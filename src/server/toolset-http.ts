import { Hono } from 'hono'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import {
  getRemoteAddress,
  getBearerToken,
  checkHost,
  checkOrigin,
  checkUrl,
  sendProblem,
  sendProblemByCode,
} from './guards.ts'
import type { Env, GuardOptions, StatusOf } from './guards.ts'
import type { McpEndpoint } from './mcp/endpoint.ts'

type Deps = {
  readonly guard: GuardOptions
  readonly mcp: Pick<McpEndpoint, 'fetch'>
  readonly toolset: string
  /** A key is set: whoever shows neither it nor a token of their own is turned away (W2). */
  readonly needsBearer: boolean
  readonly statusOf: StatusOf
  readonly log: Log
}

/** One toolset at an address of its own, behind the same guards: seed 003's `127.0.0.1:8321/mcp` (W1). */
export function createToolsetHttp({ guard, mcp, toolset, needsBearer, statusOf, log }: Deps) {
  const app = new Hono<Env>()
  app.onError((error, c) => {
    if (error instanceof CoworkError) return sendProblemByCode(c, statusOf, error)
    log.error('a request failed unexpectedly', { path: c.req.path, error: error.stack })
    return sendProblem(c, 500, {
      code: 'internal',
      message: 'The request failed; the log has the cause.',
    })
  })
  app.notFound((c) =>
    sendProblem(c, 404, {
      code: 'not_found',
      message: `There is nothing at ${c.req.path.slice(0, 200)}.`,
      hint: 'MCP is at /mcp.',
    }),
  )
  app.use(checkHost(guard), checkOrigin(guard), checkUrl)
  app.all('/mcp', (c) => {
    const bearer = getBearerToken(c)
    if (needsBearer && bearer === undefined) {
      c.header('WWW-Authenticate', 'Bearer')
      return sendProblem(c, 401, {
        code: 'auth_required',
        message: 'This address needs the shared key or a token.',
        hint: 'Send `Authorization: Bearer …` with WORKSYNC_API_KEY.',
      })
    }
    return mcp.fetch(c.req.raw, {
      address: getRemoteAddress(c),
      toolset,
      isOnly: true,
      query: c.req.query(),
      ...(bearer && { bearer }),
    })
  })
  return app
}
