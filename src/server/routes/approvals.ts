import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import type { Dispatch } from '#dispatch'
import type { Inbox } from '#governance'
import { inboxAnswers } from '#governance/wire.ts'
import { sendProblemByCode } from '../guards.ts'
import type { ToHttpStatus } from '../guards.ts'
import { integerParam } from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = {
  readonly inbox: Inbox
  readonly dispatch: Dispatch
  readonly toHttpStatus: ToHttpStatus
}

const mostItems = 1000
const mostIds = 200
// PostgreSQL has no room for NUL in a text.
const word = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/)
const text = word(200).optional()

/** The inbox. Looking at it is no act; deciding is, and takes the path of every call. */
export const approvalRoutes = (deps: Deps): Route[] => [
  ...lookRoutes(deps.inbox),
  // `decision` is the path that J40 names; `decide` came first.
  ...(['decide', 'decision'] as const).map((verb) => decideRoute(deps, verb)),
]

const lookRoutes = (inbox: Inbox): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/approvals',
    summary: 'What waits for people or was decided, newest first; an agent sees its own',
    by: 'anyone',
    query: z.strictObject({
      status: z.enum(['pending', 'decided', 'all']).default('pending'),
      kind: text,
      agent: text,
      domain: text,
      q: text.describe('Anywhere in what a row shows'),
      ids: word(20_000).optional().describe('These only, up to 200, with commas between'),
      after: word(128).optional().describe('`next` of the page before'),
      limit: integerParam.pipe(z.number().min(1).max(mostItems)).default(100),
    }),
    answer: inboxAnswers['GET /api/approvals'],
    async run({ query: { ids, ...query } }, c) {
      const list = ids?.split(',').slice(0, mostIds)
      return inbox.list(c.get('caller'), { ...query, ...(list && { ids: list }) })
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/approvals/{id}',
    summary: 'One approval with why it is asked and what a decision would do',
    by: 'anyone',
    params: z.object({ id: word(128) }),
    answer: inboxAnswers['GET /api/approvals/{id}'],
    async run({ params: { id } }, c) {
      const found = await inbox.detail(c.get('caller'), id)
      if (found) return found
      throw new CoworkError('not_found', `Unknown approval: ${JSON.stringify(id)}.`, {
        hint: 'GET /api/approvals lists those there are.',
      })
    },
  }),
]

const decideRoute = ({ dispatch, toHttpStatus }: Deps, verb: 'decide' | 'decision'): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/approvals/{id}/${verb}`,
    summary: 'Decides one: the same as calling cowork_decide with it',
    by: 'human',
    params: z.object({ id: word(128) }),
    body: z.looseObject({ decision: z.enum(['approve', 'reject']) }),
    answer: inboxAnswers[`POST /api/approvals/{id}/${verb}`],
    async run({ params: { id }, body }, c) {
      const answer = await dispatch({
        tool: 'cowork_decide',
        arguments: { ...body, approval_ids: [id] },
        caller: c.get('caller'),
        signal: c.req.raw.signal,
        traceparent: c.req.header('traceparent'),
      })
      return answer.status === 'done'
        ? { call: answer.call, output: answer.output }
        : sendProblemByCode(c, toHttpStatus, answer)
    },
  })
