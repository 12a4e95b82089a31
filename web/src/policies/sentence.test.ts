import { expect, test } from 'vitest'
import type { Rule } from './policy.ts'
import { getRuleEffect, formatRule } from './sentence.ts'

const formatText = (rule: Rule) =>
  formatRule(rule)
    .map((part) => (typeof part === 'string' ? part : part.text))
    .join(' ')
    .replaceAll(' ,', ',')

test.each<[Rule, string, string]>([
  [
    { field: 'deal_stage', constraint: 'high_risk' },
    'deal_stage is high risk: every change requires review',
    'asks',
  ],
  [
    { field: 'discount', constraint: 'high_risk', approvers: 2 },
    'discount is high risk: every change requires review, and requires 2 different approvers',
    'asks',
  ],
  [
    { field: 'secret', constraint: 'high_risk', severity: 'hard_stop' },
    'secret is blocked: changes are rejected',
    'blocks',
  ],
  [{ field: 'commission', constraint: 'readonly' }, 'commission is read-only', 'blocks'],
  [
    { field: 'amount', constraint: 'value_range', min: 0, max: 500_000 },
    'amount must be a number from 0 to 500,000',
    'blocks',
  ],
  [
    { field: 'amount', constraint: 'value_range', max: 0.5, severity: 'warn' },
    'amount must be a number of at most 0.5',
    'counts',
  ],
  [
    { field: 'region', constraint: 'enum', values: ['emea', 'apac', null] },
    'region must be emea, apac or null',
    'blocks',
  ],
  [{ field: 'vip', constraint: 'enum', values: [true] }, 'vip must be true', 'blocks'],
  [{ field: 'email', constraint: 'regex', pattern: '@' }, 'email must match @', 'blocks'],
])('C4 Y2 %j is formatted as a sentence', (rule, sentence, effect) => {
  expect(formatText(rule)).toBe(sentence)
  expect(getRuleEffect(rule)).toBe(effect)
})
