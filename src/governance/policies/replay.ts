import type { Mode } from '#approvals'
import { CoworkError } from '#base/errors.ts'
import { extractFields } from '../rules/fields.ts'
import { outcomeForRules } from '../rules/mode-decision.ts'
import type { Outcome } from '../rules/mode-decision.ts'
import type { ModeRules } from '../rules/mode.ts'
import type { Mapping, Policies, Policy } from '../rules/policy.ts'
import type { Reasonings } from './policy-assessment.ts'
import type { Reasoning } from '../tools/propose.ts'

/** A recorded proposal or call with everything that decided its outcome. */
export type RecordedCall = {
  readonly kind: 'proposal' | 'call'
  readonly agent: string
  readonly domain: string
  readonly action: string
  readonly change: unknown
  readonly field?: string | undefined
  readonly at: number
  readonly outcome: Outcome
  /** Absent if trust was not consulted. */
  readonly trustLevel?: number | undefined
  readonly gateOpen: boolean
  readonly thresholds?: ModeRules['thresholds'] | undefined
  /** The mode is at least this strict, whatever rules and trust decide. */
  readonly floor: Mode
  /** Calls only: the effect, whether trust applied, and whether a standing permission allowed the call. */
  readonly call?: {
    readonly isRead: boolean
    readonly byTrust: boolean
    readonly isPermitted: boolean
  }
  /** Calls only: arguments whose values are not recorded, or `all`. */
  readonly unseen?: readonly string[] | 'all'
  readonly reasoning?: Reasoning | undefined
  readonly unverified: readonly string[]
  readonly approval?: string | undefined
  readonly seq?: number | undefined
}

/** The rules to replay with. */
export type CandidatePolicy = {
  readonly policies: Policies
  readonly extra: readonly Mapping[]
  readonly always?: Policy | undefined
  readonly rules: ModeRules
  readonly reasonings: Pick<Reasonings, 'isNeeded' | 'reassess' | 'getFloor'>
}

/** Returns the outcome under these rules with the trust of that time; undefined if that trust is not recorded. */
export function replayOutcome(
  candidate: CandidatePolicy,
  recorded: RecordedCall,
): Outcome | undefined {
  try {
    return evaluateRecorded(candidate, recorded)
  } catch (error) {
    // Too deeply nested changes were never evaluated.
    if (error instanceof CoworkError) return undefined
    throw error
  }
}

function evaluateRecorded(candidate: CandidatePolicy, recorded: RecordedCall): Outcome | undefined {
  const { policies, extra, rules } = candidate
  const { agent, domain, change, field, call } = recorded
  const policy = findPolicy(candidate, recorded)
  // Without a mapping a proposal is blocked, and a call has its defaults (Y4, Y9).
  if (!call && !policy && policies.isMapped) return 'blocked'
  if (dependsOnUnseen(policies, policy, recorded)) return undefined
  const effect = policies.evaluate(policy, extractFields(change, field), call?.isRead ?? false)
  if (effect.hardStop) return 'blocked'
  if (call?.isPermitted) return 'act'
  const own = policies.find(agent, domain) ? [] : extra
  const isNamed = policy !== undefined && policies.names(agent, domain, own)
  const byTrust = !call || call.byTrust || (isNamed && !call.isRead)
  const isAsked = effect.highRisk.length > 0 || effect.approvers > 1 || effect.isUnreadable
  if (!byTrust && !isAsked) return 'act'
  const { trustLevel: score, gateOpen } = recorded
  if (score === undefined) return undefined
  const standing = { score, gateOpen, floor: getFloor(candidate, policy, recorded) }
  const thresholds = recorded.thresholds ?? rules.thresholds
  return outcomeForRules({ ...rules, thresholds }, standing, effect)
}

/** True if a rule depends on a value that is not recorded. The names of changed fields are recorded. */
function dependsOnUnseen(
  policies: Policies,
  policy: Policy | undefined,
  { change, unseen }: RecordedCall,
): boolean {
  if (unseen === undefined || policy?.mode === 'shadow') return false
  const args = Object.entries(change ?? {}).filter(([name]) => unseen.includes(name))
  const fields = extractFields(Object.fromEntries(args))
  // As for a read, only rules about values count.
  const { rulesChecked, rulesMatched } = policies.evaluate(policy, fields, true)
  return unseen === 'all' ? rulesChecked > 0 : rulesMatched > 0
}

export const findPolicy = (
  { policies, extra, always }: CandidatePolicy,
  { agent, domain }: Pick<RecordedCall, 'agent' | 'domain'>,
): Policy | undefined =>
  always ??
  policies.find(agent, domain) ??
  (policies.isMapped ? policies.find(agent, domain, extra) : undefined)

/** The floor of a proposal follows from its reasoning, which is assessed again. */
function getFloor(
  { reasonings }: CandidatePolicy,
  policy: Policy | undefined,
  { call, floor, reasoning, unverified, at }: RecordedCall,
): Mode {
  if (call) return floor
  if (policy?.mode === 'shadow' || !reasonings.isNeeded(policy, reasoning)) return 'act'
  const assessment = reasonings.reassess({ policy, reasoning, at }, unverified)
  return reasonings.getFloor(policy, assessment) ?? 'act'
}

type Change = {
  readonly from: Outcome
  readonly to: Outcome
  readonly count: number
  readonly examples: readonly RecordedCall[]
}

export type ReplayResult = {
  readonly replayed: number
  readonly unchanged: number
  /** Recorded too incompletely to be replayed. */
  readonly skipped: number
  readonly changes: readonly Change[]
}

const maxExamples = 3

/** Replays recorded proposals and calls one by one and collects the changed outcomes (Y6). Pure. */
export function createReplay(candidate: CandidatePolicy) {
  const cells = new Map<
    string,
    { from: Outcome; to: Outcome; count: number; examples: RecordedCall[] }
  >()
  let replayed = 0
  let skipped = 0

  return {
    add(recorded: RecordedCall): void {
      const to = replayOutcome(candidate, recorded)
      if (to === undefined) {
        skipped++
        return
      }
      replayed++
      const { outcome: from } = recorded
      if (to === from) return
      const key = `${from}→${to}`
      const cell = cells.get(key) ?? { from, to, count: 0, examples: [] }
      cell.count++
      if (cell.examples.length < maxExamples) cell.examples.push(recorded)
      cells.set(key, cell)
    },
    result(): ReplayResult {
      const changes = [...cells.values()].toSorted(
        (a, b) => b.count - a.count || changeKey(a).localeCompare(changeKey(b), 'en'),
      )
      const changed = changes.reduce((sum, { count }) => sum + count, 0)
      return { replayed, unchanged: replayed - changed, skipped, changes }
    },
  }
}

const changeKey = ({ from, to }: { from: Outcome; to: Outcome }) => `${from} ${to}`

/** Formats, for example, `14 act→suggest, 2 suggest→blocked`. */
export const formatReplaySummary = ({
  changes,
  skipped,
}: Pick<ReplayResult, 'changes' | 'skipped'>): string =>
  [
    ...(changes.length === 0 ? ['nothing would change'] : []),
    ...changes.map(({ from, to, count }) => `${count} ${from}→${to}`),
    ...(skipped > 0 ? [`${skipped} could not be replayed`] : []),
  ].join(', ')
