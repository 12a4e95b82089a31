import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePolicyDocument } from '../../../src/governance/policies/policy-document.ts'
import { example } from './example.ts'
import { locateIssues, parseYamlText, parsePath } from './yaml-text.ts'
import type { PathIssue } from './yaml-text.ts'

const text = `policies:
  - id: crm
    rules:
      - field: amount
        constraint: value_range
mappings:
  - agent_id: sales
    domain: crm
    policy_id: gone
`

function refusal(given: string): readonly PathIssue[] {
  try {
    parsePolicyDocument(given, [])
    return []
  } catch (error) {
    return (error as { details: { problems: PathIssue[] } }).details.problems
  }
}

test('C4 YAML syntax errors have line and column', () => {
  expect(parseYamlText(text).problems).toEqual([])
  expect(parseYamlText('policies:\n  - id: "open').problems[0]).toMatchObject({ line: 2 })
})

test('C4 policy errors of the daemon are located in the text', () => {
  const problems = locateIssues(text, refusal(text))
  expect(problems).toHaveLength(2)
  expect(problems[0]).toMatchObject({ line: 4, message: expect.stringContaining('min') })
  expect(problems[1]?.line).toBe(9)
  const typo = text.replace('domain: crm', 'domian: crm')
  expect(locateIssues(typo, refusal(typo)).map(({ line }) => line)).toContain(8)
  expect(locateIssues('a: [', refusal('a: ['))[0]).toMatchObject({ line: 1 })
})

test('C4 a path of the daemon is parsed', () => {
  expect(parsePath('policies[0].rules[12].field')).toEqual(['policies', 0, 'rules', 12, 'field'])
  expect(parsePath('')).toEqual([])
})

test('C4 any text can be parsed', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ':', ' ', '\n', '-', '[', '{', '*', '&') }),
      (typed) => {
        const { problems, findPosition } = parseYamlText(typed)
        for (const { line } of [...problems, findPosition('policies[0].id')])
          expect(line).toBeGreaterThan(0)
      },
    ),
  )
})

test('C4 the example has a rule of every kind', () => {
  expect(refusal(example)).toEqual([])
  const [policy] = parsePolicyDocument(example, []).policies
  expect(new Set(policy?.rules.map(({ constraint }) => constraint)).size).toBe(5)
})
