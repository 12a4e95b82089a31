import { describe, expect, test } from 'vitest'
import { anna, approve, ben, proposed, sales, fetchTrust } from '../../../test/acts.ts'
import { bulkApprove, bulkContract, bulkReject } from '../../../test/bulk.ts'
import { governed, sqliteStore } from '../../../test/governed.ts'
import type { Governed } from '../../../test/governed.ts'
import { handOver } from '../../../test/handoffs.ts'

bulkContract(async () => sqliteStore())

async function some(count: number): Promise<{ system: Governed; ids: string[] }> {
  const system = await governed()
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await proposed(system, { target: `deal-${n}` }))
  return { system, ids }
}

describe('by ids', () => {
  test('B2 five approvals give +0.10', async () => {
    const { system, ids } = await some(5)
    const result = await bulkApprove(system, { proposal_ids: ids, feedback: 'All fine.' })
    expect(result).toMatchObject({
      batch_id: expect.any(String),
      count: 5,
      approved: 5,
      voted: 0,
      errors: [],
      verified: true,
      message: 'APPROVED: 5 of 5.',
    })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.4, approvals: 5 })
    const entries = await system.entries(['approval.approved'])
    expect(entries.map(({ data }) => data?.['trust'])).toEqual([
      { from: 0.3, to: 0.32 },
      { from: 0.32, to: 0.34 },
      { from: 0.34, to: 0.36 },
      { from: 0.36, to: 0.38 },
      { from: 0.38, to: 0.4 },
    ])
    expect(entries.every(({ data }) => data?.['reason'] === 'All fine.')).toBe(true)
  })

  test('B2 B4 a bulk rejection records an override each, with the description', async () => {
    const { system, ids } = await some(2)
    const reply = await bulkReject(system, { proposal_ids: ids, severity: 'high' })
    expect(reply).toMatchObject({ count: 2, rejected: 2, errors: [], message: 'REJECTED: 2 of 2.' })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.06, overrides: 2 })
    expect(await system.entries(['approval.rejected'])).toMatchObject(
      ids.map((id) => ({
        ids: { proposal: id },
        data: { batch: reply['batch_id'], override: { type: 'agent_wrong', severity: 'high' } },
      })),
    )
    const without = { proposal_ids: ids, override_type: undefined }
    expect(await bulkReject(system, without)).toMatchObject({ fault: 'invalid_input' })
  })

  test('B2 a failure of one item does not affect the others and has a reason', async () => {
    const { system, ids } = await some(3)
    const [first = '', ...rest] = ids
    await approve(system, first)
    const handoff = await handOver(system)
    const reply = await bulkApprove(system, { proposal_ids: [...ids, 'nothing', handoff, first] })
    expect(reply).toMatchObject({ count: 5, approved: 2 })
    expect(reply['outcomes']).toMatchObject(rest.map((id) => ({ proposal_id: id })))
    expect(reply['errors']).toEqual(
      [first, 'nothing', handoff].map((id) => ({
        proposal_id: id,
        code: 'already_decided',
        message: expect.stringContaining('not found or already decided'),
        hint: expect.any(String),
      })),
    )
  })

  test('A4 B2 a request that needs two people gets a vote', async () => {
    const system = await governed({
      policies: [
        {
          id: 'two',
          rules: [{ field: 'discount', constraint: 'high_risk', approvers: 2 }],
        },
      ],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'two' }],
    })
    const id = await proposed(system, { proposed_change: { discount: 0.3 } })
    const reply = await bulkApprove(system, { proposal_ids: [id] })
    expect(reply).toMatchObject({ approved: 0, voted: 1, outcomes: [{ status: 'voted' }] })
    expect(await system.entries(['approval.voted'])).toMatchObject([
      { data: { batch: reply['batch_id'] } },
    ])
    expect(await bulkApprove(system, { proposal_ids: [id] }, ben)).toMatchObject({ approved: 1 })
  })
})

describe('by filters', () => {
  test('B2 an unexpected count decides nothing and returns the number of matches', async () => {
    const { system } = await some(3)
    const filter = { filter_domain: 'crm' }
    for (const expected of [2, 4, undefined])
      expect(await bulkApprove(system, { ...filter, expected_count: expected })).toMatchObject({
        fault: 'count_differs',
        matching: 3,
        message: expect.stringMatching(/^3 pending proposals match.*Nothing was decided\.$/),
      })
    expect(await system.entries(['approval.approved'])).toEqual([])
    expect(await bulkReject(system, { ...filter, expected_count: 3 })).toMatchObject({
      rejected: 3,
    })
  })

  test('B2 a filter without matches reports that', async () => {
    const { system } = await some(1)
    const nobody = { filter_agent_id: 'nobody' }
    expect(await bulkApprove(system, { ...nobody, expected_count: 0 })).toMatchObject({
      count: 0,
      approved: 0,
      message: 'No pending proposals match: nothing was decided.',
    })
    expect(await bulkApprove(system, { ...nobody, expected_count: 1 })).toMatchObject({
      fault: 'count_differs',
      matching: 0,
    })
  })

  test('B2 one filter decides at most a thousand items', async () => {
    const system = await governed({ 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 })
    await Promise.all(Array.from({ length: 1001 }, () => proposed(system)))
    for (const expected of [1000, 1001])
      expect(
        await bulkApprove(system, { filter_domain: 'crm', expected_count: expected }),
      ).toMatchObject({
        fault: 'count_differs',
        message: expect.stringContaining('more than 1000'),
      })
  })

  test('B2 exactly one of ids and filters is required', async () => {
    const { system, ids } = await some(1)
    for (const args of [
      {},
      { expected_count: 1 },
      { proposal_ids: ids, filter_domain: 'crm', expected_count: 1 },
    ])
      expect(await bulkApprove(system, args), JSON.stringify(args)).toMatchObject({
        fault: 'invalid_input',
      })
    expect(await bulkApprove(system, { proposal_ids: [] })).toMatchObject({
      fault: 'invalid_input',
    })
  })

  test('A3 B2 agents cannot decide one or many', async () => {
    const { system, ids } = await some(2)
    for (const reply of [
      await bulkApprove(system, { proposal_ids: ids }, sales),
      await bulkReject(system, { proposal_ids: ids }, sales),
    ])
      expect(reply).toMatchObject({ fault: 'human_required' })
    expect(await bulkApprove(system, { proposal_ids: ids }, anna)).toMatchObject({ approved: 2 })
  })
})
