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
type FieldsInput<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined
export type Media = { readonly media: string; readonly description: string }

type RouteDefinition<
  P extends Fields | undefined,
  Q extends Fields | undefined,
  B extends Fields | undefined,
  A extends z.ZodType | Media,
> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path with OpenAPI parameters: `/api/ledger/{seq}` */
  readonly path: `/${string}`
  readonly summary: string
  /** Allowed callers: `all` without a token, `anyone` with a token, or people only. */
  readonly by: 'all' | 'anyone' | 'human'
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** True if the body may be as large as a file (SV25). */
  readonly isLarge?: (params: FieldsInput<P>) => boolean
  readonly status?: 201
  /** The response: JSON, or another media type that `run` returns itself. */
  readonly answer: A
  readonly run: (
    asked: {
      readonly params: FieldsInput<P>
      readonly query: FieldsInput<Q>
      readonly body: FieldsInput<B>
    },
    c: Context<Env>,
  ) => Promise<Response | (A extends z.ZodType ? z.input<A> : never)>
}

/** One route of the API. The same data mounts and documents it, so both stay consistent. */
export type Route = RouteDefinition<Fields, Fields, Fields, z.ZodType | Media>

export const defineRoute = <
  A extends z.ZodType | Media,
  P extends Fields | undefined = undefined,
  Q extends Fields | undefined = undefined,
  B extends Fields | undefined = undefined,
>(
  route: RouteDefinition<P, Q, B, A>,
): Route => route as unknown as Route

export type MountOptions = {
  readonly identity: Pick<Identity, 'identify'>
  readonly bodyBytes: number
  readonly callsInFlight: number
  /**
   * Parses the bodies of agents; without it, for example in tests, they are parsed like those of
   * people.
   */
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
    if (route.by === 'human' && c.get('caller').kind !== 'human') throw peopleOnlyError(c.req.path)
    const params = parseFields(route.params, c.req.param(), 'path parameters')
    const isLarge = route.isLarge?.(params as Parameters<typeof route.isLarge>[0])
    const most = isLarge ? Math.max(bodyBytes, maxFileBodyBytes) : bodyBytes
    const asked = {
      params,
      query: parseFields(route.query, readQuery(c), 'query'),
      body: route.body && parseFields(route.body, await readBody(route, c, most), 'body'),
    }
    const answered = await route.run(asked as Parameters<Route['run']>[0], c)
    return isResponse(answered) ? answered : c.json(answered as object, route.status ?? 200)
  }

  async function readBody(route: Route, c: Context<Env>, most: number): Promise<unknown> {
    const { kind, id } = c.get('caller') ?? { kind: 'human' }
    if (kind !== 'agent' || !messages) return readJsonBody(c.req.raw, most)
    const tool = route.isLarge ? c.req.param('name') : undefined
    return messages.readArguments(`agent:${id}`, c.req.raw, tool)
  }

  async function answerWithLimit(route: Route, c: Context<Env>): Promise<Response> {
    const { kind, id } = c.get('caller')
    const leave = inFlight.enter(`${kind}:${id}`)
    if (!leave)
      throw new CoworkError('too_many_calls', `Too many running requests: ${id}.`, {
        hint: 'Wait until some requests finish.',
      })
    // Writes of people go before queued messages of agents; reads may wait (RS4).
    const release = kind === 'human' && route.method !== 'GET' ? messages?.queue.pause() : undefined
    try {
      if (kind === 'agent' && !route.body) await messages?.queue.wait(`agent:${id}`)
      return await answer(route, c)
    } finally {
      release?.()
      leave()
    }
  }

  // Grouped by path, so `/api/ledger/verify` does not match the entry route.
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    const at = path.replaceAll(/\{(\w+)\}/g, ':$1')
    for (const route of same)
      if (route.by === 'all') app.on(route.method, at, (c) => answer(route, c))
      else app.on(route.method, at, identify, (c) => answerWithLimit(route, c))
    const allow = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    app.all(at, (c) => {
      c.header('Allow', allow.join(', '))
      throw new CoworkError(
        'method_not_allowed',
        `Method not allowed: ${c.req.method} ${c.req.path}.`,
        {
          hint: `Use ${allow.join(' or ')}.`,
        },
      )
    })
  }
}

/**
 * RESPONSE_ALREADY_SENT is an instance of the original Response class, which the server replaces.
 */
const isResponse = (answered: unknown): answered is Response =>
  answered instanceof Response || answered === RESPONSE_ALREADY_SENT

function parseFields(schema: Fields | undefined, given: unknown, what: string): unknown {
  if (!schema) return undefined
  const read = schema.safeParse(given)
  if (read.success) return read.data
  const names = Object.keys(schema.shape)
  throw new CoworkError('invalid_input', `Invalid ${what}: ${z.prettifyError(read.error)}`, {
    hint: names.length > 0 ? `Use ${names.join(', ')}.` : 'Send no parameters.',
  })
}

/** Reads the query; a repeated name becomes a list. */
const readQuery = (c: Context<Env>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => {
      const [first = '', ...more] = values
      return [name, more.length > 0 ? values : first]
    }),
  )

const peopleOnlyError = (path: string) =>
  new CoworkError('human_required', `${path} is for people only.`, {
    hint: 'Ask a person to use the console or the cowork command line.',
  })
