import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { hashPolicyDocument, parsePolicyDocument, formatPolicyYaml } from './policy-document.ts'

const body = {
  policies: [
    {
      id: 'crm-write',
      description: 'Changes to deals',
      rules: [
        { field: 'deal_stage', constraint: 'high_risk' },
        { field: 'email', constraint: 'regex', pattern: '^\\S+@\\S+$' },
        { field: 'discount', constraint: 'high_risk', approvers: 2 },
      ],
    },
  ],
  mappings: [{ agent_id: 'sales-*', domain: 'crm.*', policy_id: 'crm-write' }],
}

function problemsOf(given: unknown, schemas: string[] = []): string[] {
  try {
    parsePolicyDocument(given, schemas)
  } catch (error) {
    if (!(error instanceof CoworkError) || error.code !== 'policy_invalid') throw error
    return (error.details['problems'] as { message: string }[]).map(({ message }) => message)
  }
  throw new Error('nothing was refused')
}

test('Y6 values and YAML parse to the same policies', () => {
  const read = parsePolicyDocument(body, [])
  expect(read.policies[0]).toMatchObject({ mode: 'enforce', rules: [{ approvers: 1 }, {}, {}] })
  expect(parsePolicyDocument(JSON.stringify(body), [])).toEqual(read)
  expect(parsePolicyDocument(formatPolicyYaml(read), [])).toEqual(read)
  expect(hashPolicyDocument(parsePolicyDocument(formatPolicyYaml(read), []))).toBe(
    hashPolicyDocument(read),
  )
})

test.each([
  ['nothing at all', '', 'expected policies and mappings'],
  ['a list', [], 'expected policies and mappings'],
  ['broken YAML', 'policies: [', /^line 1, column \d+: not valid YAML/],
  [
    'a key of another section',
    { ...body, agents: [] },
    'agents: unknown key; expected one of policies, mappings',
  ],
  [
    'a constraint nobody knows',
    { policies: [{ id: 'a', rules: [{ field: 'x', constraint: 'readnly' }] }] },
    'policies[0].rules[0].constraint: expected one of high_risk, readonly, value_range, enum, regex, found "readnly"',
  ],
  [
    'a pattern that the linear engine does not know',
    { policies: [{ id: 'a', rules: [{ field: 'x', constraint: 'regex', pattern: '(?=a)b' }] }] },
    /policies\[0\]\.rules\[0\]\.pattern is not a regular expression in RE2 syntax/,
  ],
  [
    'a mapping to no policy',
    { mappings: [{ agent_id: 'a', domain: 'b', policy_id: 'gone' }] },
    'mappings[0].policy_id refers to the undefined policy "gone"',
  ],
  [
    'two mappings that fit equally well',
    {
      policies: [{ id: 'a' }],
      mappings: [
        { agent_id: 'sales-*', domain: '*', policy_id: 'a' },
        { agent_id: '*-sales', domain: '*', policy_id: 'a' },
      ],
    },
    /mappings\[1\]\.agent_id ties with agent_id "sales-\*"/,
  ],
  [
    'a reasoning schema that the file does not have',
    { policies: [{ id: 'a', reasoning_schema: 'none' }] },
    'policies[0].reasoning_schema refers to the undefined reasoning schema "none"',
  ],
  [
    'more than a file may be',
    { policies: 'x'.repeat(2_000_000) },
    /at most 200000 characters; put a larger document into cowork.yaml/,
  ],
  [
    'a pattern nobody reads',
    {
      policies: [
        { id: 'a', rules: [{ field: 'x', constraint: 'regex', pattern: 'a'.repeat(2000) }] },
      ],
    },
    'policies[0].rules[0].pattern: expected at most 1000 characters',
  ],
  [
    'more patterns than are asked in time',
    {
      policies: [
        {
          id: 'a',
          rules: Array.from({ length: 501 }, () => ({
            field: 'x',
            constraint: 'regex',
            pattern: 'a',
          })),
        },
      ],
    },
    'policies: expected at most 500 rules with a pattern',
  ],
])('Y6 %s is refused with a message', (_, given, why) => {
  const [first] = problemsOf(given)
  if (typeof why === 'string') expect(first).toBe(why)
  else expect(first).toMatch(why)
})

test('Y6 all problems are reported at once', () => {
  const rules = [
    { field: 'x', constraint: 'value_range' },
    { field: '', constraint: 'readonly' },
  ]
  expect(problemsOf({ policies: [{ id: 'a', rules }], mapping: [] })).toHaveLength(3)
})

test('Y2 Y6 a pattern that would hang another engine compiles and matches in time', () => {
  const rule = { field: 'x', constraint: 'regex', pattern: '(x+x+)+y' }
  expect(parsePolicyDocument({ policies: [{ id: 'a', rules: [rule] }] }, []).policies).toHaveLength(
    1,
  )
})
