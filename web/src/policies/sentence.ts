import type { Rule } from './policy.ts'

/** A fixed text, or an untrusted text of the rule. */
export type Part = string | { readonly text: string; readonly isCode?: true }

/** The effect of a violation: review, block, or log only (Y3). */
export type RuleEffect = 'asks' | 'blocks' | 'counts'

export function getRuleEffect({ constraint, severity }: Rule): RuleEffect {
  if (severity === 'hard_stop') return 'blocks'
  if (constraint === 'high_risk') return 'asks'
  return severity === 'warn' ? 'counts' : 'blocks'
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 20 })

/** Formats a rule as a sentence. */
export function formatRule(rule: Rule): Part[] {
  return [{ text: rule.field }, ...formatConstraint(rule), ...formatApprovers(rule)]
}

function formatConstraint(rule: Rule): Part[] {
  switch (rule.constraint) {
    case 'high_risk':
      return rule.severity === 'hard_stop'
        ? ['is blocked: changes are rejected']
        : ['is high risk: every change requires review']
    case 'readonly':
      return ['is read-only']
    case 'value_range':
      return [`must be a number ${formatRange(rule)}`]
    case 'enum':
      return ['must be', ...joinValues(rule.values.map(formatValue))]
    case 'regex':
      return ['must match', { text: rule.pattern, isCode: true }]
  }
}

function formatRange({ min, max }: { readonly min?: number; readonly max?: number }): string {
  if (min === undefined) return `of at most ${number.format(max ?? 0)}`
  if (max === undefined) return `of at least ${number.format(min)}`
  return `from ${number.format(min)} to ${number.format(max)}`
}

const formatValue = (value: string | number | boolean | null): Part => ({
  text: typeof value === 'string' && value !== '' ? value : JSON.stringify(value),
})

/** Formats `a`, `a or b`, `a, b or c`. */
const joinValues = (values: readonly Part[]): Part[] =>
  values.flatMap((value, at): Part[] => {
    if (at === 0) return [value]
    return at === values.length - 1 ? ['or', value] : [',', value]
  })

const formatApprovers = ({ approvers = 1 }: Rule): Part[] =>
  approvers > 1 ? [`, and requires ${approvers} different approvers`] : []
