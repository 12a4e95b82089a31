import type { Context, MiddlewareHandler } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Caller } from '#base/caller.ts'
import { socketAddress } from '#identity'
import type { Identity, Presented } from '#identity'

export type Env = { Bindings: HttpBindings; Variables: { caller: Caller } }

export type GuardOptions = {
  /** The port we listen on: known only after listening, so it is asked for. */
  readonly port: () => number
  /** Serving HTTPS, so the console's origin is too. */
  readonly isSecure?: boolean
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

/** The console is on localhost alone: passkeys need a name, and 127.0.0.1 is kept for the apps' sandbox. */
export const consoleOrigin = ({ port, isSecure = false }: GuardOptions): string =>
  `${isSecure ? 'https' : 'http'}://localhost:${port()}`

/** Only names that mean this machine: a page that rebinds its own name to 127.0.0.1 sends its own name. */
export function checkHost({ port, allowedHosts }: GuardOptions): MiddlewareHandler<Env> {
  return async function host(c, next) {
    const name = c.req.header('host')?.toLowerCase() ?? ''
    const ours = [`localhost:${port()}`, `127.0.0.1:${port()}`, `[::1]:${port()}`]
    if (!ours.includes(name) && !allowedHosts.includes(name))
      return sendProblem(c, 403, {
        code: 'host_refused',
        message: `This server does not answer to the name ${JSON.stringify(name.slice(0, 100))}.`,
        hint: `Use localhost:${port()}, or add the name to server.allowed_hosts.`,
      })
    await next()
  }
}

/** A client that runs in a browser names the address it connects to; the console alone is only on localhost (RA11). */
const ownOrigins = (options: GuardOptions): readonly string[] =>
  ['127.0.0.1', '[::1]'].map((host) => consoleOrigin(options).replace('localhost', host))

const isMcp = (c: Context<Env>) => /^\/mcp(\/|$)/.test(c.req.path)

/** Where a foreign page may send people to, and no more: following a link has no effect and needs no token. */
const isPage = (c: Context<Env>) =>
  c.req.header('sec-fetch-mode') === 'navigate' &&
  c.req.header('sec-fetch-dest') === 'document' &&
  (c.req.method === 'GET' || c.req.method === 'HEAD') &&
  !/^\/(api|mcp|metrics|sse|messages)(\/|$)/.test(c.req.path)

/**
 * Browsers send Origin; only the console (and paired extensions) may. `null` and other ports may not. Where a
 * browser leaves Origin out, as with an image, it still tells that the page is another's: `same-site` is what
 * a page on another local port is.
 */
export function checkOrigin(options: GuardOptions): MiddlewareHandler<Env> {
  return async function origin(c, next) {
    const from = c.req.header('origin')
    const site = c.req.header('sec-fetch-site')
    const isOurs =
      from === undefined
        ? site === undefined || site === 'same-origin' || site === 'none' || isPage(c)
        : from === consoleOrigin(options) ||
          options.allowedOrigins.includes(from) ||
          (isMcp(c) && ownOrigins(options).includes(from))
    if (!isOurs)
      return sendProblem(c, 403, {
        code: 'origin_refused',
        message: `Pages from ${JSON.stringify((from ?? 'elsewhere').slice(0, 100))} may not talk to this server.`,
        hint: 'Open the console on localhost, or add the origin to server.allowed_origins.',
      })
    await next()
  }
}

const secretNames = ['token', 'access_token', 'agent_token', 'api_key', 'code', 'invite']

/** What stands in a query ends up in histories and logs (SV26). */
export const checkUrl: MiddlewareHandler<Env> = async function url(c, next) {
  const at = c.req.url.indexOf('?')
  if (at !== -1) {
    const given = new URLSearchParams(c.req.url.slice(at + 1))
    const name = secretNames.find((secret) => given.has(secret))
    if (name !== undefined)
      return sendProblem(c, 400, {
        code: 'secret_in_url',
        message: `The address carries a ${name} where others can read it.`,
        hint: 'Send tokens as `Authorization: Bearer …`. `cowork open` makes a fresh link, whose code stands behind #.',
      })
  }
  await next()
}

/** A form or an image of a foreign page cannot send this content type without asking first. */
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

/** Answers of the API are for this caller and this moment. Set before `next`: afterwards it costs thrice. */
export const setPrivateHeaders: MiddlewareHandler<Env> = async function privately(c, next) {
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

export function readCredentials(c: Context<Env>): Presented {
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

/** What a refusal, a failure and a CoworkError have in common. */
export type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** The HTTP half of the one conversion of errors; the MCP half is in mcp/. */
export function sendProblem(c: Context<Env>, status: number, problem: Problem): Response {
  const { code, message, hint, details } = problem
  if (status === 401) c.header('WWW-Authenticate', 'Bearer realm="cowork"')
  if (status === 429 || status === 503) c.header('Retry-After', '1')
  return c.json({ error: { code, message, hint, ...details } }, status as 400)
}

/** The HTTP status of an error code; `app` collects the tables of all modules. */
export type StatusOf = (code: string) => number

export const sendProblemByCode = (
  c: Context<Env>,
  statusOf: StatusOf,
  problem: Problem,
): Response => sendProblem(c, statusOf(problem.code), problem)
