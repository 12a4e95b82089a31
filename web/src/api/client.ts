import type { RouteAnswers, ToolName, ToolResults } from '#wire'
import { findRouteMismatch, findToolMismatch } from './answer-check.ts'
import { toSearchString } from './query-string.ts'
import type { Query } from './query-string.ts'
import { session } from './session.ts'

export type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

export class ApiError extends Error {
  readonly code: string
  readonly hint: string | undefined
  /** The other fields of the error. */
  readonly details: Readonly<Record<string, unknown>>

  constructor({ code, message, hint, ...details }: Problem) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.hint = hint
    this.details = details
  }
}

type Init = {
  method?: string
  body?: unknown
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
}

export async function request(path: string, init: Init = {}): Promise<Response> {
  const token = session.token()
  const response = await send(path, init, token)
  if (response.ok) return response
  const problem = await readProblem(response)
  if (response.status === 401) {
    // Another tab may have signed in during the request.
    if (session.token() && session.token() !== token) return request(path, init)
    if (token) session.end(problem)
  }
  throw new ApiError(problem)
}

async function send(path: string, { method, body, signal, headers }: Init, token?: string) {
  try {
    return await fetch(path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      cache: 'no-store',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError({
      code: 'unreachable',
      message: 'Cannot reach cowork.',
      hint: 'Start it with `cowork up -d`. This page reconnects automatically.',
    })
  }
}

async function readProblem(response: Response): Promise<Problem> {
  const answer = (await response.json().catch(() => ({}))) as { error?: Problem }
  return answer.error ?? { code: 'internal', message: `cowork returned HTTP ${response.status}.` }
}

type RouteName = keyof RouteAnswers
type Routes<Method extends string> = RouteName extends infer Name
  ? Name extends `${Method} ${infer Route}`
    ? Route
    : never
  : never

/** Sends a GET request; path parameters are taken from the query. */
export function get<Route extends Routes<'GET'>>(
  route: Route,
  query: Query = {},
  signal?: AbortSignal,
) {
  const rest = new Map(Object.entries(query))
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return encodeURIComponent(String(value))
  })
  const init = { method: 'GET', ...(signal && { signal }) }
  return requestJson<`GET ${Route}`>(path, init, toSearchString(Object.fromEntries(rest)))
}

export const post = <Route extends Exclude<Routes<'POST'>, `${string}{${string}`>>(
  route: Route,
  body: unknown,
) => requestJson<`POST ${Route}`>(route, { method: 'POST', body })

async function requestJson<Name extends RouteName>(
  path: string,
  init: Init & { method: string },
  search = '',
): Promise<RouteAnswers[Name]> {
  const response = await request(`${path}${search}`, init)
  const answer: unknown = await response.json()
  checkVersion(`${init.method} ${path}`, findRouteMismatch(init.method, path, answer))
  return answer as RouteAnswers[Name]
}

function checkVersion(name: string, mismatch: string | undefined): void {
  if (mismatch === undefined) return
  throw new ApiError({
    code: 'version_mismatch',
    message: `Unexpected response from ${name}: ${mismatch}`,
    hint: 'Reload the page: the console and cowork have different versions.',
  })
}

/** Asks for the passkey, for one decision or for settings; false if the person cancels. */
type ConfirmPasskey = (decision: string | undefined) => Promise<boolean>
let confirmPasskey: ConfirmPasskey | undefined
export const onPasskeyRequired = (ask: ConfirmPasskey) => {
  confirmPasskey = ask
}

/** Runs an action; if the daemon requires the passkey, asks for it and repeats the action (I6). */
export async function withPasskey<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const isPasskeyRequired = error instanceof ApiError && error.code === 'passkey_required'
    if (!isPasskeyRequired || !confirmPasskey) throw error
    const { decision } = error.details
    if (!(await confirmPasskey(typeof decision === 'string' ? decision : undefined))) throw error
    return act()
  }
}

export function call<Name extends ToolName>(tool: Name, args?: object): Promise<ToolResults[Name]>
export function call(tool: string, args?: object): Promise<unknown>
export function call(tool: string, args: object = {}): Promise<unknown> {
  return withPasskey(async () => {
    const path = `/api/tools/${encodeURIComponent(tool)}/call`
    const init = { method: 'POST', body: { arguments: args } }
    const { output } = await requestJson<'POST /api/tools/{name}/call'>(path, init)
    checkVersion(tool, findToolMismatch(tool, output))
    return output
  })
}
