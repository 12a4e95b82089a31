import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { visibilityFilter } from '#ledger'
import type { EntryConditions } from '#ledger'

/** Digits only: what `Number` makes of an empty text or of 1e3 is nobody's intention. */
export const integerParam = z
  .string()
  .regex(/^\d{1,15}$/, 'expected a whole number')
  .meta({ type: 'integer' })
  .transform(Number)
export const booleanParam = z.enum(['true', 'false']).transform((given) => given === 'true')

/** Milliseconds since the epoch, a date or an RFC 3339 time. */
const time = z.string().transform((given, context) => {
  const at = /^\d+$/.test(given) ? Number(given) : Date.parse(given)
  if (Number.isSafeInteger(at)) return at
  context.addIssue('expected a time such as 2026-02-01T10:30:00Z, or milliseconds')
  return z.NEVER
})

const word = z.string().min(1).max(1024).optional()
const type = z.string().regex(/^[a-z][a-z_]*\.([a-z][a-z_]*)?$/, 'expected call.done or call.')

/** What entries are asked for by, the same at every address. */
export const conditionFields = {
  type: z
    .union([type.transform((one) => [one]), z.array(type).max(50)])
    .optional()
    .describe('A type such as call.done, or all of a noun: call. May repeat.'),
  actor: word.describe('Id of who did it'),
  domain: word,
  subject: word.describe('Start of the subject, such as a path'),
  tool: word.describe('Start of the tool’s name'),
  call: word.describe('Id of the call'),
  proposal: word.describe('Id of the proposal'),
  q: word.describe('Words anywhere in the entry, in either case'),
}

export const rangeFields = {
  after: integerParam.optional().describe('Only entries with a higher number'),
  before: integerParam.optional().describe('Only entries with a lower number'),
  since: time.optional().describe('Only from this time on'),
  until: time.optional().describe('Only before this time'),
}

const condition = z.object({ ...rangeFields, ...conditionFields }).partial()

/** The conditions of a query, narrowed to what this caller may see (L10). */
export function toEntryConditions(
  caller: Caller,
  asked: z.output<typeof condition>,
): EntryConditions {
  const { after, before, since, until, type: types, actor, domain, subject, tool, call } = asked
  const isOther = caller.kind === 'agent' && actor !== undefined && actor !== caller.id
  return {
    after,
    // An agent that asks for another's entries is given none.
    before: isOther ? 0 : before,
    until,
    types,
    actor,
    ...visibilityFilter(caller, since),
    domain,
    subjectPrefix: subject,
    toolPrefix: tool,
    call,
    proposal: asked.proposal,
    text: asked.q,
  }
}
