import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { visibilityFilter } from '#ledger'
import type { EntryConditions } from '#ledger'

/** Digits only: `Number` would also accept an empty text or 1e3. */
export const integerParam = z
  .string()
  .regex(/^\d{1,15}$/, 'expected a whole number')
  .meta({ type: 'integer' })
  .transform(Number)
export const booleanParam = z.enum(['true', 'false']).transform((input) => input === 'true')

/** Milliseconds since the epoch, a date or an RFC 3339 time. */
const time = z.string().transform((input, context) => {
  const at = /^\d+$/.test(input) ? Number(input) : Date.parse(input)
  if (Number.isSafeInteger(at)) return at
  context.addIssue('expected a time such as 2026-02-01T10:30:00Z, or milliseconds')
  return z.NEVER
})

const word = z.string().min(1).max(1024).optional()
const type = z.string().regex(/^[a-z][a-z_]*\.([a-z][a-z_]*)?$/, 'expected call.done or call.')

/** The filters for entries, equal for every route. */
export const conditionFields = {
  type: z
    .union([type.transform((one) => [one]), z.array(type).max(50)])
    .optional()
    .describe('Entry type such as call.done, or a prefix such as call. Repeatable.'),
  actor: word.describe('Actor id'),
  domain: word,
  subject: word.describe('Subject prefix, for example a path'),
  tool: word.describe('Prefix of the tool name'),
  call: word.describe('Call id'),
  proposal: word.describe('Proposal id'),
  q: word.describe('Words in the entry, case-insensitive'),
}

export const rangeFields = {
  after: integerParam.optional().describe('Only entries with a higher number'),
  before: integerParam.optional().describe('Only entries with a lower number'),
  since: time.optional().describe('Only entries from this time on'),
  until: time.optional().describe('Only entries before this time'),
}

const condition = z.object({ ...rangeFields, ...conditionFields }).partial()

/** Converts a query to conditions, limited to the entries that the caller may see (L10). */
export function toEntryConditions(
  caller: Caller,
  asked: z.output<typeof condition>,
): EntryConditions {
  const { after, before, since, until, type: types, actor, domain, subject, tool, call } = asked
  const isOther = caller.kind === 'agent' && actor !== undefined && actor !== caller.id
  return {
    after,
    // An agent that queries entries of another agent gets none.
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
