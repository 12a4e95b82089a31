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
    summary: 'The ledger as it grows',
    by: 'anyone',
    query: z.strictObject({
      after: integerParam
        .optional()
        .describe('From behind this entry on; Last-Event-ID goes before it'),
      ...conditionFields,
    }),
    answer: {
      media: 'text/event-stream',
      description: 'First `hello` with {size}, then `entry` with an entry, its number as id',
    },
    async run({ query: { after, ...asked } }, c) {
      if (c.req.method === 'HEAD') return new Response(null, { headers: sseHeaders })
      const presented = readCredentials(c)
      const { outgoing } = c.env
      if (!(outgoing instanceof ServerResponse)) throw new Error('HTTP/2 is not served')
      const listening = {
        caller: c.get('caller'),
        conditions: toEntryConditions(c.get('caller'), asked),
        after: lastSeen(c) ?? after,
        identify: () => identity.identify(presented),
        credential: presented.bearer ?? '',
      }
      await live.open(listening, outgoing)
      return RESPONSE_ALREADY_SENT
    },
  })

function lastSeen(c: Context<Env>): number | undefined {
  const given = c.req.header('last-event-id')
  const read = integerParam.optional().safeParse(given === '' ? undefined : given)
  if (read.success) return read.data
  throw new CoworkError('invalid_input', 'Last-Event-ID is not the number of an entry.', {
    hint: 'Leave it out to hear of new entries only.',
  })
}
