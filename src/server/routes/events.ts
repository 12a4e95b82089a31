import { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import { readCredentials } from '../guards.ts'
import type { Env } from '../guards.ts'
import { sseHeaders } from '../live.ts'
import type { LiveStream } from '../live.ts'
import { conditionFields, toEntryConditions, integerParam } from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = { readonly live: LiveStream; readonly identity: Identity }

export const eventRoute = ({ live, identity }: Deps): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/events',
    summary: 'Live stream of ledger entries',
    by: 'anyone',
    query: z.strictObject({
      after: integerParam
        .optional()
        .describe('Start after this entry; Last-Event-ID takes precedence'),
      ...conditionFields,
    }),
    answer: {
      media: 'text/event-stream',
      description: 'One `hello` event with {size}, then `entry` events with the entry number as id',
    },
    async run({ query: { after, ...asked } }, c) {
      if (c.req.method === 'HEAD') return new Response(null, { headers: sseHeaders })
      const presented = readCredentials(c)
      const { outgoing } = c.env
      if (!(outgoing instanceof ServerResponse)) throw new Error('HTTP/2 is not supported')
      const listening = {
        caller: c.get('caller'),
        conditions: toEntryConditions(c.get('caller'), asked),
        after: getLastEventId(c) ?? after,
        identify: () => identity.identify(presented),
        credential: presented.bearer ?? '',
      }
      await live.open(listening, outgoing)
      return RESPONSE_ALREADY_SENT
    },
  })

function getLastEventId(c: Context<Env>): number | undefined {
  const lastEventId = c.req.header('last-event-id')
  const read = integerParam.optional().safeParse(lastEventId === '' ? undefined : lastEventId)
  if (read.success) return read.data
  throw new CoworkError('invalid_input', 'Last-Event-ID is not an entry number.', {
    hint: 'Omit Last-Event-ID to receive only new entries.',
  })
}
