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

const seqParam = z.object({ seq: integerParam.describe('Entry number') })
const maxEntries = 1000

/**
 * Serves the ledger to people, and to an agent its own part (L10). Reading is not recorded: a live
 * view would record itself forever.
 */
export const ledgerRoutes = ({ ledger }: { readonly ledger: Ledger }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/ledger',
    summary: 'Filtered entries in ledger order',
    by: 'anyone',
    query: z.strictObject({
      ...rangeFields,
      ...conditionFields,
      limit: integerParam
        .pipe(z.number().max(maxEntries))
        .default(100)
        .describe('Up to 1000, default 100'),
      newest: booleanParam
        .prefault('false')
        .describe('true: the newest matching entries, not the oldest'),
      payloads: booleanParam.prefault('false').describe('true: include payloads'),
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
    summary: 'Signed checkpoints and the key that verifies them',
    by: 'anyone',
    answer: ledgerAnswers['GET /api/ledger/checkpoints'],
    run: async () => ({ vkey: ledger.vkey, checkpoints: await ledger.checkpoints() }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/{seq}',
    summary: 'One entry with its payload',
    by: 'anyone',
    params: seqParam,
    answer: ledgerAnswers['GET /api/ledger/{seq}'],
    async run({ params: { seq } }, c) {
      const { prevOk, ...found } = await getVisibleEntry(ledger, seq, c)
      return { ...found, prev_ok: prevOk }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/{seq}/proof',
    summary: 'Proof that a signed checkpoint contains an entry',
    by: 'anyone',
    params: seqParam,
    answer: ledgerAnswers['GET /api/ledger/{seq}/proof'],
    async run({ params: { seq } }, c) {
      await getVisibleEntry(ledger, seq, c)
      return ledger.prove(seq)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/receipts/{call}',
    summary: 'All entries of one call with proofs for one checkpoint',
    by: 'human',
    params: z.object({ call: z.string().describe('Call id') }),
    answer: ledgerAnswers['GET /api/ledger/receipts/{call}'],
    run: ({ params: { call } }) => ledger.receipt(call),
  }),
]

/** A hidden entry has the same error as a missing one. */
async function getVisibleEntry(ledger: Ledger, seq: number, c: Context<Env>) {
  const found = await ledger.entry(seq)
  if (found && isVisibleTo(c.get('caller'), found.entry)) return found
  throw new CoworkError('not_found', `Unknown entry: ${seq}.`, {
    hint: 'Run `cowork audit tail` to list the newest entries.',
  })
}
