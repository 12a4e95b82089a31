import * as z from 'zod'
import { modes, risks, statuses } from '#approvals'
import { CoworkError } from '#base/errors.ts'
import type { Dispatch } from '#dispatch'
import type { Inbox } from '#governance'
import { refuseBy } from '../guards.ts'
import { whole } from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = { readonly inbox: Inbox; readonly dispatch: Dispatch }

const mostItems = 1000
const mostIds = 200
const time = z.iso.datetime()
// PostgreSQL has no room for NUL in a text.
const word = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/)
const text = word(200).optional()

const item = z
  .object({
    id: z.string(),
    kind: z.string().describe('proposal, call, permission, spot_check, handoff, …'),
    status: z.enum(statuses),
    requester: z.string().describe('The agent that asks'),
    domain: z.string(),
    action: z.string(),
    target: z.string(),
    summary: z.string().describe('One plain line'),
    mode: z.enum(modes),
    risk: z.enum(risks),
    trust_level: z
      .number()
      .nullable()
      .describe('Of the agent in the domain: now while it is pending, when it asked afterwards'),
    confidence: z.number().nullable(),
    created_at: time,
    expires_at: time.nullable(),
    approvers: z.object({ needed: z.int(), given: z.array(z.string()) }),
    group: z.string().describe('Equal ones share it'),
    held: z
      .object({ decision: z.enum(['approve', 'reject']), by: z.string(), until: time })
      .optional()
      .describe('A decision that can still be undone'),
    policy_conflict: z
      .object({
        policy: z.string().nullable(),
        version: z.string().describe('Of the active policy; acknowledge_policy takes it'),
        rule: z.string().nullable(),
        message: z.string(),
      })
      .optional()
      .describe('The active policy would block it; approving it takes acknowledge_policy'),
    decided_at: time.optional(),
    decided_by: z.string().optional(),
    channel: z.string().optional(),
    reason: z.string().optional(),
    auto: z.literal(true).optional().describe('Trust decided, nobody was asked'),
    look_back: z
      .string()
      .optional()
      .describe('Of a check: the look-back that brought it; its rows share it'),
  })
  .meta({ id: 'Approval' })

const rule = z.object({
  rule_id: z.string(),
  field: z.string(),
  severity: z.string(),
  reason: z.string(),
})

const handoff = z.object({
  handoff_mode: z.string(),
  reason: z.string(),
  confidence: z.number().nullable(),
  attempted_actions: z.array(z.unknown()),
  context: z.unknown(),
  packet: z.object({
    recent: z.array(
      z.object({
        seq: z.int(),
        at: time,
        type: z.string(),
        action: z.string().optional(),
        subject: z.string().optional(),
        outcome: z.string().optional(),
      }),
    ),
  }),
  parent_handoff_id: z.string().nullable(),
  proposal_id: z.string().nullable(),
  overdue: z.boolean(),
  reminded: z.int().describe('How often people were told of it again'),
  thread: z
    .array(
      z.object({
        handoff_id: z.string(),
        reason: z.string(),
        at: time,
        resolution: z.string().optional(),
        hand_back: z.boolean().optional(),
        instructions: z.string().optional(),
      }),
    )
    .describe('What was asked and answered, oldest first, this one too'),
})

const detail = item.extend({
  why: z.looseObject({
    text: z.string(),
    rules: z.array(rule).readonly(),
    policy_id: z.string().nullable(),
    policy_description: z.string().nullable(),
    policy_version: z.string(),
    trust_level: z.number().nullable(),
    thresholds: z.object({ suggest: z.number(), act: z.number() }),
    evidence_level: z.number().nullable(),
    gated: z.boolean(),
    high_risk_fields: z.array(z.string()).readonly(),
  }),
  change: z.unknown().describe('The change of a proposal, the arguments of a call'),
  before: z.record(z.string(), z.unknown()).describe('Values last approved on the same target'),
  approved_change: z.unknown().optional(),
  collaborative: z.boolean().optional(),
  handoff: handoff.optional(),
  check: z
    .object({
      call: z.string().optional(),
      proposal: z.string().optional(),
      record: z
        .array(
          z.object({
            seq: z.int(),
            at: time,
            type: z.string(),
            outcome: z.string().optional(),
          }),
        )
        .describe('What the ledger has of the action'),
      undo: z
        .object({
          tool: z.string(),
          arguments: z.record(z.string(), z.unknown()),
          text: z.string().describe('For a button'),
        })
        .optional()
        .describe('The call that takes the action back, while there is one'),
      consequences: z
        .object({ confirm: z.string(), wrong: z.string(), differently: z.string() })
        .describe('What each answer leads to'),
      faults: z
        .array(z.object({ type: z.string(), severity: z.string(), text: z.string() }))
        .describe('What marking it as wrong leads to, by type and severity'),
    })
    .optional()
    .describe('Of a spot check'),
  grant: z
    .record(z.string(), z.unknown())
    .readonly()
    .optional()
    .describe(
      'Of a request for access: path, real, permission, is_folder, missing, folder, inside and sensitive; for people only',
    ),
  reasoning: z.string().nullable(),
  field: z.string().nullable(),
  digest: z.string(),
  session: z.string().nullable(),
  client: z
    .object({ name: z.string(), version: z.string(), transport: z.string() })
    .nullable()
    .describe('What the agent’s client says of itself'),
  effect: z.object({
    approve: z.object({ from: z.number(), to: z.number() }).nullable(),
    overrides: z.array(z.object({ type: z.string(), severity: z.string(), to: z.number() })),
  }),
  history: z.array(
    z.object({
      id: z.string(),
      at: time,
      status: z.enum(statuses),
      decided_by: z.string().nullable(),
      summary: z.string(),
      reason: z.string().nullable(),
      trust_change: z.number().nullable(),
    }),
  ),
  trust_points: z.array(z.object({ at: time, score: z.number(), cause: z.string() })),
})

/** The inbox. Looking at it is no act; deciding is, and takes the path of every call. */
export const approvalRoutes = ({ inbox, dispatch }: Deps): Route[] => [
  ...lookRoutes(inbox),
  // `decision` is the path that J40 names; `decide` came first.
  ...(['decide', 'decision'] as const).map((verb) => decideRoute(dispatch, verb)),
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
      limit: whole.pipe(z.number().min(1).max(mostItems)).default(100),
    }),
    answer: z.object({
      items: z.array(item),
      next: z.string().nullable().describe('Where the next page begins'),
      counts: z.record(z.string(), z.int()).describe('What is pending, in all and by kind'),
    }),
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
    answer: detail,
    async run({ params: { id } }, c) {
      const found = await inbox.detail(c.get('caller'), id)
      if (found) return found
      throw new CoworkError('not_found', `There is no approval ${JSON.stringify(id)}.`, {
        hint: 'GET /api/approvals lists those there are.',
      })
    },
  }),
]

const decideRoute = (dispatch: Dispatch, verb: 'decide' | 'decision'): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/approvals/{id}/${verb}`,
    summary: 'Decides one: the same as calling cowork_decide with it',
    by: 'human',
    params: z.object({ id: word(128) }),
    body: z.looseObject({ decision: z.enum(['approve', 'reject']) }),
    answer: z.object({ call: z.string(), output: z.unknown() }),
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
        : refuseBy(c, answer)
    },
  })
