import { expect, test } from 'vitest'
import { buildBatches } from './batch.ts'
import { item } from './approval.fixture.ts'

const override = { type: 'edge_case', severity: 'medium', description: 'not here' } as const

test('B2 a call has at most a thousand decisions', () => {
  const items = Array.from({ length: 2500 }, (_, n) => item({ id: String(n) }))
  const batches = buildBatches(items, { decision: 'approve' })
  expect(batches.map(({ ids }) => ids.length)).toEqual([1000, 1000, 500])
  expect(batches.flatMap(({ ids }) => ids)).toEqual(items.map(({ id }) => id))
})

test('B4 only items that affect trust get the override', () => {
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

test('B4 rejecting a call can include an override', () => {
  const decision = { decision: 'reject', override } as const
  expect(buildBatches([item({ id: 'c', kind: 'call' })], decision)).toEqual([
    { ids: ['c'], decision },
  ])
})
