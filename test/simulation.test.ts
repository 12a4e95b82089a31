import { expect, test } from 'vitest'
import { errorRates, simulate } from './simulation.ts'

const outcomes = new Map(errorRates.map((rate) => [rate, simulate(rate)]))
const careless = errorRates.filter((rate) => rate >= 0.1)
const careful = errorRates.filter((rate) => rate <= 0.01)

test.each(careless)('T15 an agent wrong at a rate of %d slips at most 2 acts of 1000', (rate) => {
  expect(outcomes.get(rate)?.slips).toBeLessThanOrEqual(2)
})

test.each(careful)(
  'T15 an agent wrong at a rate of %d needs at most 120 reviews of 1000',
  (rate) => {
    expect(outcomes.get(rate)?.reviews).toBeLessThanOrEqual(120)
  },
)

test('T15 autonomy falls with every more error', () => {
  const shares = [...outcomes.values()].map(({ autonomous }) => autonomous)
  expect(shares[0]).toBeGreaterThan(950)
  expect(shares).toEqual(shares.toSorted((a, b) => b - a))
})

test('T15 the same seed plays the same runs, another one others', () => {
  const few = { actions: 200, runs: 20 }
  expect(simulate(0.05, { ...few, seed: 7 })).toEqual(simulate(0.05, { ...few, seed: 7 }))
  expect(simulate(0.05, { ...few, seed: 7 })).not.toEqual(simulate(0.05, { ...few, seed: 8 }))
})
