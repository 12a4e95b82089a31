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
  /** Number of people who must approve. */
  readonly approvers: number
  /** The change has no readable fields, so a person reviews it. */
  readonly isUnreadable: boolean
}

export type Evaluation = Effect & {
  readonly violations: readonly Violation[]
  /** The effect of a policy in `mode: shadow` if it were enforced (Y6). */
  readonly shadow?: Effect
  readonly rulesChecked: number
  /** Rules about a field of this change, violated or not. */
  readonly rulesMatched: number
  /** All violations, including blocking ones. */
  readonly warnings: number
}

/** Agents choose domain names freely, so the cache is limited. */
const maxPairs = 10_000

export type Policies = ReturnType<typeof createPolicies>

export function createPolicies(config: Pick<Config, 'policies' | 'mappings' | 'authority'>) {
  const { policies, mappings, authority } = config
  const byId = new Map(policies.map((policy) => [policy.id, policy]))
  const ordered = mappings.toSorted(compareSpecificity)
  const isAlwaysHighRisk = authority.high_risk_fields.map(createMatcher)
  const known = new WeakMap<Policy, Check[]>()

  function getChecks(policy: Policy): Check[] {
    const checks = known.get(policy) ?? policy.rules.map(toCheck)
    known.set(policy, checks)
    return checks
  }
  policies.forEach(getChecks)

  // The same pairs recur, and there may be hundreds of mappings.
  const cachedMappings = new Map<string, Mapping | undefined>()

  function findMapping(
    agent: string,
    domain: string,
    extra: readonly Mapping[],
  ): Mapping | undefined {
    const isExact = (mapping: Mapping) => mapping.agent_id === agent && mapping.domain === domain
    const written = findConfigured(agent, domain)
    return written && isExact(written) ? written : (extra.find(isExact) ?? written)
  }

  function findConfigured(agent: string, domain: string): Mapping | undefined {
    if (ordered.length === 0) return undefined
    const isMatch = (mapping: Mapping) =>
      matchesGlob(mapping.agent_id, agent) && matchesGlob(mapping.domain, domain)
    const pair = JSON.stringify([agent, domain])
    if (!cachedMappings.has(pair)) {
      if (cachedMappings.size >= maxPairs) cachedMappings.clear()
      cachedMappings.set(pair, ordered.find(isMatch))
    }
    return cachedMappings.get(pair)
  }

  return {
    version: sha256Hex(canonicalJson({ policies, mappings, authority })).slice(0, 16),
    isMapped: mappings.length > 0,
    list: policies,
    mappings,
    /**
     * Finds the policy by the most specific mapping (Y1). `extra` contains mappings that people approved for exactly
     * that agent and domain: an agent chooses both names, so none of them is a pattern. The file takes precedence.
     */
    find(agent: string, domain: string, extra: readonly Mapping[] = []): Policy | undefined {
      const mapping = findMapping(agent, domain, extra)
      return mapping && byId.get(mapping.policy_id)
    },
    /** True if the mapping names the domain itself instead of matching it with a pattern. */
    names: (agent: string, domain: string, extra: readonly Mapping[] = []): boolean =>
      findMapping(agent, domain, extra)?.domain === domain,
    named: (id: string): Policy | undefined => byId.get(id),
    /** For a read only value rules count: neither risk nor read-only rules apply. */
    evaluate(
      policy: Policy | undefined,
      fields: readonly Field[],
      isRead: boolean = false,
    ): Evaluation {
      const subjects = fields.map(toSubject)
      const all = policy ? getChecks(policy) : []
      const checks = isRead ? all.filter(({ allows }) => allows) : all
      const unreadable = isRead ? undefined : fields.find((field) => field.isUnreadable)
      const findings = [
        ...checks.map((check) => applyCheck(check, subjects)),
        ...(unreadable ? [unreadableFinding(unreadable, all)] : []),
      ]
      const violations = findings.flatMap(({ violations: found }) => found)
      const always = isRead
        ? []
        : subjects.filter((subject) => isAlwaysHighRisk.some((matches) => matches(subject)))
      const isShadow = policy?.mode === 'shadow'
      return {
        violations,
        ...toEffect(always, isShadow ? [] : findings),
        ...(isShadow && { shadow: toEffect(always, findings) }),
        rulesChecked: checks.length,
        rulesMatched: findings.filter(({ isMatched }) => isMatched).length,
        warnings: violations.length,
      }
    },
  }
}

function compareSpecificity(a: Mapping, b: Mapping): number {
  const [left, right] = [a, b].map((it) => globSpecificity(it.agent_id, it.domain))
  const differences = (left ?? []).map((value, place) => (right?.[place] ?? 0) - value)
  return differences.find((difference) => difference !== 0) ?? 0
}

/** A field as rules match it: all its spellings, and the label for people. */
type FieldSubject = { label: string; spellings: readonly string[]; value: unknown }

