import { RE2JS } from 're2js'
import type { Config } from '#base/config/index.ts'
import { toSkeleton } from '#base/confusables.ts'
import { compileGlob, matchesGlob, globSpecificity } from '#base/glob.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { memoize } from '#base/memoize.ts'
import type { Field } from './fields.ts'
import { isIndex, normalizeFieldPath } from './fields.ts'

export type Policy = Config['policies'][number]
export type Mapping = Config['mappings'][number]
type Rule = Policy['rules'][number]

type Violation = {
  readonly rule_id: string
  readonly field: string
  readonly severity: 'warn' | 'hard_stop'
  readonly reason: string
}

export type Effect = {
  readonly hardStop: boolean
  /** Fields that a person always reviews, by the policy or by `authority.high_risk_fields`. */
  readonly highRisk: readonly string[]
  /** Different people who must approve. */
  readonly approvers: number
  /** The change cannot be read as fields, so a person looks at it. */
  readonly isUnreadable: boolean
}

export type Evaluation = Effect & {
  readonly violations: readonly Violation[]
  /** What a policy in `mode: shadow` would do; it does nothing (Y6). */
  readonly shadow?: Effect
  readonly rulesChecked: number
  /** Rules about a field of this change, broken or not. */
  readonly rulesMatched: number
  /** All violations, those that block too. */
  readonly warnings: number
}

/** Agents name domains freely, so not all can be remembered. */
const mostPairs = 10_000

export type Policies = ReturnType<typeof createPolicies>

export function createPolicies(config: Pick<Config, 'policies' | 'mappings' | 'authority'>) {
  const { policies, mappings, authority } = config
  const byId = new Map(policies.map((policy) => [policy.id, policy]))
  const ordered = mappings.toSorted(mostSpecificFirst)
  const isAlwaysHighRisk = authority.high_risk_fields.map(matcherOf)
  const known = new WeakMap<Policy, Check[]>()

  function checksOf(policy: Policy): Check[] {
    const checks = known.get(policy) ?? policy.rules.map(checkOf)
    known.set(policy, checks)
    return checks
  }
  policies.forEach(checksOf)

  // The same pairs come again and again, and there may be hundreds of mappings.
  const ofPair = new Map<string, Mapping | undefined>()

  function closest(agent: string, domain: string, extra: readonly Mapping[]): Mapping | undefined {
    const isExact = (it: Mapping) => it.agent_id === agent && it.domain === domain
    const written = closestWritten(agent, domain)
    return written && isExact(written) ? written : (extra.find(isExact) ?? written)
  }

  function closestWritten(agent: string, domain: string): Mapping | undefined {
    if (ordered.length === 0) return undefined
    const fits = (it: Mapping) => matchesGlob(it.agent_id, agent) && matchesGlob(it.domain, domain)
    const pair = JSON.stringify([agent, domain])
    if (!ofPair.has(pair)) {
      if (ofPair.size >= mostPairs) ofPair.clear()
      ofPair.set(pair, ordered.find(fits))
    }
    return ofPair.get(pair)
  }

  return {
    version: sha256Hex(canonicalJson({ policies, mappings, authority })).slice(0, 16),
    isMapped: mappings.length > 0,
    list: policies,
    mappings,
    /**
     * By the most specific mapping (Y1). `extra` are those that people approved, for exactly that agent and domain:
     * an agent names both, and none of its names is a pattern. The file goes first.
     */
    find(agent: string, domain: string, extra: readonly Mapping[] = []): Policy | undefined {
      const mapping = closest(agent, domain, extra)
      return mapping && byId.get(mapping.policy_id)
    },
    /** Whether that mapping names the domain itself, and does not only fit it. */
    names: (agent: string, domain: string, extra: readonly Mapping[] = []): boolean =>
      closest(agent, domain, extra)?.domain === domain,
    named: (id: string): Policy | undefined => byId.get(id),
    /** Where nothing is changed only what a value may be counts: neither risk nor read-only is about that. */
    evaluate(
      policy: Policy | undefined,
      fields: readonly Field[],
      isRead: boolean = false,
    ): Evaluation {
      const subjects = fields.map(subjectOf)
      const all = policy ? checksOf(policy) : []
      const checks = isRead ? all.filter(({ allows }) => allows) : all
      const unreadable = isRead ? undefined : fields.find((field) => field.isUnreadable)
      const findings = [
        ...checks.map((check) => findingOf(check, subjects)),
        ...(unreadable ? [unreadableFinding(unreadable, all)] : []),
      ]
      const violations = findings.flatMap(({ violations: found }) => found)
      const always = isRead
        ? []
        : subjects.filter((subject) => isAlwaysHighRisk.some((matches) => matches(subject)))
      const isShadow = policy?.mode === 'shadow'
      return {
        violations,
        ...effectOf(always, isShadow ? [] : findings),
        ...(isShadow && { shadow: effectOf(always, findings) }),
        rulesChecked: checks.length,
        rulesMatched: findings.filter(({ isMatched }) => isMatched).length,
        warnings: violations.length,
      }
    },
  }
}

