import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPolicyBody } from '../../../src/governance/policies/body.ts'
import { example } from './example.ts'
import { located, readText, stepsOf } from './yaml-text.ts'
import type { Named } from './yaml-text.ts'

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

function refusal(given: string): readonly Named[] {
  try {
    readPolicyBody(given, [])
    return []
  } catch (error) {
    return (error as { details: { problems: Named[] } }).details.problems
  }
}

test('C4 what is no YAML is named with line and column while one types', () => {
  expect(readText(text).problems).toEqual([])
  expect(readText('policies:\n  - id: "open').problems[0]).toMatchObject({ line: 2 })
})

test('C4 what the daemon refuses stands at its line in the text', () => {
  const problems = located(text, refusal(text))
  expect(problems).toHaveLength(2)
  expect(problems[0]).toMatchObject({ line: 4, message: expect.stringContaining('min') })
  expect(problems[1]?.line).toBe(9)
  const typo = text.replace('domain: crm', 'domian: crm')
  expect(located(typo, refusal(typo)).map(({ line }) => line)).toContain(8)
  expect(located('a: [', refusal('a: ['))[0]).toMatchObject({ line: 1 })
})

test('C4 a path of the daemon is read back as it was meant', () => {
  expect(stepsOf('policies[0].rules[12].field')).toEqual(['policies', 0, 'rules', 12, 'field'])
  expect(stepsOf('')).toEqual([])
})

test('C4 whatever is typed, the editor goes on', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ':', ' ', '\n', '-', '[', '{', '*', '&') }),
      (typed) => {
        const { problems, placeOf } = readText(typed)
        for (const { line } of [...problems, placeOf('policies[0].id')])
          expect(line).toBeGreaterThan(0)
      },
    ),
  )
})

test('C4 the example that the editor offers is a policy of every kind', () => {
  expect(refusal(example)).toEqual([])
  const [policy] = readPolicyBody(example, []).policies
  expect(new Set(policy?.rules.map(({ constraint }) => constraint)).size).toBe(5)
})
