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

const maxItems = 1000
const maxIds = 200
// PostgreSQL cannot store NUL in text.
const word = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\0]*$/)
const text = word(200).optional()

/** Serves the inbox. Reading is not recorded as a call; decisions go through dispatch. */
export const approvalRoutes = (deps: Deps): Route[] => [
  ...readRoutes(deps.inbox),
  // `decision` is the path of rule J40; `decide` is older.
  ...(['decide', 'decision'] as const).map((verb) => decideRoute(deps, verb)),
]

const readRoutes = (inbox: Inbox): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/approvals',
    summary: 'Pending and decided approvals, newest first; an agent sees its own',
    by: 'anyone',
    query: z.strictObject({
      status: z.enum(['pending', 'decided', 'all']).default('pending'),
      kind: text,
      agent: text,
      domain: text,
      q: text.describe('Text in any field of a row'),
      ids: word(20_000).optional().describe('Only these ids, up to 200, separated by commas'),
      after: word(128).optional().describe('`next` of the previous page'),
      limit: integerParam.pipe(z.number().min(1).max(maxItems)).default(100),
    }),
    answer: inboxAnswers['GET /api/approvals'],
    async run({ query: { ids, ...query } }, c) {
      const list = ids?.split(',').slice(0, maxIds)
      return inbox.list(c.get('caller'), { ...query, ...(list && { ids: list }) })
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/approvals/{id}',
    summary: 'One approval with its reason and the effect of a decision',
    by: 'anyone',
    params: z.object({ id: word(128) }),
    answer: inboxAnswers['GET /api/approvals/{id}'],
    async run({ params: { id } }, c) {
      const found = await inbox.detail(c.get('caller'), id)
      if (found) return found
      throw new CoworkError('not_found', `Unknown approval: ${JSON.stringify(id)}.`, {
        hint: 'List approvals with GET /api/approvals.',
      })
    },
  }),
]

const decideRoute = ({ dispatch, toHttpStatus }: Deps, verb: 'decide' | 'decision'): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/approvals/{id}/${verb}`,
    summary: 'Decide one approval, like cowork_decide',
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
