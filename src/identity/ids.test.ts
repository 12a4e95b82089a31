import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeAgentId, normalizeName, assertNotReserved } from './ids.ts'
import { isWellFormedToken, mintToken } from './token.ts'

const tidy = (text: string) => {
  try {
    return normalizeAgentId(text)
  } catch {
    return undefined
  }
}

test.each([
  ['nothing', ''],
  ['spaces alone', '   '],
  ['a line break inside', 'sales\nagent'],
  ['a control character', 'sales\u0000'],
  ['an escape sequence', '\u001b[31msales'],
  ['a right-to-left override', 'sales\u202etnega'],
  ['a zero-width space', 'sal\u200bes'],
  ['an invisible filler', 'sales\u3164'],
  ['a no-break space', 'sales\u00a0agent'],
  ['half a character', 'sales\ud800'],
  ['a blank of Braille', 'sales\u2800'],
  ['nothing but blanks of Braille', '\u2800\u2800'],
  ['a note without a head', 'sales\u{1d159}'],
  ['a mark without a letter', '\u0301sales'],
  ['a Cyrillic letter among Latin ones', 'sаles'],
  ['full-width letters', 'ｓａｌｅｓ'],
  ['129 characters', 'x'.repeat(129)],
  ['a megabyte', 'x'.repeat(1_000_000)],
])('I5 an agent id with %s is refused', (_, id) => {
  expect(() => normalizeAgentId(id)).toThrow(expect.objectContaining({ code: 'invalid_agent_id' }))
})

test.each([
  ['sales-agent', 'sales-agent'],
  [' sales ', 'sales'],
  ['Büro 7', 'Büro 7'],
  ['Bu\u0308ro', 'Büro'],
  ['営業', '営業'],
  ['🤝'.repeat(128), '🤝'.repeat(128)],
])('I5 the agent id %j is taken as %j', (given, id) => {
  expect(normalizeAgentId(given)).toBe(id)
})

test('I5 a normalized id is printable, short and idempotent', () => {
  const any = fc.string({ unit: 'binary', maxLength: 140 })
  const likely = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.oneof(any, likely), (text) => {
      const id = tidy(text)
      if (id === undefined) return
      expect(Array.from(id).length).toBeGreaterThan(0)
      expect(Array.from(id).length).toBeLessThanOrEqual(128)
      expect(id).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u)
      expect(normalizeAgentId(id)).toBe(id)
    }),
  )
})

test('K10 a minted token is sk-cowork- and 48 hex, and comes with its SHA-256', async () => {
  const { token, hash } = mintToken()
  expect(token).toMatch(/^sk-cowork-[0-9a-f]{48}$/)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  expect(hash).toBe(Buffer.from(digest).toString('hex'))
})

test('I4 tokens are unique and other texts are not well-formed tokens', () => {
  const tokens = new Set(Array.from({ length: 1000 }, () => mintToken().token))
  expect(tokens.size).toBe(1000)
  expect([...tokens].every(isWellFormedToken)).toBe(true)
  fc.assert(fc.property(fc.string(), (text) => !isWellFormedToken(text)))
})

test.each(['trust', 'System', ' un-verified ', 'ѕystem', 'Trust.', 'cowork', 'anonymous'])(
  'RS10 the name %j is reserved',
  (name) => {
    expect(() => assertNotReserved(name)).toThrow(/Reserved name/)
    expect(() => assertNotReserved(`${name} Berg`)).not.toThrow()
  },
)

test('RS10 names of people cannot contain blank characters', () => {
  expect(() => normalizeName('Anna\u2800')).toThrow(/cannot be displayed/)
  expect(normalizeName('Анна Berg')).toBe('Анна Berg')
})
