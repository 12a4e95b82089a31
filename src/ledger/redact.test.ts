import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#base/hash.ts'
import { createRedactor } from './redact.ts'
import { isSecretName } from './secrets.ts'

const redact = createRedactor({ secrets: [], patterns: [] })
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'
const agentToken = `sk-cowork-${'0123456789abcdef'.repeat(3)}`

test.each([
  'token',
  'agent_token',
  'approval_token',
  'accessToken',
  'password',
  'DB_PASSWORD',
  'passwd',
  'secret',
  'client_secret',
  'clientSecret',
  'apikey',
  'api_key',
  'APIKey',
  'x-api-key',
  'Authorization',
  'Cookie',
  'set-cookie',
  'credentials',
  'private_key',
  'AWS_SECRET_ACCESS_KEY',
])('L3 the value of %s is a secret', (name) => {
  expect(redact({ [name]: 'plain words', other: 'kept' })).toEqual({
    [name]: '[redacted]',
    other: 'kept',
  })
  expect(redact({ deep: [{ [name]: { nested: ['x'] } }] })).toEqual({
    deep: [{ [name]: '[redacted]' }],
  })
})

test.each([
  'max_tokens',
  'token_count',
  'tokens_used',
  'maxTokens',
  'tokenizer',
  'secretary',
  'cookie_banner',
  'public_key',
  'idempotency_key',
  'key',
  'compassword',
])('L3 the value of %s is not a secret', (name) => {
  expect(isSecretName(name)).toBe(false)
})

test('L3 an absent secret stays visible as absent', () => {
  expect(redact({ token: null, secret: false, password: undefined, cookie: '' })).toEqual({
    token: null,
    secret: false,
    cookie: '[redacted]',
  })
})

test.each([
  [`use ${agentToken} now`, 'use [redacted] now'],
  [`x${agentToken}y`, 'x[redacted]y'],
  ['sk-proj-abcdefghijklmnopqrst', '[redacted]'],
  ['task-management-and-planning stays', 'task-management-and-planning stays'],
  [`ghp_${'a1'.repeat(18)}.`, '[redacted].'],
  [`github_pat_${'a1_'.repeat(10)}`, '[redacted]'],
  ['xoxb-123456789012-abcdef', '[redacted]'],
  ['key AKIAIOSFODNN7EXAMPLE!', 'key [redacted]!'],
  [`AIza${'Sy'.repeat(18)}`.slice(0, 39), '[redacted]'],
  [`(${jwt})`, '([redacted])'],
  ['cursor eyJvZmZzZXQiOjEwLCJsaW1pdCI6NTB9', 'cursor eyJvZmZzZXQiOjEwLCJsaW1pdCI6NTB9'],
  ['Bearer abc123def', 'Bearer [redacted]'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: [redacted]'],
  ['postgres://bob:p@ss@db:5432/x?a=b', 'postgres://bob:[redacted]@db:5432/x?a=b'],
  ['redis://:hunter2@cache', 'redis://:[redacted]@cache'],
  ['http://localhost:8765/mcp?to=a@b.c', 'http://localhost:8765/mcp?to=a@b.c'],
  ['curl -d password=hunter2 -d a=b', 'curl -d password=[redacted] -d a=b'],
  ['run --token="two words" next', 'run --token=[redacted] next'],
  ['cmd="login --api-key=abc"', 'cmd="login --api-key=[redacted]"'],
  ['{"client_secret": "a \\" b", "n": 1}', '{"client_secret": [redacted], "n": 1}'],
  [`session ps-cowork-${'0123456789abcdef'.repeat(3)} ended`, 'session [redacted] ended'],
  [`pk-cowork-${'0123456789abcdef'.repeat(3)}`, '[redacted]'],
  [`http://localhost:8765/#code=${'a-_9'.repeat(10)}xyz`, 'http://localhost:8765/#code=[redacted]'],
  ['db_password: hunter2', 'db_password: [redacted]'],
  ['https://h/cb?access_token=abc&state=1', 'https://h/cb?access_token=[redacted]&state=1'],
  ['max_tokens=100', 'max_tokens=100'],
  [
    'a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\nz',
    'a\n[redacted]\nz',
  ],
  ['-----BEGIN PRIVATE KEY-----\ncut short', '[redacted]'],
])('L3 in text, %s', (text, expected) => {
  expect(redact({ note: text })).toEqual({ note: expected })
  expect(redact({ [text]: 1 })).toEqual({ [expected]: 1 })
})

test('L3 known values are redacted in any form: plain, escaped, encoded or as a number', () => {
  const known = createRedactor({ secrets: ['pa"ss wörd', '48151623', 'short'], patterns: [] })
  expect(
    known({
      a: 'is pa"ss wörd!',
      b: JSON.stringify({ inner: 'pa"ss wörd' }),
      c: `q=${encodeURIComponent('pa"ss wörd')}`,
      d: [48151623, 4815],
      'pa"ss wörd': 1,
      e: 'short values would match by chance',
    }),
  ).toEqual({
    a: 'is [redacted]!',
    b: '{"inner":"[redacted]"}',
    c: 'q=[redacted]',
    d: ['[redacted]', 4815],
    '[redacted]': 1,
    e: 'short values would match by chance',
  })
})

test('L3 patterns of the owner apply to strings, keys and numbers', () => {
  const own = createRedactor({ secrets: [], patterns: ['(?i)project\\s+\\w+', '\\d{8}'] })
  expect(own({ a: 'about Project Falcon.', b: 12345678, c: 1234567 })).toEqual({
    a: 'about [redacted].',
    b: '[redacted]',
    c: 1234567,
  })
})

test('L3 an invalid pattern or one that matches the empty text is refused at startup', () => {
  for (const pattern of ['(', '(?=x)', 'a*', ''])
    expect(() => createRedactor({ secrets: [], patterns: [pattern] })).toThrow(
      /^Invalid redaction pattern/,
    )
})

test('L3 values that are not plain JSON are converted or refused', () => {
  expect(
    redact({
      at: new Date(0),
      bad: new Date(Number.NaN),
      n: Number.NaN,
      i: -Infinity,
      u: [undefined],
    }),
  ).toEqual({ at: '1970-01-01T00:00:00.000Z', bad: null, n: null, i: null, u: [null] })
  expect(redact(Buffer.from('abc'))).toEqual({
    bytes: 3,
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  })
  const holes: unknown[] = []
  holes.length = 2 ** 32 - 1
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const refused = [1n, () => 1, Symbol('x'), new Map(), new Set(), new (class A {})(), circle]
  for (const value of [...refused, new Error('x'), Object(1n), Object('text'), holes])
    expect(() => redact({ value })).toThrow('the call cannot be recorded')
})

test('L3 64 levels and 256 KiB are the limits', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
  expect(redact(nested(64))).toEqual(nested(64))
  expect(() => redact(nested(65))).toThrow('nested deeper than 64')
  expect(redact('x'.repeat(250_000))).toHaveLength(250_000)
  expect(() => redact('x'.repeat(262_145))).toThrow('larger than 256 KiB')
  expect(() => redact(Array.from({ length: 40_000 }, (_, i) => i))).toThrow('larger than 256 KiB')
  // Marks count too: otherwise a recorded value could not be recorded again.
  const tokens = Array.from({ length: 20_000 }, () => 'token=a')
  expect(() => redact(tokens)).toThrow('larger than 256 KiB')
  const laughs = Array.from({ length: 30 }).reduce((inner) => [inner, inner, inner], 'ha')
  expect(() => redact(laughs)).toThrow('larger than 256 KiB')
})