function mostSpecificFirst(a: Mapping, b: Mapping): number {
  const [left, right] = [a, b].map((it) => globSpecificity(it.agent_id, it.domain))
  const differences = (left ?? []).map((value, place) => (right?.[place] ?? 0) - value)
  return differences.find((difference) => difference !== 0) ?? 0
}

/** A field as rules see it: the spellings they may know it by, and the one that people read. */
type Subject = { label: string; spellings: readonly string[]; value: unknown }

function subjectOf({ name, path, value }: Field): Subject {
  // Most are a plain word: at the top and no item of a list.
  if (name === path && !isIndex(path)) return { label: path, spellings: spellingsOf([path]), value }
  const withoutIndices = path
    .split('.')
    .filter((segment) => !isIndex(segment))
    .join('.')
  const spellings = spellingsOf([name, path, withoutIndices])
  return { label: withoutIndices || path, spellings, value }
}

/** `dealStage`, `deal-stage`, `Deal Stage` and `@deal_stage` are `deal_stage`. */
const spellingsOf = (names: readonly string[]): string[] =>
  distinct(
    names.flatMap((name) => {
      const plain = name.toLowerCase()
      if (/^[a-z0-9_.]*$/.test(name)) return plain
      const snake = toSnake(name)
      return [plain, snake, withoutSigns(snake)]
    }),
  )

const toSnake = (name: string): string =>
  name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
    .replaceAll(/[\s_-]+/g, '_')
    .toLowerCase()

const withoutSigns = (name: string): string =>
  name.replaceAll(/[^\p{L}\p{M}\p{N}_.*]+/gu, '.').replaceAll(/^\.+|\.+$|\.(?=\.)/g, '')

type Matcher = (subject: Subject) => boolean

/** Every rule asks about the same names. */
const skeletonOf = memoize(toSkeleton)

/** A rule's path may begin at any depth, as its name may: `{ value: { order: … } }` hides no order. */
function matcherOf(field: string): Matcher {
  const globs = spellingsOf([normalizeFieldPath(field)]).flatMap((glob) => [glob, `*.${glob}`])
  const matchers = globs.map(compileGlob)
  const alike = globs.map((glob) => compileGlob(toSkeleton(glob)))
  return ({ spellings }) =>
    spellings.some(
      (text) =>
        matchers.some((isIt) => isIt(text)) ||
        (/[^ -~]/.test(text) && alike.some((isIt) => isIt(skeletonOf(text)))),
    )
}

type Check = {
  id: string
  severity: Violation['severity']
  isHighRisk: boolean
  approvers: number
  reason: string
  matches: Matcher
  /** What a value must be; without it the field may not be touched at all. */
  allows?: Allows
}

type Allows = (value: unknown) => boolean

function checkOf(rule: Rule, place: number): Check {
  const isHighRisk = rule.constraint === 'high_risk'
  return {
    id: rule.id ?? `rule_${place + 1}`,
    severity: rule.severity ?? (isHighRisk ? 'warn' : 'hard_stop'),
    isHighRisk,
    approvers: rule.approvers,
    matches: matcherOf(rule.field),
    ...constraintOf(rule),
  }
}

type Finding = { check: Check; isMatched: boolean; violations: Violation[] }

