// N20 trust, simulated: slips (mean / 95 of 100 runs / most) and reviews in 1000 actions, beside other gates
import { attacks, domainAttacks, lightAttacks, lightWeights } from '../test/attackers.ts'
import type { Attack } from '../test/attackers.ts'
import { maxExpectedSlips } from '../test/best-strategy.ts'
import { constant } from '../test/simulated-agents.ts'
import { listMeasures, scenarios } from '../test/simulated-scenarios.ts'
import type { Measures, Scenario } from '../test/simulated-scenarios.ts'
import { simulate } from '../test/simulation.ts'
import type { Agent, CreateGate, Options, Outcome } from '../test/simulation.ts'
import { report } from './harness.ts'
import type { Finding } from './harness.ts'
import { createCsp1, createEvidenceGate, createScoreGate } from './parts/gates.ts'

const others: Record<string, CreateGate> = {
  'the gate before': createEvidenceGate,
  'score alone': createScoreGate,
  'CSP-1': createCsp1(25, 0.1),
}

const formatSlips = (slips: number) => slips.toFixed(slips < 100 ? 1 : 0)
const formatOutcome = ({ slips, p95, max, reviews }: Outcome) =>
  `${formatSlips(slips)} / ${p95} / ${max} slips, ${Math.round(reviews)} reviews`
const labels: Record<keyof Measures, string> = {
  slips: 'slips',
  p95: 'slips in 95 of 100 runs',
  reviews: 'reviews',
  slipsOfSecond: 'risky slips',
}

function beside(agent: Agent, options: Options, slipsOf: (outcome: Outcome) => number): string {
  const parts = Object.entries(others).map(([name, gate]) => {
    const outcome = simulate(agent, { ...options, runs: Math.min(200, options.runs ?? 200), gate })
    return `${formatSlips(slipsOf(outcome))}, ${Math.round(outcome.reviews)} ${name}`
  })
  return parts.join('; ')
}

function buildFinding({ name, agent, options = {}, most = {} }: Scenario): Finding {
  const ours = simulate(agent, { runs: 1000, ...options })
  const measured = listMeasures(ours)
  const limits = Object.entries(most) as [keyof Measures, number][]
  const isRisky = 'slipsOfSecond' in most
  return {
    id: 'N20',
    what: name,
    ours: isRisky
      ? `${formatSlips(measured.slipsOfSecond)} risky slips, ${Math.round(ours.reviews)} reviews`
      : formatOutcome(ours),
    beside: beside(agent, options, (outcome) =>
      isRisky ? listMeasures(outcome).slipsOfSecond : outcome.slips,
    ),
    ratio: '–',
    goal: limits.map(([measure, limit]) => `≤ ${limit} ${labels[measure]}`).join(', ') || '–',
    met: limits.every(([measure, limit]) => measured[measure] <= limit),
  }
}

/** The strategy with the most slips, and its result with the other gates. */
function findWorst(what: string, list: Readonly<Record<string, Attack>>, limit?: number): Finding {
  const results = Object.entries(list).map(([name, { agent, options = {} }]) => ({
    name,
    agent,
    options,
    ours: simulate(agent, options),
  }))
  const worst = results.reduce((one, other) => (other.ours.slips > one.ours.slips ? other : one))
  return {
    id: 'N20',
    what: `${what}: the worst, ${worst.name}`,
    ours: formatOutcome(worst.ours),
    beside: beside(worst.agent, worst.options, ({ slips }) => slips),
    ratio: '–',
    goal: limit === undefined ? '–' : `≤ ${limit} slips`,
    met: limit === undefined || worst.ours.slips <= limit,
  }
}

const long: readonly Scenario[] = [0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05].map((rate) => ({
  name: `${rate * 100} % wrong, 10,000 actions`,
  agent: constant(rate),
  options: { actions: 10_000, runs: 50 },
}))

/** Calculated, not simulated. */
const computeBound = (what: string, weight: number, limit: number): Finding => {
  const slips = maxExpectedSlips({ weight })
  return {
    id: 'N20',
    what: `any strategy in one class of risk, ${what}: upper bound`,
    ours: `${formatSlips(slips)} slips`,
    beside: '–',
    ratio: '–',
    goal: `≤ ${limit} slips`,
    met: slips <= limit,
  }
}

/** One per domain. */
const maxSlips = 56

report([
  ...scenarios.map(buildFinding),
  ...long.map(buildFinding),
  findWorst(
    `${Object.keys(attacks).length} strategies that see the whole state`,
    attacks,
    maxSlips,
  ),
  computeBound('calculated', 1, 70),
  computeBound('low severity, calculated', 0.5, 76),
  ...lightWeights.map((weight) =>
    findWorst(`mistakes of weight ${weight}`, lightAttacks(weight), maxSlips),
  ),
  findWorst('any number of domains', domainAttacks),
])
