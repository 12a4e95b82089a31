import { Hono } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import type { Env } from '../guards.ts'
import type { HttpDeps } from '../http.ts'

const whole = z.coerce.number().int().nonnegative()
const pageQuery = z.strictObject({
  after: whole.default(0),
  limit: whole.max(1000).default(100),
  newest: z.stringbool().default(false),
  payloads: z.stringbool().default(false),
  type: z.string().optional(),
  actor: z.string().optional(),
})

/** The ledger as people read it. Reading it is no act of its own: a live view would record itself for ever. */
export function ledgerRoutes({ ledger }: HttpDeps): Hono<Env> {
  const routes = new Hono<Env>()
  routes.use(async (c, next) => {
    if (c.get('caller').kind !== 'human')
      throw new CoworkError('human_required', 'The whole ledger is for people.', {
        hint: 'An agent reads its own entries with get_audit_log.',
      })
    await next()
  })
  routes.get('/', async (c) => {
    const asked = pageQuery.safeParse(c.req.query())
    if (!asked.success)
      throw new CoworkError(
        'invalid_input',
        `The query is not understood: ${z.prettifyError(asked.error)}`,
        {
          hint: 'It takes after, limit (up to 1000), newest, payloads, type and actor.',
        },
      )
    const { newest, type, payloads, ...page } = asked.data
    const entries = await ledger.find({
      ...page,
      types: type ? [type] : undefined,
      newestFirst: newest,
    })
    return c.json({
      size: await ledger.size(),
      entries: newest ? entries.toReversed() : entries,
      ...(payloads && { payloads: await ledger.payloads(entries.map((entry) => entry.seq)) }),
    })
  })
  routes.get('/checkpoints', async (c) =>
    c.json({ vkey: ledger.vkey, checkpoints: await ledger.checkpoints() }),
  )
  routes.get('/:seq/proof', async (c) => {
    const seq = whole.safeParse(c.req.param('seq'))
    if (!seq.success)
      throw new CoworkError('invalid_input', 'An entry is named by its number.', {
        hint: '`cowork audit tail` shows the numbers.',
      })
    return c.json(await ledger.prove(seq.data))
  })
  return routes
}
