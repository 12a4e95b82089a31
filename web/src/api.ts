import { searchOf } from './search.ts'
import type { Query } from './search.ts'
import { session } from './session.ts'

/** What the daemon says when it refuses, in its own words. */
export type Problem = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

export class ApiError extends Error {
  readonly code: string
  readonly hint: string | undefined
  /** What else it says, by its own names. */
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
  const problem = await problemOf(response)
  if (response.status === 401) {
    // Another tab may have signed in anew while this request was under way.
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
      message: 'cowork does not answer.',
      hint: 'Start it with `cowork up -d`; this page goes on by itself.',
    })
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const answer = (await response.json().catch(() => ({}))) as { error?: Problem }
  return answer.error ?? { code: 'internal', message: `cowork answered with ${response.status}.` }
}

export async function get<Answer>(
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await request(`${path}${searchOf(query)}`, signal ? { signal } : {})
  return (await response.json()) as Answer
}

export async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const response = await request(path, { body })
  return (await response.json()) as Answer
}

/** Asks the person for their passkey, for one decision or for settings; false when they would rather not. */
type Assure = (decision: string | undefined) => Promise<boolean>
let assure: Assure | undefined
export const onPasskeyRequired = (ask: Assure) => {
  assure = ask
}

/** Does something of high risk: where the daemon asks for the passkey, the person is asked and it goes on (I6). */
export async function assured<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const asks = error instanceof ApiError && error.code === 'passkey_required'
    if (!asks || !assure) throw error
    const { decision } = error.details
    if (!(await assure(typeof decision === 'string' ? decision : undefined))) throw error
    return act()
  }
}

/** Calls a tool by the path every call takes. */
export const call = <Output>(tool: string, args: object = {}): Promise<Output> =>
  assured(async () => {
    const path = `/api/tools/${encodeURIComponent(tool)}/call`
    return (await post<{ output: Output }>(path, { arguments: args })).output
  })
