import type { Mode } from '#approvals'
import { splitWords } from '#base/words.ts'
import {
  applyCleanCheck,
  applyRight,
  applyWrongAlone,
  checkRate,
  checksToForgiveness,
  creditToAct,
  uncheckedWorth,
} from './standing.ts'
import type { Closed, TrustStanding, StandingRules, Unread } from './standing.ts'

/** Formats the standing of an agent in a risk class for the console, the command line and the report. Pure. */

export type Level = 'autonomous' | 'supervised' | 'probation'

export const toLevel = (mode: Mode): Level =>
  mode === 'act' ? 'autonomous' : mode === 'suggest' ? 'supervised' : 'probation'

type StandingInput = {
  readonly level: Level
  readonly score: number
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly closed: Closed | undefined
  readonly unread: Unread & { readonly lookBacks: number }
  readonly rate: number
  readonly isVouched: boolean
}

export type StandingText = {
  readonly reason: string
  /** The next step; absent if the agent acts alone and no check is unread. */
  readonly next?: string
}

/** Always gives the cause and the next step, never a probability. */
export function formatStanding(input: StandingInput): StandingText {
  const { level, score, thresholds, closed, unread, rate, isVouched } = input
  if (level === 'autonomous') {
    const checked = `${formatShare(rate)} is checked`
    return {
      reason: isVouched ? `a person vouched for it; ${checked}` : checked,
      ...(unread.count > 0 && { next: `${formatUnreadChecks(unread.count)}` }),
    }
  }
  if (score < thresholds.act) {
    const needed = level === 'probation' ? thresholds.suggest : thresholds.act
    const goal = level === 'probation' ? 'to be supervised' : 'to act alone'
    return { reason: `trust is ${score.toFixed(2)}`, next: `${needed.toFixed(2)} ${goal}` }
  }
  return closed ? formatClosed(closed, unread) : { reason: 'a person decides every action' }
}

function formatClosed(
  { cause, toGo }: Closed,
  { count, lookBacks }: StandingInput['unread'],
): StandingText {
  const more = formatMissingActions(toGo)
  switch (cause) {
    case 'mistake':
      return lookBacks > 0
        ? {
            reason: 'an autonomous action was wrong',
            next: `review ${formatActions(lookBacks)} done alone; each correct one counts as five (${more} in total)`,
          }
        : { reason: 'an autonomous action was wrong', next: more }
    case 'kind_wrong':
      return { reason: 'wrong in this kind of action', next: more }
    case 'unproven':
      return { reason: 'not enough reviewed actions', next: more }
    case 'kind_new':
      return { reason: 'this kind of action is new', next: more }
    case 'unread':
      return { reason: formatUnreadChecks(count), next: 'answer them to let the agent continue' }
    case 'unchecked':
      return { reason: 'spot checks are off', next: 'set trust.spot_check_rate above 0' }
  }
}

/** Previews the effect of each answer to a check. */
export function formatConsequences(
  rules: StandingRules,
  standing: TrustStanding,
  { isLookBack, weight }: { readonly isLookBack: boolean; readonly weight: number },
) {
  const after = applyWrongAlone(rules, standing, weight)
  const missing = formatMissingActions(creditToAct - after.credit)
  const lookBack = isLookBack ? '' : ' Up to ten other autonomous actions come to you for review.'
  return {
    confirm: isLookBack ? formatLookBackCredit(standing) : formatConfirmation(rules, standing),
    wrong: `The gate closes: ${missing} before the agent acts alone again.${lookBack}`,
    differently: 'A matter of preference: the agent keeps its credit.',
  }
}

function formatLookBackCredit(standing: TrustStanding): string {
  const { credit } = applyRight(standing, uncheckedWorth)
  const missing = creditToAct - credit
  return missing > 0
    ? `Counts as five correct actions: ${missing} are still missing.`
    : 'Counts as five correct actions: no more are missing.'
}

function formatConfirmation(rules: StandingRules, standing: TrustStanding): string {
  const after = applyCleanCheck(standing)
  if (after.strikes < standing.strikes) return 'Removes one strike.'
  const next = checkRate(rules, after)
  if (next < checkRate(rules, standing)) return `From now on ${formatShare(next)} is checked.`
  return after.strikes > 0
    ? `A clean check: ${checksToForgiveness(after)} more in a row remove one strike.`
    : 'A clean check.'
}

const formatActions = (count: number) => `${count} ${count === 1 ? 'action' : 'actions'}`
const formatMissingActions = (count: number) =>
  `${count} more correct ${count === 1 ? 'action' : 'actions'}`
const formatUnreadChecks = (count: number) =>
  count === 1 ? '1 unread check' : `${count} unread checks`

const numbers = splitWords('zero one two three four five six seven eight nine ten')

/** Formats `one in ten`, or `every action` for a rate of 1. */
function formatShare(rate: number): string {
  if (rate <= 0) return 'nothing'
  const every = Math.round(1 / rate)
  return every <= 1 ? 'every action' : `one in ${numbers[every] ?? every}`
}
