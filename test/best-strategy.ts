// An upper bound for all strategies, by dynamic programming over the state of the gate (T15).
import { configSchema } from '../src/base/config/index.ts'
import {
  applyCleanCheck,
  applyRight,
  applyWrongAlone,
  checkRate,
  checksPerForgiveness,
  creditToAct,
  gateClosed,
  kindCreditToAct,
  maxStrikes,
  newStanding,
  toStandingRules,
  uncheckedWorth,
} from '../src/governance/rules/standing.ts'
import type { TrustStanding } from '../src/governance/rules/standing.ts'
import { people } from './simulation.ts'

const rules = toStandingRules(configSchema.parse({}))
const lookBackCount = 10
const lastStep = 45
const cleanCount = lastStep + checksPerForgiveness

/** After the last step only the position within a forgiveness round matters. */
const indexOf = ({ strikes, clean }: TrustStanding) =>
  strikes * cleanCount + (clean < cleanCount ? clean : clean - checksPerForgiveness)

/** Mean number of requests until the gate opens. */
function countAsked(standing: TrustStanding): number {
  const closed = gateClosed(rules, standing, kindCreditToAct, { count: 0, oldestMs: 0 })
  return Math.ceil((closed?.toGo ?? 0) / (1 - people.taste))
}

const lookBack = (standing: TrustStanding) =>
  Array.from({ length: lookBackCount }).reduce<TrustStanding>(
    (after) => applyRight(after, uncheckedWorth),
    standing,
  )

/**
 * The maximum of expected slips. In favor of the agent, look-backs find only correct actions, and neither the
 * score nor the credit of a kind limits it; so no strategy reaches this bound.
 */
export function maxExpectedSlips({ weight = 1, actions = 1000 } = {}): number {
  const { catches, taste, foundLater } = people
  const states = Array.from({ length: (maxStrikes + 1) * cleanCount }, (_, index) => {
    const strikes = Math.floor(index / cleanCount)
    const standing = { credit: creditToAct, strikes, clean: index % cleanCount }
    const found = applyWrongAlone(rules, standing, weight)
    const closed = lookBack(found)
    return {
      rate: checkRate(rules, standing),
      clean: indexOf(applyCleanCheck(standing)),
      found: indexOf(found),
      asked: countAsked(closed),
    }
  })
  /** Indexed by remaining actions, then by state. */
  const best = [new Float64Array(states.length)]
  const expected = (left: number, state: number) => best[left]?.[state] ?? 0
  for (let left = 1; left <= actions; left++)
    best.push(
      Float64Array.from(states, ({ rate, clean, found, asked }, state) => {
        const ifClean = expected(left - 1, clean)
        const ifUnseen = expected(left - 1, state)
        const isSeen = rate * (1 - taste)
        const right = isSeen * ifClean + (1 - isSeen) * ifUnseen
        const isFound = rate * catches + (1 - rate) * foundLater
        const isMissed = rate * (1 - catches)
        const ifFound = expected(left - 1 - asked, found)
        const wrong =
          1 + isFound * ifFound + isMissed * ifClean + (1 - isFound - isMissed) * ifUnseen
        return Math.max(right, wrong)
      }),
    )
  return expected(actions - countAsked(newStanding), indexOf(newStanding))
}
