import type { Mode } from '#approvals'
import { CoworkError } from '#base/errors.ts'
import { extractFields } from '../rules/fields.ts'
import { outcomeForRules } from '../rules/mode-decision.ts'
import type { Outcome } from '../rules/mode-decision.ts'
import type { ModeRules } from '../rules/mode.ts'
import type { Mapping, Policies, Policy } from '../rules/policy.ts'
import type { Reasonings } from './policy-assessment.ts'
import type { Reasoning } from '../tools/propose.ts'

/** A proposal or a call as it is on record, with all that decided it then. */
export type RecordedCall = {
  readonly kind: 'proposal' | 'call'
  readonly agent: string
  readonly domain: string
  readonly action: string
  readonly change: unknown
  readonly field?: string | undefined
  readonly at: number
  readonly outcome: Outcome
  /** Absent where nobody asked for trust then. */
  readonly trustLevel?: number | undefined
  readonly gateOpen: boolean
  readonly thresholds?: ModeRules['thresholds'] | undefined
  /** As strict as this, whatever rules and trust say. */
  readonly floor: Mode
  /** Of a call: whether it changes anything, whether trust had a say, whether a standing permission let it go. */
  readonly call?: {
    readonly isRead: boolean
    readonly byTrust: boolean
    readonly isPermitted: boolean
  }
  /** Of a call: arguments whose values are not on record, or that none is. */
  readonly unseen?: readonly string[] | 'all'
  readonly reasoning?: Reasoning | undefined
  readonly unverified: readonly string[]
  readonly approval?: string | undefined
  readonly seq?: number | undefined
}

/** The rules that it is judged by this time. */
export type CandidatePolicy = {
  readonly policies: Policies
  readonly extra: readonly Mapping[]
  readonly always?: Policy | undefined
  readonly rules: ModeRules
  readonly reasonings: Pick<Reasonings, 'isAsked' | 'again' | 'floorOf'>
}

/** What would become of it under these rules, with the trust of that time; undefined where that is not on record. */
export function replayOutcome(
  candidate: CandidatePolicy,
  recorded: RecordedCall,
): Outcome | undefined {
  try {
    return judgedAgain(candidate, recorded)
  } catch (error) {
    // What is too deep to be judged never was.
    if (error instanceof CoworkError) return undefined
    throw error
  }
}

function judgedAgain(candidate: CandidatePolicy, recorded: RecordedCall): Outcome | undefined {
  const { policies, extra, rules } = candidate
  const { agent, domain, change, field, call } = recorded
  const policy = findPolicy(candidate, recorded)
  // No silent fallback for a proposal; a call has its defaults (Y4, Y9).
  if (!call && !policy && policies.isMapped) return 'blocked'
  if (looksAtUnseen(policies, policy, recorded)) return undefined
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
  const standing = { score, gateOpen, floor: floorOf(candidate, policy, recorded) }
  const thresholds = recorded.thresholds ?? rules.thresholds
  return outcomeForRules({ ...rules, thresholds }, standing, effect)
}

/** Whether a rule asks what a value is that is not on record. That a field is touched is. */
function looksAtUnseen(
  policies: Policies,
  policy: Policy | undefined,
  { change, unseen }: RecordedCall,
): boolean {
  if (unseen === undefined || policy?.mode === 'shadow') return false
  const args = Object.entries(change ?? {}).filter(([name]) => unseen.includes(name))
  const fields = extractFields(Object.fromEntries(args))
  // As of a read, only rules about values count.
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

/** A proposal's floor is its reasoning, which is judged again too. */
function floorOf(
  { reasonings }: CandidatePolicy,
  policy: Policy | undefined,
  { call, floor, reasoning: given, unverified, at }: RecordedCall,
): Mode {
  if (call) return floor
  if (policy?.mode === 'shadow' || !reasonings.isAsked(policy, given)) return 'act'
  const again = reasonings.again({ policy, given, at }, unverified)
  return reasonings.floorOf(policy, again) ?? 'act'
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
  /** What is on record too thinly to be judged again. */
  readonly skipped: number
  readonly changes: readonly Change[]
}

const mostExamples = 3

/** Judges what is on record again, one by one, and tells what would come out differently (Y6). Pure. */
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
      if (cell.examples.length < mostExamples) cell.examples.push(recorded)
      cells.set(key, cell)
    },
    result(): ReplayResult {
      const changes = [...cells.values()].toSorted(
        (a, b) => b.count - a.count || keyOf(a).localeCompare(keyOf(b), 'en'),
      )
      const changed = changes.reduce((sum, { count }) => sum + count, 0)
      return { replayed, unchanged: replayed - changed, skipped, changes }
    },
  }
}

const keyOf = ({ from, to }: { from: Outcome; to: Outcome }) => `${from} ${to}`

/** `14 act→suggest, 2 suggest→blocked` */
export const formatReplaySummary = ({
  changes,
  skipped,
}: Pick<ReplayResult, 'changes' | 'skipped'>): string =>
  [
    ...(changes.length === 0 ? ['nothing would change'] : []),
    ...changes.map(({ from, to, count }) => `${count} ${from}→${to}`),
    ...(skipped > 0 ? [`${skipped} could not be judged again`] : []),
  ].join(', ')
