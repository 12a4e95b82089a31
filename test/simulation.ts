// Agents of known error rate under the rules of trust: how much goes wrong, and how much work people have (T15).
import { configSchema } from '../src/base/config/index.ts'
import { modeOf, modeRulesOf } from '../src/governance/rules/mode.ts'
import type { Trust } from '../src/governance/rules/trust.ts'
import {
  approved,
  checkedClean,
  current,
  gateOpen,
  newTrust,
  overridden,
  trustRulesOf,
} from '../src/governance/rules/trust.ts'

export const errorRates = [0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3]

/** People, as they are: they miss things, and they overrule for taste. */
const reviewerCatches = 0.95
const needlessOverrides = 0.03
const slipsFoundLater = 0.05

const config = configSchema.parse({})
const trustRules = trustRulesOf(config)
const modeRules = modeRulesOf(config)
const spotChecks = config.trust.spot_check_rate

/** Per run: wrong acts that nobody stopped, times a person looked, acts without asking. */
export type Outcome = { slips: number; reviews: number; autonomous: number }

/** The mean of many runs, the same ones each time. */
export function simulate(
  errorRate: number,
  { actions = 1000, runs = 400, seed = 1 } = {},
): Outcome {
  const random = randomFrom(seed)
  const sum: Outcome = { slips: 0, reviews: 0, autonomous: 0 }
  for (let run = 0; run < runs; run++) play(errorRate, actions, random, sum)
  return {
    slips: sum.slips / runs,
    reviews: sum.reviews / runs,
    autonomous: sum.autonomous / runs,
  }
}

/** All within one day: time plays no part here. */
const at = 0
const wrong = { type: 'agent_wrong', severity: 'medium' } as const
const taste = { type: 'human_preference', severity: 'medium' } as const

function play(errorRate: number, actions: number, random: () => number, sum: Outcome) {
  const happens = (probability: number) => random() < probability
  let trust = newTrust(trustRules, at)
  for (let action = 0; action < actions; action++) {
    const isWrong = happens(errorRate)
    if (mayAct(trust)) {
      sum.autonomous++
      if (isWrong) sum.slips++
      const isChecked = happens(spotChecks)
      if (isChecked) sum.reviews++
      if (isWrong && happens(isChecked ? reviewerCatches : slipsFoundLater))
        trust = overridden(trustRules, trust, 'normal', wrong, at).trust
      else if (isChecked) trust = checkedClean(trustRules, trust, 'normal', at)
    } else {
      sum.reviews++
      if (isWrong && happens(reviewerCatches))
        trust = overridden(trustRules, trust, 'normal', wrong, at).trust
      else if (!isWrong && happens(needlessOverrides))
        trust = overridden(trustRules, trust, 'normal', taste, at).trust
      else trust = approved(trustRules, trust, 'normal', at).trust
    }
  }
}

function mayAct(stored: Trust): boolean {
  const trust = current(trustRules, stored, at)
  const given = {
    score: trust.score,
    gateOpen: gateOpen(trustRules, trust, 'normal'),
    highRisk: false,
  }
  return modeOf(modeRules, given).mode === 'act'
}

/** Numbers from 0 to 1 that are the same on every machine (Marsaglia's xorshift). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
