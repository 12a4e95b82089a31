import { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import { presentedOf } from '../guards.ts'
import type { Env } from '../guards.ts'
import { eventHeaders } from '../live.ts'
import type { Live } from '../live.ts'
import { conditionFields, conditionsFor, whole } from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = { readonly live: Live; readonly identity: Identity }

export const eventRoute = ({ live, identity }: Deps): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/events',
    summary: 'The ledger as it grows',
    by: 'anyone',
    query: z.strictObject({
      after: whole.optional().describe('From behind this entry on; Last-Event-ID goes before it'),
      ...conditionFields,
    }),
    answer: {
      media: 'text/event-stream',
      description: 'First `hello` with {size}, then `entry` with an entry, its number as id',
    },
    async run({ query: { after, ...asked } }, c) {
      if (c.req.method === 'HEAD') return new Response(null, { headers: eventHeaders })
      const presented = presentedOf(c)
      const { outgoing } = c.env
      if (!(outgoing instanceof ServerResponse)) throw new Error('HTTP/2 is not served')
      const listening = {
        caller: c.get('caller'),
        conditions: conditionsFor(c.get('caller'), asked),
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
  const read = whole.optional().safeParse(given === '' ? undefined : given)
  if (read.success) return read.data
  throw new CoworkError('invalid_input', 'Last-Event-ID is not the number of an entry.', {
    hint: 'Leave it out to hear of new entries only.',
  })
}
