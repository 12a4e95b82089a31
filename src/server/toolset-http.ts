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
import type { Env, GuardOptions, ToHttpStatus } from './guards.ts'
import type { McpEndpoint } from './mcp/endpoint.ts'

type Deps = {
  readonly guard: GuardOptions
  readonly mcp: Pick<McpEndpoint, 'fetch'>
  readonly toolset: string
  /** Refuses clients without the shared key or a token, because a key is set (W2). */
  readonly needsBearer: boolean
  readonly toHttpStatus: ToHttpStatus
  readonly log: Log
}

/** Serves one toolset at a separate address, behind the same guards: WorkSync's `127.0.0.1:8321/mcp` (W1). */
export function createToolsetHttp({ guard, mcp, toolset, needsBearer, toHttpStatus, log }: Deps) {
  const app = new Hono<Env>()
  app.onError((error, c) => {
    if (error instanceof CoworkError) return sendProblemByCode(c, toHttpStatus, error)
    log.error('request failed', { path: c.req.path, error: error.stack })
    return sendProblem(c, 500, {
      code: 'internal',
      message: 'Internal error: the request failed. The log contains the cause.',
    })
  })
  app.notFound((c) =>
    sendProblem(c, 404, {
      code: 'not_found',
      message: `Not found: ${c.req.path.slice(0, 200)}`,
      hint: 'Use /mcp for MCP.',
    }),
  )
  app.use(checkHost(guard), checkOrigin(guard), checkUrl)
  app.all('/mcp', (c) => {
    const bearer = getBearerToken(c)
    if (needsBearer && bearer === undefined) {
      c.header('WWW-Authenticate', 'Bearer')
      return sendProblem(c, 401, {
        code: 'auth_required',
        message: 'Shared key or token required.',
        hint: 'Send `Authorization: Bearer …` with WORKSYNC_API_KEY.',
      })
    }
    return mcp.fetch(c.req.raw, {
      address: getRemoteAddress(c),
      toolset,
      isExclusive: true,
      query: c.req.query(),
      ...(bearer && { bearer }),
    })
  })
  return app
}
