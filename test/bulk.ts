// Bulk decisions of proposals, tested on both engines.
import { expect, test } from 'vitest'
import { anna, proposed, sales, support, trusted } from './acts.ts'
import { governed } from './governed.ts'
import type { Governed, Said, Store } from './governed.ts'

export const bulkApprove = (to: Governed, args: object, by = anna): Promise<Said> =>
  to.call('cowork_bulk_approve', args, by)
export const bulkReject = (to: Governed, args: object, by = anna): Promise<Said> =>
  to.call(
    'cowork_bulk_reject',
    { override_type: 'agent_wrong', description: 'Wrong deals.', ...args },
    by,
  )

const approvedIds = (result: Said) =>
  (result['outcomes'] as { proposal_id: string }[]).map(({ proposal_id: id }) => id).toSorted()

export function bulkContract(create: () => Promise<Store>) {
  test('B2 filters select pending proposals that match all of them', async () => {
    const system = await governed(
      { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 },
      {},
      await create(),
    )
    await trusted(system, 0.6, 'support')
    const sure = await proposed(system, { confidence: 0.9 })
    const unsure = await proposed(system, { confidence: 0.2 })
    const mail = await proposed(system, { domain: 'mail', confidence: 0.9 })
    const theirs = await proposed(system, { confidence: 0.9 }, support)
    const gone = await proposed(system, { confidence: 0.9 })
    await system.call('cowork_withdraw', { approval_id: gone })
    const held = await proposed(system, { confidence: 0.9, domain: 'held' })
    const other = await proposed(system, { confidence: 0.9, domain: 'held' })
    await system.call(
      'cowork_decide',
      { approval_ids: [held, other], decision: 'approve', hold: true },
      anna,
    )
    const tried = async (filters: object) => {
      const result = await bulkApprove(system, { ...filters, expected_count: 99 })
      expect(result).toMatchObject({ fault: 'count_differs' })
      return result['matching']
    }
    expect(await tried({ filter_agent_id: 'sales' })).toBe(3)
    expect(await tried({ filter_domain: 'crm' })).toBe(3)
    expect(await tried({ filter_domain: 'held' })).toBe(0)
    expect(await tried({ filter_min_confidence: 0.9 })).toBe(3)
    expect(await tried({ filter_min_confidence: 0.21 })).toBe(3)
    expect(await tried({ filter_min_trust_score: 0.6 })).toBe(1)
    expect(await tried({ filter_agent_id: 'sales', filter_min_trust_score: 0.6 })).toBe(0)
    const some = { filter_domain: 'crm', filter_min_confidence: 0.5, expected_count: 2 }
    const result = await bulkApprove(system, some)
    expect(result).toMatchObject({ count: 2, approved: 2, errors: [] })
    expect(approvedIds(result)).toEqual([sure, theirs].toSorted())
    for (const [id, status] of [
      [unsure, 'pending'],
      [mail, 'pending'],
      [gone, 'withdrawn'],
    ] as const)
      expect((await system.governance.approvals.get(id))?.status).toBe(status)
  })

  test('B2 decides 1,000 ids in one call, each with its entry and trust change', async () => {
    const system = await governed(
      { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 },
      {},
      await create(),
    )
    const ids = await Promise.all(
      Array.from({ length: 1000 }, (_, n) => proposed(system, { domain: `d${n % 50}` }, sales)),
    )
    const result = await bulkApprove(system, { proposal_ids: ids })
    expect(result).toMatchObject({ count: 1000, approved: 1000, errors: [] })
    const entries = await system.entries(['approval.approved'])
    expect(new Set(entries.map(({ ids: of }) => of?.proposal))).toEqual(new Set(ids))
    expect(entries.every(({ data }) => data?.['batch'] === result['batch_id'])).toBe(true)
    // Twenty approvals in a domain reach 0.7, which promotes the agent.
    const { trust_level: level } = await system.call('cowork_check_trust', { domain: 'd7' })
    expect(level).toBe(0.8)
  })
}