function effectOf(always: readonly Subject[], findings: readonly Finding[]): Effect {
  const broken = findings.filter((it) => it.violations.length > 0)
  return {
    hardStop: broken.some(({ check }) => check.severity === 'hard_stop'),
    highRisk: distinct([
      ...always.map(({ label }) => label),
      ...broken.flatMap(({ check, violations: found }) =>
        check.isHighRisk ? found.map(({ field }) => field) : [],
      ),
    ]),
    approvers: Math.max(1, ...broken.map(({ check }) => check.approvers)),
    isUnreadable: findings.some(({ check }) => check.id === unreadableRule),
  }
}

/** The rule that a change breaks in which no fields can be found. */
const unreadableRule = 'unreadable_change'

/** Any rule of the policy might be broken, so the strictest of them counts; without rules a person looks (M7). */
function unreadableFinding({ path }: Field, checks: readonly Check[]): Finding {
  const isStop = checks.some(({ severity }) => severity === 'hard_stop')
  const severity: Violation['severity'] = isStop ? 'hard_stop' : 'warn'
  const isHighRisk = checks.some((check) => check.isHighRisk)
  const approvers = Math.max(1, ...checks.map((check) => check.approvers))
  const reason = 'Cannot be read as fields. Name each field with its value, as in {"stage": "won"}.'
  const violation: Violation = {
    rule_id: unreadableRule,
    field: path || 'change',
    severity,
    reason,
  }
  const matches = () => true
  const check = { id: unreadableRule, severity, isHighRisk, approvers, reason, matches }
  return { check: check satisfies Check, isMatched: false, violations: [violation] }
}

function findingOf(check: Check, subjects: readonly Subject[]): Finding {
  const matched = subjects.filter(check.matches)
  if (matched.length === 0) return { check, isMatched: false, violations: [] }
  const allows = check.allows && remembered(check.allows)
  const broken = matched.filter(({ value }) => !allows || !allowsAll(allows, value))
  const { id: rule_id, severity, reason } = check
  // A list and its items, or the same field of many items, are one field to whoever reads this.
  const violations = distinct(broken.map(({ label }) => label)).map((field): Violation => ({
    rule_id,
    field,
    severity,
    reason,
  }))
  return { check, isMatched: true, violations }
}

/** Reasons name no value: it may be secret, and they are shown and recorded. */
function constraintOf(rule: Rule): Pick<Check, 'allows' | 'reason'> {
  const because = (standard: string) => rule.reason ?? standard
  switch (rule.constraint) {
    case 'high_risk':
      return { reason: because('High risk: a person reviews it.') }
    case 'readonly':
      return { reason: because('Read-only: leave it out of the change.') }
    case 'value_range': {
      const { min = -Infinity, max = Infinity } = rule
      return {
        allows: (value) => typeof value === 'number' && value >= min && value <= max,
        reason: because(`Must be a number ${rangeText(rule)}.`),
      }
    }
    case 'enum': {
      const values: readonly unknown[] = rule.values
      return {
        allows: (value) => values.includes(value),
        reason: because(
          `Must be one of ${rule.values.map((it) => JSON.stringify(it)).join(', ')}.`,
        ),
      }
    }
    case 'regex': {
      const pattern = RE2JS.compile(rule.pattern)
      return {
        allows(value) {
          const text = textOf(value)
          return text !== undefined && pattern.test(text)
        },
        reason: because(`Must match ${rule.pattern}`),
      }
    }
  }
}

function rangeText({ min, max }: { min?: number | undefined; max?: number | undefined }): string {
  if (min === undefined) return `of at most ${max}`
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
}

/**
 * Of a list every item is asked, and an empty one is a value like any other. Without a value there is
 * nothing to ask: only that the field is touched is known.
 */
function allowsAll(allows: Allows, value: unknown): boolean {
  if (value === undefined) return true
  const items: unknown[] = Array.isArray(value) ? value.flat(Infinity) : []
  return items.length === 0 ? allows(value) : items.every(allows)
}

/** The items of a list are asked again as fields of their own: a long text is searched once. */
function remembered(allows: Allows): Allows {
  const known = new Map<unknown, boolean>()
  return (value) => {
    const answer = known.get(value) ?? allows(value)
    known.set(value, answer)
    return answer
  }
}

/** In characters. Larger objects are no text to match: each level of nesting would be searched anew. */
const largestObject = 64 * 1024

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    const text = canonicalJson(value)
    return text.length > largestObject ? undefined : text
  } catch {
    // Half a character has no canonical form.
    return undefined
  }
}

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)]