test('RS4 L3 a text with more than 256 secrets is redacted completely', () => {
  expect(redact('token=a '.repeat(256))).toBe('token=[redacted] '.repeat(256))
  expect(redact('token=a '.repeat(257))).toBe('[redacted]')
  expect(redact('bearer abcdefgh '.repeat(15_000))).toBe('[redacted]')
})

test('L3 no key is lost, neither __proto__ nor keys that become equal', () => {
  const copy = redact(JSON.parse('{"__proto__": {"token": "x", "a": 1}}'))
  expect(canonicalJson(copy)).toBe('{"__proto__":{"a":1,"token":"[redacted]"}}')
  expect(() => redact({ [`${agentToken}`]: 1, '[redacted]': 2 })).toThrow('keys are equal')
})

test('L3 secrets that a replacement exposes are redacted too', () => {
  const own = createRedactor({ secrets: ['halved\ud83d'], patterns: ['foo'] })
  expect(own({ footoken: 'x' })).toEqual({ '[redacted]token': '[redacted]' })
  expect(own('halved\u{1f600}')).toBe('[redacted]\ufffd')
})

test('L3 the input is not modified', () => {
  const given = { token: 'x', list: [{ password: 'y' }] }
  redact(given)
  expect(given).toEqual({ token: 'x', list: [{ password: 'y' }] })
})

// Words of the rules, so that random texts match them.
const bait = fc.constantFrom(
  'token',
  '=',
  ':',
  '"',
  "'",
  ' ',
  'bearer ',
  '://',
  '@',
  'eyJ',
  '.',
  'sk-',
  '-----BEGIN ',
  'PRIVATE KEY-----',
  '[redacted]',
  '[',
  'redacted',
  ']',
  '\ud83d',
  '\ude00',
  '\\',
  'aaaaaaaa',
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(bait, fc.string({ maxLength: 4 }))).map((parts) => parts.join('')),
)
const plain = {
  key: fc.oneof(text, fc.nat(20).map(String)),
  values: [text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null)],
  withDate: true,
  withSparseArray: true,
  withNullPrototype: true,
}
const anything = fc.oneof(
  { weight: 4, arbitrary: fc.anything(plain) },
  fc.anything({ ...plain, withTypedArray: true, withBigInt: true, withMap: true }),
)
const strange = createRedactor({
  secrets: ['redacted', 'edacted]', '[redac', 'aaaaaa'],
  patterns: ['\\w', '^.', '[a-z]+$', '\\b'],
})

