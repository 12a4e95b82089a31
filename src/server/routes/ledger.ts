import type { Context } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { isVisibleTo } from '#ledger'
import type { Ledger } from '#ledger'
import { ledgerAnswers } from '#ledger/wire.ts'
import type { Env } from '../guards.ts'
import {
  conditionFields,
  toEntryConditions,
  booleanParam,
  rangeFields,
  integerParam,
} from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

const seqParam = z.object({ seq: integerParam.describe('Number of the entry') })
const mostEntries = 1000

/**
 * The ledger as people read it, and an agent its own part of it (L10). Reading it is no act of its own: a live
 * view would record itself for ever.
 */
export const ledgerRoutes = ({ ledger }: { readonly ledger: Ledger }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/ledger',
    summary: 'Entries by filter, always in the order they were written',
    by: 'anyone',
    query: z.strictObject({
      ...rangeFields,
      ...conditionFields,
      limit: integerParam
        .pipe(z.number().max(mostEntries))
        .default(100)
        .describe('Up to 1000; 100 where absent'),
      newest: booleanParam
        .prefault('false')
        .describe('true: the newest that match, not the oldest'),
      payloads: booleanParam.prefault('false').describe('true: with what is kept beside them'),
    }),
    answer: ledgerAnswers['GET /api/ledger'],
    async run({ query: { limit, newest, payloads, ...asked } }, c) {
      const conditions = toEntryConditions(c.get('caller'), asked)
      const found = await ledger.find({ ...conditions, limit, newestFirst: newest })
      return {
        size: await ledger.size(),
        entries: newest ? found.toReversed() : found,
        ...(payloads && { payloads: await ledger.payloads(found.map(({ seq }) => seq)) }),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/checkpoints',
    summary: 'Signed checkpoints and the key they are checked with',
    by: 'anyone',
    answer: ledgerAnswers['GET /api/ledger/checkpoints'],
    run: async () => ({ vkey: ledger.vkey, checkpoints: await ledger.checkpoints() }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/{seq}',
    summary: 'One entry with what is kept beside it',
    by: 'anyone',
    params: seqParam,
    answer: ledgerAnswers['GET /api/ledger/{seq}'],
    async run({ params: { seq } }, c) {
      const { prevOk, ...found } = await visibleEntry(ledger, seq, c)
      return { ...found, prev_ok: prevOk }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/{seq}/proof',
    summary: 'Proof that an entry is in the ledger that a checkpoint signs',
    by: 'anyone',
    params: seqParam,
    answer: ledgerAnswers['GET /api/ledger/{seq}/proof'],
    async run({ params: { seq } }, c) {
      await visibleEntry(ledger, seq, c)
      return ledger.prove(seq)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/receipts/{call}',
    summary: 'Every entry of one call with proofs to one checkpoint',
    by: 'human',
    params: z.object({ call: z.string().describe('Id of the call') }),
    answer: ledgerAnswers['GET /api/ledger/receipts/{call}'],
    run: ({ params: { call } }) => ledger.receipt(call),
  }),
]

/** What may not be seen is answered like what is not there. */
async function visibleEntry(ledger: Ledger, seq: number, c: Context<Env>) {
  const found = await ledger.entry(seq)
  if (found && isVisibleTo(c.get('caller'), found.entry)) return found
  throw new CoworkError('not_found', `There is no entry ${seq} for you to see.`, {
    hint: '`cowork audit tail` shows the newest entries.',
  })
}
