import { expect, test } from 'vitest'
import * as product from '../src/governance/rules/standing.ts'
import { attacks, domainAttacks, lightAttacks, lightWeights } from './attackers.ts'
import type { Attack } from './attackers.ts'
import { maxExpectedSlips } from './best-strategy.ts'
import { constant } from './simulated-agents.ts'
import { constantRates, listMeasures, scenarios } from './simulated-scenarios.ts'
import type { Measures } from './simulated-scenarios.ts'
import { createGate, simulate } from './simulation.ts'
import type { CreateGate, Mechanism } from './simulation.ts'

const barred = scenarios.flatMap(({ most, ...scenario }) => (most ? [{ ...scenario, most }] : []))

function findBroken({ agent, options, most }: (typeof barred)[number], gate?: CreateGate) {
  const measured = listMeasures(simulate(agent, { ...options, gate }))
  const limits = Object.entries(most) as [keyof Measures, number][]
  return limits.flatMap(([measure, limit]) =>
    measured[measure] > limit ? [`${measure}: ${measured[measure]}, at most ${limit}`] : [],
  )
}

test.each(barred)('T15 $name: at most $most in 1000', (scenario) => {
  expect(findBroken(scenario)).toEqual([])
})

test('T15 autonomy decreases with the error rate', () => {
  const shares = constantRates.map(({ agent }) => simulate(agent).autonomous)
  expect(shares[0]).toBeGreaterThan(950)
  expect(shares).toEqual(shares.toSorted((a, b) => b - a))
})

function worstOf(list: Readonly<Record<string, Attack>>) {
  const results = Object.entries(list).map(([name, { agent, options }]) => ({
    name,
    slips: simulate(agent, options).slips,
  }))
  return results.reduce((worst, one) => (one.slips > worst.slips ? one : worst))
}

test('T15 none of over 100 strategies that see the full state slips more than 56 in 1000', () => {
  expect(Object.keys(attacks).length).toBeGreaterThanOrEqual(100)
  const { name, slips } = worstOf(attacks)
  expect(slips, name).toBeLessThanOrEqual(56)
})

test('T15 no strategy at all can slip more than 70 in 1000, or 76 of low severity', () => {
  expect(maxExpectedSlips()).toBeLessThanOrEqual(70)
  expect(maxExpectedSlips({ weight: 0.5 })).toBeLessThanOrEqual(76)
  expect(maxExpectedSlips({ weight: 2.5 })).toBeLessThanOrEqual(43)
})

test.each(lightWeights)('T15 mistakes of weight %d also slip at most 56 in 1000', (weight) => {
  const { name, slips } = worstOf(lightAttacks(weight))
  expect(slips, name).toBeLessThanOrEqual(56)
})

// A known limit of the gate, see docs/governance.md: this bound shows its extent.

test('T15 an agent with any number of domains slips at most 180 in 1000', () => {
  const { name, slips } = worstOf(domainAttacks)
  expect(slips, name).toBeLessThanOrEqual(180)
})

const checkRateOf = (rate: number): Partial<Mechanism> => ({
  isSampled: (_rules, _standing, draw) => draw < rate,
})
const maxSaved = 500

/** Parts of the mechanism, the mechanism without each part, and a limit that it then exceeds. */
const parts: readonly { part: string; without: Partial<Mechanism>; bar: string }[] = [
  {
    part: 'doubling',
    without: {
      applyWrongAlone: (rules, standing, weight) =>
        product.applyWrongAlone(rules, { ...standing, strikes: 0 }, weight),
    },
    bar: 'right when asked, 20 % wrong alone',
  },
  {
    part: 'look-backs',
    without: { selectLookBack: () => [] },
    bar: 'right when asked, always wrong alone',
  },
  {
    part: 'a limit of unread checks',
    without: {
      gateClosed: (rules, standing, kind) =>
        product.gateClosed(rules, standing, kind, { count: 0, oldestMs: 0 }),
    },
    bar: 'checks never read, always wrong alone',
  },
  {
    part: 'credit of its own for each kind',
    without: {
      gateClosed: (rules, standing, _kind, unread) =>
        product.gateClosed(rules, standing, product.kindCreditToAct, unread),
    },
    bar: '90 % easy (0.5 % wrong), 10 % risky (30 %), two kinds: risky slips',
  },
  {
    part: 'a price of mistakes found before they are done',
    without: { applyWrongAsked: (_rules, kind) => kind },
    bar: '10 % wrong',
  },
  {
    part: 'frequent checks at first',
    without: checkRateOf(0.1),
    bar: 'right when asked, always wrong alone',
  },
  { part: 'rare checks in the end', without: checkRateOf(0.1), bar: 'never wrong' },
  {
    part: 'forgiveness',
    without: {
      applyCleanCheck: (standing) => ({
        ...product.applyCleanCheck(standing),
        strikes: standing.strikes,
      }),
    },
    bar: '1 % wrong, last 1000 of 10,000',
  },
  {
    part: 'pay for what it did alone',
    without: { applyRight: (standing) => product.applyRight(standing) },
    bar: '1 % wrong',
  },
  {
    part: 'a limit of credit',
    without: {
      applyRight: (standing, worth?: number) => ({
        ...standing,
        credit: Math.min(maxSaved, standing.credit + (worth ?? 1)),
      }),
      applyCleanCheck: (standing) => ({
        ...product.applyCleanCheck(standing),
        credit: Math.min(maxSaved, standing.credit + product.uncheckedWorth),
      }),
    },
    bar: '2 % wrong',
  },
]

test.each(parts)('T15 without $part a limit is exceeded: $bar', ({ without, bar }) => {
  const gate = createGate(without)
  const broken = barred.filter(({ name }) => name === bar).flatMap((one) => findBroken(one, gate))
  expect(broken).not.toEqual([])
})

test('T15 the same seed gives the same runs, another seed other runs', () => {
  const play = (seed: number) => simulate(constant(0.05), { actions: 200, runs: 20, seed })
  expect(play(7)).toEqual(play(7))
  expect(play(7)).not.toEqual(play(8))
})
