import { expect, test } from 'vitest'
import { anna, decide, outcomesOf, propose, trusted, trustOf } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const pending = (to: Governed) => to.governance.approvals.list({ statuses: ['pending'], limit: 9 })

/** Chance says these, one after the other. */
function chance(...values: number[]) {
  return () => values.shift() ?? 1
}

test('T14 a share of what is done alone is looked at afterwards, by chance', async () => {
  const system = await governed({}, { random: chance(0.049, 0.05, 0.5, 0) })
  await trusted(system, 0.9)
  const done = []
  for (let i = 0; i < 4; i++) done.push(await propose(system, { target: `deal-${i}` }))
  for (const said of done) expect(said).toMatchObject({ mode: 'act', status: 'approved' })
  const queued = await pending(system)
  expect(queued.map(({ kind, target }) => `${kind} ${target}`).toSorted()).toEqual([
    'spot_check deal-0',
    'spot_check deal-3',
  ])
  expect(queued.find(({ target }) => target === 'deal-3')?.content).toMatchObject({
    change: { note: 'call back' },
    why: { text: expect.stringContaining('looked at afterwards') },
    more: { proposal: done[3]?.['proposal_id'] },
  })
})

test('T14 what a person is asked about anyway is not checked again', async () => {
  const system = await governed({}, { draw: () => 0 })
  await propose(system)
  expect((await pending(system)).map(({ kind }) => kind)).toEqual(['proposal'])
})

test('T14 a rate of 0 checks nothing, and of 1 everything', async () => {
  for (const [rate, count] of [
    [0, 0],
    [1, 3],
  ]) {
    const system = await governed({ 'trust.spot_check_rate': rate }, { random: Math.random })
    await trusted(system, 0.9)
    for (let i = 0; i < 3; i++) await propose(system)
    expect(await pending(system)).toHaveLength(count ?? -1)
  }
})

test('T14 a clean one is evidence and never score, a wrong one is overridden', async () => {
  const system = await governed({}, { draw: () => 0 })
  await trusted(system, 0.9)
  await propose(system)
  await propose(system)
  const [wrong, clean] = (await pending(system)).map(({ id }) => id)
  const said = outcomesOf(await decide(system, [clean ?? '']))
  expect(said).toEqual([{ id: clean, status: 'approved' }])
  expect(await trustOf(system)).toMatchObject({
    trust_level: 0.9,
    approvals: 0,
    by_risk: { normal: { approvals: 1 } },
  })
  const untyped = await decide(system, [wrong ?? ''], { decision: 'reject' })
  expect(outcomesOf(untyped)).toMatchObject([{ error: { code: 'override_needed' } }])
  const typed = { decision: 'reject', override: { type: 'agent_wrong' } }
  expect(outcomesOf(await decide(system, [wrong ?? ''], typed))).toEqual([
    { id: wrong, status: 'rejected', trust: { from: 0.9, to: 0.82 } },
  ])
  expect(await trustOf(system)).toMatchObject({ trust_level: 0.82, overrides: 1 })
  const detail = await system.governance.inbox.detail(anna, wrong ?? '')
  expect(detail).toMatchObject({ kind: 'spot_check', effect: { approve: null } })
})

test('T14 the agent that it is about cannot take it back, and is told why', async () => {
  const system = await governed({}, { draw: () => 0 })
  await trusted(system, 0.9)
  await propose(system)
  const [check] = await pending(system)
  const taken = await system.call('cowork_withdraw', { approval_id: check?.id })
  expect(taken).toMatchObject({
    fault: 'human_required',
    message: expect.stringContaining('A spot check is about what sales did'),
  })
  expect(await pending(system)).toMatchObject([{ id: check?.id, status: 'pending' }])
  expect(await system.entries(['approval.withdrawn'])).toEqual([])
})
