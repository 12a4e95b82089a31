import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import { identifyCaller } from '../guards.ts'
import type { Env } from '../guards.ts'
import { createInFlightLimiter, maxFileBodyBytes, readJsonBody } from '../limits.ts'
import type { Messages } from '../messages.ts'

type Fields = z.ZodObject
type Given<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined
export type Media = { readonly media: string; readonly description: string }

type Described<
  P extends Fields | undefined,
  Q extends Fields | undefined,
  B extends Fields | undefined,
  A extends z.ZodType | Media,
> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Parameters as OpenAPI writes them: `/api/ledger/{seq}` */
  readonly path: `/${string}`
  readonly summary: string
  /** Who is let in: `all` without a token, `anyone` with one, or people only. */
  readonly by: 'all' | 'anyone' | 'human'
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Its body may be as large as a file (SV25). */
  readonly isLarge?: (params: Given<P>) => boolean
  readonly status?: 201
  /** What is answered: JSON, or something else that `run` makes itself. */
  readonly answer: A
  readonly run: (
    asked: { readonly params: Given<P>; readonly query: Given<Q>; readonly body: Given<B> },
    c: Context<Env>,
  ) => Promise<Response | (A extends z.ZodType ? z.input<A> : never)>
}

/** One address of the API. What mounts it also documents it, so the two cannot drift apart. */
export type Route = Described<Fields, Fields, Fields, z.ZodType | Media>

export const defineRoute = <
  A extends z.ZodType | Media,
  P extends Fields | undefined = undefined,
  Q extends Fields | undefined = undefined,
  B extends Fields | undefined = undefined,
>(
  route: Described<P, Q, B, A>,
): Route => route as unknown as Route

export type MountOptions = {
  readonly identity: Pick<Identity, 'identify'>
  readonly bodyBytes: number
  readonly callsInFlight: number
  /** Agents' bodies are parsed by these; without them, as in a test, like those of people. */
  readonly messages?: Pick<Messages, 'queue' | 'readArguments'> | undefined
}

export function mountRoutes(
  app: Hono<Env>,
  routes: readonly Route[],
  { identity, bodyBytes, callsInFlight, messages }: MountOptions,
): void {
  const identify = identifyCaller(identity)
  const inFlight = createInFlightLimiter(callsInFlight)

  async function answer(route: Route, c: Context<Env>): Promise<Response> {
    if (route.by === 'human' && c.get('caller').kind !== 'human') throw forPeople(c.req.path)
    const params = parsed(route.params, c.req.param(), 'The address')
    const isLarge = route.isLarge?.(params as Parameters<typeof route.isLarge>[0])
    const most = isLarge ? Math.max(bodyBytes, maxFileBodyBytes) : bodyBytes
    const asked = {
      params,
      query: parsed(route.query, queryOf(c), 'The query'),
      body: route.body && parsed(route.body, await bodyOf(route, c, most), 'The body'),
    }
    const answered = await route.run(asked as Parameters<Route['run']>[0], c)
    return isResponse(answered) ? answered : c.json(answered as object, route.status ?? 200)
  }

  async function bodyOf(route: Route, c: Context<Env>, most: number): Promise<unknown> {
    const { kind, id } = c.get('caller') ?? { kind: 'human' }
    if (kind !== 'agent' || !messages) return readJsonBody(c.req.raw, most)
    const tool = route.isLarge ? c.req.param('name') : undefined
    return messages.readArguments(`agent:${id}`, c.req.raw, tool)
  }

  async function counted(route: Route, c: Context<Env>): Promise<Response> {
    const { kind, id } = c.get('caller')
    const leave = inFlight.enter(`${kind}:${id}`)
    if (!leave)
      throw new CoworkError('too_many_calls', `${id} has too many requests under way.`, {
        hint: 'Wait for some of them to end.',
      })
    // What people do goes before what agents have sent already; reading may wait its turn (RS4).
    const release = kind === 'human' && route.method !== 'GET' ? messages?.queue.pause() : undefined
    try {
      if (kind === 'agent' && !route.body) await messages?.queue.wait(`agent:${id}`)
      return await answer(route, c)
    } finally {
      release?.()
      leave()
    }
  }

  // Path by path, so that `/api/ledger/verify` is not taken for an entry.
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    const at = path.replaceAll(/\{(\w+)\}/g, ':$1')
    for (const route of same)
      if (route.by === 'all') app.on(route.method, at, (c) => answer(route, c))
      else app.on(route.method, at, identify, (c) => counted(route, c))
    const allow = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    app.all(at, (c) => {
      c.header('Allow', allow.join(', '))
      throw new CoworkError('method_not_allowed', `${c.req.method} is not for ${c.req.path}.`, {
        hint: `It takes ${allow.join(' and ')}.`,
      })
    })
  }
}

/** The sign that a stream was begun is older than the class that the server puts in place of Response. */
const isResponse = (answered: unknown): answered is Response =>
  answered instanceof Response || answered === RESPONSE_ALREADY_SENT

function parsed(schema: Fields | undefined, given: unknown, what: string): unknown {
  if (!schema) return undefined
  const read = schema.safeParse(given)
  if (read.success) return read.data
  const names = Object.keys(schema.shape)
  throw new CoworkError(
    'invalid_input',
    `${what} is not understood: ${z.prettifyError(read.error)}`,
    { hint: names.length > 0 ? `It takes ${names.join(', ')}.` : 'It takes nothing.' },
  )
}

/** A name given once is its value, given again the list of them. */
const queryOf = (c: Context<Env>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => {
      const [first = '', ...more] = values
      return [name, more.length > 0 ? values : first]
    }),
  )

const forPeople = (path: string) =>
  new CoworkError('human_required', `${path} is for people.`, {
    hint: 'Ask a person: they use the console or the cowork command line.',
  })
