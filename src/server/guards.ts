import type { Context, MiddlewareHandler } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Caller } from '#base/caller.ts'
import type { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'

export type Env = { Bindings: HttpBindings; Variables: { caller: Caller } }

export type GuardOptions = {
  /** The port we listen on: known only after listening, so it is asked for. */
  readonly port: () => number
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

/** Only names that mean this machine: a page that rebinds its own name to 127.0.0.1 sends its own name. */
export function checkHost({ port, allowedHosts }: GuardOptions): MiddlewareHandler<Env> {
  return async function host(c, next) {
    const name = c.req.header('host')?.toLowerCase() ?? ''
    const ours = [`localhost:${port()}`, `127.0.0.1:${port()}`, `[::1]:${port()}`]
    if (!ours.includes(name) && !allowedHosts.includes(name))
      return refuse(c, 403, {
        code: 'host_refused',
        message: `This server does not answer to the name ${JSON.stringify(name.slice(0, 100))}.`,
        hint: 'Use localhost, or add the name to server.allowed_hosts.',
      })
    await next()
  }
}

/** Browsers send Origin; only the console (and paired extensions) may. `null` and other ports may not. */
export function checkOrigin({ port, allowedOrigins }: GuardOptions): MiddlewareHandler<Env> {
  return async function origin(c, next) {
    const from = c.req.header('origin')
    if (
      from !== undefined &&
      from !== `http://localhost:${port()}` &&
      !allowedOrigins.includes(from)
    )
      return refuse(c, 403, {
        code: 'origin_refused',
        message: `Pages from ${JSON.stringify(from.slice(0, 100))} may not talk to this server.`,
        hint: 'Open the console on localhost, or add the origin to server.allowed_origins.',
      })
    await next()
  }
}

/** A form or an image of a foreign page cannot send this content type without asking first. */
export const checkContentType: MiddlewareHandler<Env> = async function contentType(c, next) {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (c.req.method === 'POST' && type !== 'application/json')
    return refuse(c, 415, {
      code: 'json_expected',
      message: 'The body must be JSON.',
      hint: 'Send it with content-type: application/json.',
    })
  await next()
}

export function bearerOf(c: Context<Env>): string | undefined {
  const [scheme, token] = c.req.header('authorization')?.split(' ') ?? []
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}

export const addressOf = (c: Context<Env>): string =>
  c.env.incoming.socket.remoteAddress ?? 'unknown'

/** `/api/*` always needs a token, on loopback too: a page on another local port can reach it. */
export function identifyCaller(identity: Identity): MiddlewareHandler<Env> {
  return async function identify(c, next) {
    const bearer = bearerOf(c)
    const caller = await identity.identify({
      door: 'api',
      address: addressOf(c),
      ...(bearer && { bearer }),
      client: {
        name: c.req.header('user-agent')?.slice(0, 100) ?? 'unknown',
        version: '',
        transport: 'http',
      },
    })
    c.set('caller', caller)
    await next()
  }
}

export type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: Record<string, unknown> | undefined
}

const statusOf: Record<string, number> = {
  auth_error: 401,
  too_many_attempts: 429,
  too_many_calls: 429,
  too_many_sessions: 503,
  person_token_on_mcp: 403,
  human_required: 403,
  agent_required: 403,
  scope_missing: 403,
  halted: 403,
  invalid_input: 400,
  invalid_json: 400,
  unknown_tool: 404,
  invalid_agent_id: 400,
  agent_exists: 409,
  agent_read_only: 409,
  not_found: 404,
  too_large: 413,
  ledger_unwritable: 503,
  store_unavailable: 503,
  shutting_down: 503,
  internal: 500,
}

/** The HTTP half of the one conversion of errors; the MCP half is in mcp/. */
export function refuse(c: Context<Env>, status: number, problem: Problem): Response {
  const { code, message, hint, details } = problem
  if (status === 401) c.header('WWW-Authenticate', 'Bearer realm="cowork"')
  if (status === 429 || status === 503) c.header('Retry-After', '1')
  return c.json({ error: { code, message, hint, ...details } }, status as 400)
}

export const refuseBy = (c: Context<Env>, problem: Problem): Response =>
  refuse(c, statusOf[problem.code] ?? 422, problem)

export const problemOf = (error: CoworkError): Problem => ({
  code: error.code,
  message: error.message,
  hint: error.hint,
  details: error.details,
})
