import type { Context } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { entrySchema, receiptSchema, visibleTo } from '#ledger'
import type { Ledger } from '#ledger'
import type { Env } from '../guards.ts'
import { conditionFields, conditionsFor, flag, rangeFields, whole } from './filters.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

/** Named, so that the documentation spells it once. */
const entry = entrySchema.meta({ id: 'Entry' })
const seqParam = z.object({ seq: whole.describe('Number of the entry') })
const mostEntries = 1000
const payload = z.object({ seq: z.int(), salt: z.string(), body: z.string() })
const checkpoint = z.object({ size: z.int(), at: z.int(), note: z.string() })

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
      limit: whole
        .pipe(z.number().max(mostEntries))
        .default(100)
        .describe('Up to 1000; 100 where absent'),
      newest: flag.prefault('false').describe('true: the newest that match, not the oldest'),
      payloads: flag.prefault('false').describe('true: with what is kept beside them'),
    }),
    answer: z.object({
      size: z.int().describe('Entries in the whole ledger'),
      entries: z.array(entry),
      payloads: z.array(payload).optional(),
    }),
    async run({ query: { limit, newest, payloads, ...asked } }, c) {
      const conditions = conditionsFor(c.get('caller'), asked)
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
    answer: z.object({ vkey: z.string(), checkpoints: z.array(checkpoint) }),
    run: async () => ({ vkey: ledger.vkey, checkpoints: await ledger.checkpoints() }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/ledger/{seq}',
    summary: 'One entry with what is kept beside it',
    by: 'anyone',
    params: seqParam,
    answer: z.object({
      entry,
      payload: z.unknown().optional().describe('Absent where there is none or it was erased'),
      hash: z.string().describe('Leaf hash in hex'),
      prev_ok: z.boolean().describe('It shows the hash of the entry before'),
    }),
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
    answer: z.object({
      seq: z.int(),
      entry: z.string().describe('The canonical JSON that was hashed'),
      index: z.int(),
      size: z.int(),
      path: z.array(z.string()).describe('Hashes in base64, from the leaf up'),
      checkpoint: z.string(),
      vkey: z.string(),
    }),
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
    answer: receiptSchema.meta({ id: 'Receipt' }),
    run: ({ params: { call } }) => ledger.receipt(call),
  }),
]

/** What may not be seen is answered like what is not there. */
async function visibleEntry(ledger: Ledger, seq: number, c: Context<Env>) {
  const found = await ledger.entry(seq)
  if (found && visibleTo(c.get('caller'), found.entry)) return found
  throw new CoworkError('not_found', `There is no entry ${seq} for you to see.`, {
    hint: '`cowork audit tail` shows the newest entries.',
  })
}
