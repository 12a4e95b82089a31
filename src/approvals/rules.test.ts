import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { canonicalJson } from '#base/hash.ts'
import { detectChannel, computeDigest, toSingleLine } from './rules.ts'
import type { ApprovedAction } from './rules.ts'

const json = fc.jsonValue({ stringUnit: 'grapheme' })
const name = fc.string({ unit: 'grapheme', maxLength: 20 })
const act: fc.Arbitrary<ApprovedAction> = fc.record({
  agent: name,
  action: name,
  target: name,
  content: json,
  schema: name,
})

/** Returns an equal value with reversed key order in every object. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, turned(item)]),
  )
}

describe('the digest', () => {
  test('A1 the digest does not depend on key order', () => {
    fc.assert(
      fc.property(act, (given) => {
        expect(computeDigest({ ...given, content: turned(given.content) })).toBe(
          computeDigest(given),
        )
      }),
    )
  })

  test.each(['agent', 'action', 'target', 'content', 'schema'] as const)(
    'A1 a different %s changes the digest',
    (part) => {
      fc.assert(
        fc.property(act, part === 'content' ? json : name, (given, other) => {
          fc.pre(canonicalJson(given[part]) !== canonicalJson(other))
          expect(computeDigest({ ...given, [part]: other })).not.toBe(computeDigest(given))
        }),
      )
    },
  )

  test('A1 the digest is the SHA-256 of the RFC 8785 JSON', () => {
    const given = { agent: 'sales', action: 'move', target: 'a', content: { b: 1, a: [true] } }
    const canonical =
      '{"action":"move","agent":"sales","content":{"a":[true],"b":1},"schema":null,"target":"a"}'
    expect(computeDigest(given)).toBe(createHash('sha256').update(canonical).digest('hex'))
    expect(computeDigest({ ...given, schema: '' })).not.toBe(computeDigest(given))
  })

  test('A11 a value without canonical form cannot be approved', () => {
    const half = { agent: 'a', action: 'b', target: 'c', content: { text: '\ud83d' } }
    expect(() => computeDigest(half)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  })
})

test('P1 a summary is one short line that every store accepts', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      const line = toSingleLine(text)
      expect(line.length).toBeLessThanOrEqual(200)
      expect(line.isWellFormed()).toBe(true)
      expect(line).not.toMatch(/[\0\n\r\t]/)
    }),
  )
  // Truncation inside a character, and a lone surrogate in the input.
  for (const text of [`${'x'.repeat(198)}😀 and more`, 'half \ud83d'])
    expect(toSingleLine(text).isWellFormed()).toBe(true)
})

test.each([
  ['mcp', { verified: false }],
  ['mcp', { verified: false, channel: 'console' }],
  ['cli', { verified: true, channel: 'cli' }],
  ['console', { verified: true, channel: 'console' }],
  ['telegram', { verified: true, channel: 'telegram' }],
  ['api', { verified: true }],
] as const)('A5 RS10 the channel is %s, whatever the User-Agent says: %j', (channel, seen) => {
  for (const name of ['Mozilla/5.0', 'cowork-cli/1.0', 'cowork-telegram', 'curl/8']) {
    const caller: Caller = {
      kind: 'human',
      id: 'anna',
      session: 's',
      scopes: ['*'],
      client: { name, version: '', transport: 'http' },
      ...seen,
    }
    expect(detectChannel(caller)).toBe(channel)
  }
})
