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

/** How an agent stands in one class of risk, in the words of the console, the command line and the report. Pure. */

export type Level = 'autonomous' | 'supervised' | 'probation'

export const levelOf = (mode: Mode): Level =>
  mode === 'act' ? 'autonomous' : mode === 'suggest' ? 'supervised' : 'probation'

type Given = {
  readonly level: Level
  readonly score: number
  readonly thresholds: { readonly suggest: number; readonly act: number }
  readonly closed: Closed | undefined
  readonly unread: Unread & { readonly lookBacks: number }
  readonly rate: number
  readonly isVouched: boolean
}

export type Words = {
  readonly reason: string
  /** What changes it; nothing where it acts alone and nothing waits. */
  readonly next?: string
}

/** Always the cause and the next step, never a probability. */
export function wordsFor(given: Given): Words {
  const { level, score, thresholds, closed, unread, rate, isVouched } = given
  if (level === 'autonomous') {
    const checked = `${shareInWords(rate)} is checked`
    return {
      reason: isVouched ? `a person vouched for it; ${checked}` : checked,
      ...(unread.count > 0 && { next: `${checksWait(unread.count)}` }),
    }
  }
  if (score < thresholds.act) {
    const needed = level === 'probation' ? thresholds.suggest : thresholds.act
    const goal = level === 'probation' ? 'to be supervised' : 'to act alone'
    return { reason: `trust is ${score.toFixed(2)}`, next: `${needed.toFixed(2)} ${goal}` }
  }
  return closed ? closedWords(closed, unread) : { reason: 'a person decides each time' }
}

function closedWords({ cause, toGo }: Closed, { count, lookBacks }: Given['unread']): Words {
  const more = rightActions(toGo)
  switch (cause) {
    case 'mistake':
      return lookBacks > 0
        ? {
            reason: 'a mistake was found in what it did alone',
            next: `look at ${actions(lookBacks)} it did alone; each that is right counts for five (${more} in all)`,
          }
        : { reason: 'a mistake was found in what it did alone', next: more }
    case 'kind_wrong':
      return { reason: 'it was wrong in this kind of action', next: more }
    case 'unproven':
      return { reason: 'it has not shown enough yet', next: more }
    case 'kind_new':
      return { reason: 'this kind of action is new', next: more }
    case 'unread':
      return { reason: checksWait(count), next: 'answer them and it goes on' }
    case 'unchecked':
      return { reason: 'spot checks are off', next: 'set trust.spot_check_rate above 0' }
  }
}

/** What each answer to a check leads to, said before it is given. */
export function consequencesOf(
  rules: StandingRules,
  standing: TrustStanding,
  { isLookBack, weight }: { readonly isLookBack: boolean; readonly weight: number },
) {
  const after = applyWrongAlone(rules, standing, weight)
  const missing = rightActions(creditToAct - after.credit)
  const lookBack = isLookBack ? '' : ' Up to ten others that it did alone come to you.'
  return {
    confirm: isLookBack ? paid(standing) : confirmed(rules, standing),
    wrong: `The gate closes: ${missing} before it acts alone again.${lookBack}`,
    differently: 'A matter of taste: it keeps its credit.',
  }
}

function paid(standing: TrustStanding): string {
  const { credit } = applyRight(standing, uncheckedWorth)
  const missing = creditToAct - credit
  return missing > 0
    ? `Counts for five right actions: ${missing} are still missing.`
    : 'Counts for five right actions: none is missing then.'
}

function confirmed(rules: StandingRules, standing: TrustStanding): string {
  const after = applyCleanCheck(standing)
  if (after.strikes < standing.strikes) return 'A strike is forgiven.'
  const next = checkRate(rules, after)
  if (next < checkRate(rules, standing)) return `From now on ${shareInWords(next)} is checked.`
  return after.strikes > 0
    ? `A clean check: ${checksToForgiveness(after)} more in a row forgive a strike.`
    : 'A clean check.'
}

const actions = (count: number) => `${count} ${count === 1 ? 'action' : 'actions'}`
const rightActions = (count: number) => `${count} more right ${count === 1 ? 'action' : 'actions'}`
const checksWait = (count: number) => (count === 1 ? '1 check waits' : `${count} checks wait`)

const numbers = splitWords('zero one two three four five six seven eight nine ten')

/** “one in ten”; “every action” where all are. */
function shareInWords(rate: number): string {
  if (rate <= 0) return 'nothing'
  const every = Math.round(1 / rate)
  return every <= 1 ? 'every action' : `one in ${numbers[every] ?? every}`
}
