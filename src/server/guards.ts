import type { Context, MiddlewareHandler } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Caller } from '#base/caller.ts'
import { socketAddress } from '#identity'
import type { Identity, PresentedCredentials } from '#identity'

export type Env = { Bindings: HttpBindings; Variables: { caller: Caller } }

export type GuardOptions = {
  /** Returns the port, which is known only after binding. */
  readonly port: () => number
  /** Makes the console's origin HTTPS. */
  readonly isSecure?: boolean
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

/** The console uses only localhost: passkeys need a host name, and 127.0.0.1 is reserved for the apps' sandbox. */
export const consoleOrigin = ({ port, isSecure = false }: GuardOptions): string =>
  `${isSecure ? 'https' : 'http'}://localhost:${port()}`

/** Accepts only names of this machine. DNS rebinding: a page that points its name to 127.0.0.1 sends that name. */
export function checkHost({ port, allowedHosts }: GuardOptions): MiddlewareHandler<Env> {
  return async function host(c, next) {
    const name = c.req.header('host')?.toLowerCase() ?? ''
    const localNames = [`localhost:${port()}`, `127.0.0.1:${port()}`, `[::1]:${port()}`]
    if (!localNames.includes(name) && !allowedHosts.includes(name))
      return sendProblem(c, 403, {
        code: 'host_refused',
        message: `Host not allowed: ${JSON.stringify(name.slice(0, 100))}.`,
        hint: `Use localhost:${port()}, or add the host to server.allowed_hosts.`,
      })
    await next()
  }
}

/** A browser client of MCP can connect by address; only the console is limited to localhost (RA11). */
const loopbackOrigins = (options: GuardOptions): readonly string[] =>
  ['127.0.0.1', '[::1]'].map((host) => consoleOrigin(options).replace('localhost', host))

const isMcp = (c: Context<Env>) => /^\/mcp(\/|$)/.test(c.req.path)

/** Foreign pages can link to the console: following a link changes nothing and needs no token. */
const isPageNavigation = (c: Context<Env>) =>
  c.req.header('sec-fetch-mode') === 'navigate' &&
  c.req.header('sec-fetch-dest') === 'document' &&
  (c.req.method === 'GET' || c.req.method === 'HEAD') &&
  !/^\/(api|mcp|metrics|sse|messages)(\/|$)/.test(c.req.path)

/**
 * Accepts only the origins of the console and of paired extensions, not `null` and not other ports. Where a browser
 * omits Origin, for example for an image, Sec-Fetch-Site still identifies a foreign page: a page on another local
 * port is `same-site`.
 */
export function checkOrigin(options: GuardOptions): MiddlewareHandler<Env> {
  return async function origin(c, next) {
    const from = c.req.header('origin')
    const site = c.req.header('sec-fetch-site')
    const isAllowed =
      from === undefined
        ? site === undefined || site === 'same-origin' || site === 'none' || isPageNavigation(c)
        : from === consoleOrigin(options) ||
          options.allowedOrigins.includes(from) ||
          (isMcp(c) && loopbackOrigins(options).includes(from))
    if (!isAllowed)
      return sendProblem(c, 403, {
        code: 'origin_refused',
        message: `Origin not allowed: ${JSON.stringify((from ?? 'unknown').slice(0, 100))}.`,
        hint: 'Open the console on localhost, or add the origin to server.allowed_origins.',
      })
    await next()
  }
}

const secretNames = ['token', 'access_token', 'agent_token', 'api_key', 'code', 'invite']

/** Refuses secrets in the query, which end up in histories and logs (SV26). */
export const checkUrl: MiddlewareHandler<Env> = async function url(c, next) {
  const at = c.req.url.indexOf('?')
  if (at !== -1) {
    const query = new URLSearchParams(c.req.url.slice(at + 1))
    const name = secretNames.find((secret) => query.has(secret))
    if (name !== undefined)
      return sendProblem(c, 400, {
        code: 'secret_in_url',
        message: `Secrets are not accepted in the URL: ${name}.`,
        hint: 'Send tokens as `Authorization: Bearer …`, or run `cowork open` for a new sign-in link.',
      })
  }
  await next()
}

/** A form or an image of a foreign page cannot send this content type without a CORS preflight. */
export const checkContentType: MiddlewareHandler<Env> = async function contentType(c, next) {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (c.req.method === 'POST' && type !== 'application/json')
    return sendProblem(c, 415, {
      code: 'json_expected',
      message: 'The body must be JSON.',
      hint: 'Send it with content-type: application/json.',
    })
  await next()
}

/** Forbids caching of API responses. Runs before `next`: setting the headers afterwards costs three times as much. */
export const setPrivateHeaders: MiddlewareHandler<Env> = async function setHeaders(c, next) {
  for (const [name, value] of Object.entries(privateHeaders)) c.header(name, value)
  await next()
}

export const privateHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

export function getBearerToken(c: Context<Env>): string | undefined {
  const [scheme, token] = c.req.header('authorization')?.split(' ') ?? []
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}

export const getRemoteAddress = (c: Context<Env>): string =>
  c.env.incoming.socket.remoteAddress ?? socketAddress

export function readCredentials(c: Context<Env>): PresentedCredentials {
  const bearer = getBearerToken(c)
  return {
    door: 'api',
    address: getRemoteAddress(c),
    ...(bearer && { bearer }),
    client: {
      name: c.req.header('user-agent')?.slice(0, 100) ?? 'unknown',
      version: '',
      transport: 'http',
    },
  }
}

/** `/api/*` always needs a token, on loopback too: a page on another local port can reach it. */
export function identifyCaller(identity: Pick<Identity, 'identify'>): MiddlewareHandler<Env> {
  return async function identify(c, next) {
    c.set('caller', await identity.identify(readCredentials(c)))
    await next()
  }
}

/** The fields that a refusal, a failure and a CoworkError have in common. */
export type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** Converts an error to an HTTP response; mcp/ converts errors for MCP. */
export function sendProblem(c: Context<Env>, status: number, problem: Problem): Response {
  const { code, message, hint, details } = problem
  if (status === 401) c.header('WWW-Authenticate', 'Bearer realm="cowork"')
  if (status === 429 || status === 503) c.header('Retry-After', '1')
  return c.json({ error: { code, message, hint, ...details } }, status as 400)
}

/** Returns the HTTP status of an error code; `app` merges the tables of all modules. */
export type ToHttpStatus = (code: string) => number

export const sendProblemByCode = (
  c: Context<Env>,
  toHttpStatus: ToHttpStatus,
  problem: Problem,
): Response => sendProblem(c, toHttpStatus(problem.code), problem)