test('L3 the result is canonical JSON, and redaction is idempotent', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom(redact, strange), (value, with_) => {
      let once
      try {
        once = with_(value)
      } catch (error) {
        expect(error).toMatchObject({ code: 'not_recordable' })
        return
      }
      const spelt = canonicalJson(once)
      const { copy, isSorted } = with_.toCanonical(value)
      expect(isSorted ? JSON.stringify(copy) : canonicalJson(copy)).toBe(spelt)
      expect(canonicalJson(with_(once))).toBe(spelt)
      expect(canonicalJson(JSON.parse(spelt))).toBe(spelt)
    }),
    { numRuns: 1500 },
  )
})

test('L3 a planted secret is always redacted', () => {
  const secret = 'Zq7-planted.Value_99'
  const known = createRedactor({ secrets: [secret], patterns: ['PATTERN[0-9]{4}'] })
  const planted = fc.constantFrom(secret, agentToken, jwt, 'PATTERN1234', `ghp_${'Q9'.repeat(18)}`)
  const part = fc.tuple(text, planted, text)
  fc.assert(
    fc.property(part, fc.array(text), fc.nat(3), ([before, value, after], others, place) => {
      const whole = before + value + after
      const holder = [whole, { [whole]: 1 }, [others, [whole]], { deep: { text: whole } }][place]
      const body = JSON.stringify(known({ others, holder }))
      expect(body).not.toContain(value)
    }),
    { numRuns: 500 },
  )
})

test('L3 the fast check does not skip any secret', () => {
  const hex = '0123456789abcdef'.repeat(3)
  const secret = fc.constantFrom(
    `sk-cowork-${hex}`,
    `ps-cowork-${hex}`,
    `pk-cowork-${hex}`,
    'sk-proj-abcdefghijklmnopqrst',
    `rk_live_${'a1'.repeat(9)}`,
    `sk_test_${'a1'.repeat(9)}`,
    ...['p', 'o', 'u', 's', 'r'].map((kind) => `gh${kind}_${'a1'.repeat(18)}`),
    `github_pat_${'a1_'.repeat(10)}`,
    `glpat-${'a1'.repeat(10)}`,
    `npm_${'a1'.repeat(18)}`,
    'xoxb-123456789012-abcdef',
    'AKIAIOSFODNN7EXAMPLE',
    'ASIAIOSFODNN7EXAMPLE',
    `AIza${'Sy'.repeat(18)}`,
    jwt,
    'BEARER abc123def',
    '-----BEGIN EC PRIVATE KEY-----',
  )
  const near = fc.constantFrom('cowork_', 'task-', '-', '_', 'A', '9', ' ', '')
  const around = fc.array(fc.oneof(near, fc.string({ maxLength: 2 })), { maxLength: 3 })
  fc.assert(
    fc.property(around, secret, around, (before, value, after) => {
      const whole = before.join('') + value + after.join('')
      // An equals sign makes the fast check run all rules.
      expect(redact(`= ${whole}`)).toBe(`= ${redact(whole)}`)
    }),
    { numRuns: 2000 },
  )
})

test('L3 hostile text of maximum size is redacted in bounded time', () => {
  const most = 256 * 1024 - 64
  const own = createRedactor({ secrets: ['aaaaaaaaab'], patterns: ['(a+)+$', '(\\w+\\s?)*!'] })
  const pieces = [
    'a',
    'eyJ',
    'eyJa.',
    'sk-',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY',
    '://a:',
    'a=',
  ]
  for (const piece of [
    ...pieces,
    '"a":',
    'token="\\',
    'a-',
    'a"   ',
    'bearer ',
    '[redacted',
    'Aa',
    ' ',
  ]) {
    const full = piece.repeat(most / piece.length)
    for (const with_ of [redact, own])
      try {
        expect(JSON.stringify(with_(full)).length).toBeGreaterThan(0)
      } catch (error) {
        expect(error).toMatchObject({ code: 'not_recordable' })
      }
  }
})

test('RS7 a copy for people keeps the order of keys', () => {
  const change = { stage: 'won', amount: 1, password: 'x', '2': 'b' }
  expect(Object.keys(redact.withLimit(change, 1000) as object)).toEqual(Object.keys(change))
  expect(redact.withLimit(change, 1000)).toEqual(redact(change))
  expect(() => redact.withLimit(change, 10)).toThrow('larger')
})
