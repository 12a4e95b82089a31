import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { argumentsFor, wrongArguments } from './arguments.ts'

const input = z.strictObject({
  path: z.string(),
  line_from: z.int().optional(),
  line_to: z.int().optional(),
  limit: z.int().max(10).optional(),
  kind: z.enum(['a', 'b']),
  edits: z.array(z.object({ old: z.string() })).optional(),
})
const tool = { name: 'read', input }

function said(given: unknown): string | undefined {
  const args = argumentsFor(tool, given)
  const { error } = input.safeParse(args)
  return error && wrongArguments(tool, args, error).message
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
])('SV12 %j is wrong, and the answer says how', (given, message) => {
  expect(said(given)).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message)
})

test('SV12 I5 what a call says of its caller is no argument, unless the tool has one of that name', () => {
  const mine = { path: 'a', kind: 'a', agent_id: 'x', agent: 'x', agent_token: 'x', _meta: {} }
  expect(argumentsFor(tool, mine)).toEqual({ path: 'a', kind: 'a' })
  const named = { input: z.strictObject({ agent: z.string() }) }
  expect(argumentsFor(named, { agent: 'x', agent_id: 'x' })).toEqual({ agent: 'x' })
  // Who takes whatever comes gets it.
  const open = { input: z.looseObject({}) }
  expect(argumentsFor(open, mine)).toBe(mine)
  expect(argumentsFor(open, undefined)).toEqual({})
})

test('SV12 whatever the arguments are, what is wrong with them is one line', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 2 }), (given) => {
      expect(said(given)).toMatch(/^read( needs| has no|:) .*[.?]$/u)
    }),
  )
})