function toSubject({ name, path, value }: Field): FieldSubject {
  // Most fields are a plain word: top level and not an item of a list.
  if (name === path && !isIndex(path))
    return { label: path, spellings: listSpellings([path]), value }
  const withoutIndices = path
    .split('.')
    .filter((segment) => !isIndex(segment))
    .join('.')
  const spellings = listSpellings([name, path, withoutIndices])
  return { label: withoutIndices || path, spellings, value }
}

/** `dealStage`, `deal-stage`, `Deal Stage` and `@deal_stage` are spellings of `deal_stage`. */
const listSpellings = (names: readonly string[]): string[] =>
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

type Matcher = (subject: FieldSubject) => boolean

/** Every rule matches the same names. */
const cachedSkeleton = memoize(toSkeleton)

/** A path in a rule may start at any depth, like a name: `{ value: { order: … } }` does not hide `order`. */
function createMatcher(field: string): Matcher {
  const globs = listSpellings([normalizeFieldPath(field)]).flatMap((glob) => [glob, `*.${glob}`])
  const matchers = globs.map(compileGlob)
  const skeletonGlobs = globs.map((glob) => compileGlob(toSkeleton(glob)))
  return ({ spellings }) =>
    spellings.some(
      (text) =>
        matchers.some((isIt) => isIt(text)) ||
        (/[^ -~]/.test(text) && skeletonGlobs.some((isIt) => isIt(cachedSkeleton(text)))),
    )
}

type Check = {
  id: string
  severity: Violation['severity']
  isHighRisk: boolean
  approvers: number
  reason: string
  matches: Matcher
  /** Checks a value; without this check the field may not be touched at all. */
  allows?: Allows
}

type Allows = (value: unknown) => boolean

function toCheck(rule: Rule, place: number): Check {
  const isHighRisk = rule.constraint === 'high_risk'
  return {
    id: rule.id ?? `rule_${place + 1}`,
    severity: rule.severity ?? (isHighRisk ? 'warn' : 'hard_stop'),
    isHighRisk,
    approvers: rule.approvers,
    matches: createMatcher(rule.field),
    ...toConstraint(rule),
  }
}

type CheckResult = { check: Check; isMatched: boolean; violations: Violation[] }

function toEffect(always: readonly FieldSubject[], findings: readonly CheckResult[]): Effect {
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

/** The rule violated by a change without readable fields. */
const unreadableRule = 'unreadable_change'

/** Any rule of the policy might be violated, so the strictest counts; without rules a person reviews (M7). */
function unreadableFinding({ path }: Field, checks: readonly Check[]): CheckResult {
  const isStop = checks.some(({ severity }) => severity === 'hard_stop')
  const severity: Violation['severity'] = isStop ? 'hard_stop' : 'warn'
  const isHighRisk = checks.some((check) => check.isHighRisk)
  const approvers = Math.max(1, ...checks.map((check) => check.approvers))
  const reason = 'No readable fields. Name each field with its value, for example {"stage": "won"}.'
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

function applyCheck(check: Check, subjects: readonly FieldSubject[]): CheckResult {
  const matched = subjects.filter(check.matches)
  if (matched.length === 0) return { check, isMatched: false, violations: [] }
  const allows = check.allows && memoizeAllows(check.allows)
  const broken = matched.filter(({ value }) => !allows || !allowsAll(allows, value))
  const { id: rule_id, severity, reason } = check
  // A list and its items, or the same field of many items, are reported as one field.
  const violations = distinct(broken.map(({ label }) => label)).map((field): Violation => ({
    rule_id,
    field,
    severity,
    reason,
  }))
  return { check, isMatched: true, violations }
}

/** Reasons never contain values: they may be secret, and reasons are shown and recorded. */
function toConstraint(rule: Rule): Pick<Check, 'allows' | 'reason'> {
  const because = (standard: string) => rule.reason ?? standard
  switch (rule.constraint) {
    case 'high_risk':
      return { reason: because('High risk: a person reviews this field.') }
    case 'readonly':
      return { reason: because('Read-only: omit this field from the change.') }
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
          const text = toText(value)
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
 * Checks every item of a list; an empty list is a value. Without a value nothing can be checked: only that the field
 * is touched is known.
 */
function allowsAll(allows: Allows, value: unknown): boolean {
  if (value === undefined) return true
  const items: unknown[] = Array.isArray(value) ? value.flat(Infinity) : []
  return items.length === 0 ? allows(value) : items.every(allows)
}

/** Items of a list are checked again as separate fields: a long text is searched once. */
function memoizeAllows(allows: Allows): Allows {
  const known = new Map<unknown, boolean>()
  return (value) => {
    const answer = known.get(value) ?? allows(value)
    known.set(value, answer)
    return answer
  }
}

/** In characters. Larger objects are not matched as text: each level of nesting would be searched again. */
const maxObjectLength = 64 * 1024

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    const text = canonicalJson(value)
    return text.length > maxObjectLength ? undefined : text
  } catch {
    // A lone surrogate has no canonical form.
    return undefined
  }
}

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)]
