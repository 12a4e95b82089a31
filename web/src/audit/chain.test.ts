import { expect, test } from 'vitest'
import { getChainId, buildLanes } from './chain.ts'
import { entry } from '../api/entry.fixture.ts'

test('C8 a chain is identified by its proposal or its call', () => {
  expect(getChainId(entry({ ids: { call: 'c', proposal: 'p' } }))).toEqual({
    name: 'proposal',
    id: 'p',
  })
  expect(getChainId(entry({ ids: { call: 'c' } }))).toEqual({ name: 'call', id: 'c' })
  expect(getChainId(entry())).toBeUndefined()
})

test('C8 steps are in order, in the lane of their actor', () => {
  const agent = { kind: 'agent', id: 'anna' } as const
  const person = { kind: 'human', id: 'anna' } as const
  const { lanes, steps } = buildLanes([
    entry({ seq: 4, type: 'action.logged', actor: person, data: { phase: 'verify' } }),
    entry({ seq: 1, type: 'proposal.created', actor: agent }),
    entry({ seq: 3, type: 'action.logged', actor: agent, data: { phase: 'execute' } }),
    entry({ seq: 2, type: 'approval.approved', actor: person }),
    entry({ seq: 5, type: 'trust.raised', actor: { kind: 'system', id: 'cowork' } }),
  ])
  expect(steps.map(({ label, lane }) => [label, lane])).toEqual([
    ['propose', 0],
    ['approve', 1],
    ['execute', 0],
    ['verify', 1],
    ['trust raised', 2],
  ])
  expect(lanes.map(({ kind }) => kind)).toEqual(['agent', 'human', 'system'])
})
