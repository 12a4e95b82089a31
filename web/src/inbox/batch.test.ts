import { expect, test } from 'vitest'
import { buildBatches } from './batch.ts'
import { item } from './approval.fixture.ts'

const override = { type: 'edge_case', severity: 'medium', description: 'not here' } as const

test('B2 a thousand go in one call, and more in several', () => {
  const items = Array.from({ length: 2500 }, (_, n) => item({ id: String(n) }))
  const batches = buildBatches(items, { decision: 'approve' })
  expect(batches.map(({ ids }) => ids.length)).toEqual([1000, 1000, 500])
  expect(batches.flatMap(({ ids }) => ids)).toEqual(items.map(({ id }) => id))
})

test('B4 of a mixed lot only what trust is about is overridden', () => {
  const items = [
    item({ id: 'p' }),
    item({ id: 'c', kind: 'call' }),
    item({ id: 's', kind: 'spot_check' }),
  ]
  expect(buildBatches(items, { decision: 'reject', override })).toEqual([
    { ids: ['p', 's'], decision: { decision: 'reject', override } },
    { ids: ['c'], decision: { decision: 'reject', reason: 'not here' } },
  ])
})

test('B4 a person may add an override to the refusal of a call', () => {
  const decision = { decision: 'reject', override } as const
  expect(buildBatches([item({ id: 'c', kind: 'call' })], decision)).toEqual([
    { ids: ['c'], decision },
  ])
})
