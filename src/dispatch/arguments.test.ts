import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { effort } from '#base/soft-limit.ts'
import { parseArguments } from './arguments.ts'

const input = z.strictObject({
  path: z.string(),
  line_from: z.int().optional(),
  line_to: z.int().optional(),
  limit: z.int().max(10).optional(),
  kind: z.enum(['a', 'b']),
  edits: z.array(z.object({ old: z.string() })).optional(),
})
const tool = { name: 'read', input }

function refusalMessage(given: unknown): string | undefined {
  const parsed = parseArguments(tool, given)
  return 'refusal' in parsed ? parsed.refusal.message : undefined
}

test.each([
  [{}, 'read needs path, kind.'],
  [{ path: 'a', kind: 'a', line_start: 1 }, 'read has no line_start: line_from or line_to?'],
  [{ path: 'a', kind: 'a', Limits: 1 }, 'read has no Limits: limit?'],
  [{ path: 'a', kind: 'a', file_path: 1 }, 'read has no file_path: path?'],
  [{ kind: 'a', offset: 1 }, /^read needs path\. It has no offset: it takes path, line_from, /],
  [
    { path: 'a', kind: 'a', x: 1, y: 1, file_path: 1 },
    /^read has no x, y: it takes .*\. It has no /,
  ],
  [{ path: 'a', kind: 'a', limit: 11 }, /^read: limit: Too big.*\.$/],
  [{ path: 'a', kind: 'c', limit: 11 }, /^read: limit: Too big.* kind: Invalid option.*\.$/],
  [{ path: 'a', kind: 'a', edits: [{ old: 'x' }, {}] }, 'read needs edits.1.old.'],
  ['text', /^read: Invalid input/],
])('SV12 refuses the arguments %j with a precise message', (given, message) => {
  expect(refusalMessage(given)).toEqual(
    message instanceof RegExp ? expect.stringMatching(message) : message,
  )
})

const parsed = (schema: z.ZodObject, given: unknown, aliases = {}) =>
  parseArguments({ name: 'it', input: schema, aliases }, given)

test('SV27 I5 caller arguments are removed unless the tool declares them', () => {
  const mine = { agent_id: 'x', agent: 'x', agent_token: 'x', _meta: {}, _cowork_metadata: {} }
  const both = [z.strictObject({ path: z.string() }), z.object({ path: z.string() })]
  for (const schema of both)
    expect(parsed(schema, { path: 'a', ...mine })).toEqual({ input: { path: 'a' }, notes: [] })
  const named = z.object({ agent: z.string() })
  expect(parsed(named, { agent: 'x', agent_id: 'y' })).toEqual({ input: { agent: 'x' }, notes: [] })
  // A tool with a catchall receives them all.
  expect(parsed(z.looseObject({}), mine)).toEqual({ input: mine, notes: [] })
  expect(parsed(z.looseObject({}), undefined)).toEqual({ input: {}, notes: [] })
})

test('SV27 RA6 unknown arguments, also nested ones, are refused with the nearest name', () => {
  const story = z.object({
    title: z.string().optional(),
    notes: z.string().optional(),
    acceptance: z.array(z.strictObject({ text: z.string() })).optional(),
  })
  const messageFor = (given: object) =>
    z.object({ refusal: z.object({ message: z.string() }) }).parse(parsed(story, given)).refusal
      .message
  expect(messageFor({ description: 'x' })).toBe('it has no description: notes?')
  expect(messageFor({ tilte: 'x' })).toBe('it has no tilte: title?')
  expect(messageFor({ labels: [] })).toBe('it has no labels: it takes title, notes, acceptance.')
  expect(messageFor({ acceptance: [{ text: 'x', state: 1 }] })).toBe(
    'it: acceptance.0 has no state: it takes text.',
  )
})

test('SV27 an alias is mapped to its argument unless both are passed', () => {
  const schema = z.object({ item_id: z.string() })
  const aliases = { id: 'item_id' }
  expect(parsed(schema, { id: 'a' }, aliases)).toEqual({ input: { item_id: 'a' }, notes: [] })
  expect(parsed(schema, { id: 'a', item_id: 'b' }, aliases)).toMatchObject({
    refusal: { message: 'it has no id: it takes item_id.' },
  })
})

test('SV27 RA12 limits of effort are clamped with a note, other numbers are refused', () => {
  const schema = z.object({
    limit: effort(z.int().min(1).max(100)).default(10).describe('At most'),
    wait: effort(z.number().min(0).max(25)).optional(),
    confidence: z.number().min(0).max(1).optional(),
  })
  expect(parsed(schema, { limit: 5000, wait: -1 })).toEqual({
    input: { limit: 100, wait: 0 },
    notes: ['limit 5000 is out of range: used 100.', 'wait -1 is out of range: used 0.'],
  })
  expect(parsed(schema, {})).toEqual({ input: { limit: 10 }, notes: [] })
  expect(parsed(schema, { confidence: 2 })).toHaveProperty('refusal')
  expect(parsed(schema, { limit: 'many' })).toHaveProperty('refusal')
})

test('SV27 the hint is a valid call that reuses the valid arguments', () => {
  const hint = (given: object) =>
    z.object({ refusal: z.object({ hint: z.string() }) }).parse(parseArguments(tool, given)).refusal
      .hint
  expect(hint({ kind: 'b', file: 'x' })).toBe('Call it like this: read {"path":"…","kind":"b"}')
  expect(hint({ path: 'a.txt', kind: 'c' })).toBe(
    'Call it like this: read {"path":"a.txt","kind":"a"}',
  )
})

test('SV12 the message about any invalid arguments is one line', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 2 }), (given) => {
      expect(refusalMessage(given)).toMatch(/^read( needs| has no|:) .*[.?]$/u)
    }),
  )
})
