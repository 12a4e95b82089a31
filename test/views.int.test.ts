import { describe, expect, inject, test } from 'vitest'
import { anna, proposal } from './acts.ts'
import { createMigratedDatabase } from './databases.ts'
import { governed, postgresStore, sqliteStore } from './governed.ts'
import { handOver } from './handoffs.ts'

const stores = {
  sqlite: async () => sqliteStore(),
  postgres: async () => postgresStore(await createMigratedDatabase(inject('postgresUrl'))),
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test('SV9 the seven views are consistent and read-only', async () => {
    const system = await governed({}, {}, await stores[engine]())
    const { proposal_id: id } = await system.call('cowork_propose', proposal())
    await system.call('cowork_approve', { proposal_id: id }, anna)
    const done = { domain: 'crm', action: 'update_deal', target: 'deal-1', proposal_id: id }
    const logged = await system.call('cowork_log', done)
    await system.call('cowork_log', { ...done, actor: 'collaborative', phase: 'verify' })
    await system.call(
      'cowork_override',
      {
        agent_id: 'sales',
        domain: 'crm',
        action_description: 'update_deal',
        override_type: 'edge_case',
        description: 'Not this one.',
      },
      anna,
    )
    const handoff = await handOver(system)

    expect(await system.rows('proposals')).toMatchObject([
      { id, agent_id: 'sales', domain: 'crm', status: 'approved', decided_by: 'anna', auto: 0 },
    ])
    expect(await system.rows('trust_scores')).toMatchObject([
      { agent_id: 'sales', domain: 'crm', approvals: 1, overrides: 1, consecutive_overrides: 1 },
    ])
    expect(await system.rows('overrides')).toMatchObject([
      { agent_id: 'sales', override_type: 'edge_case', severity: 'medium', decided_by: 'anna' },
    ])
    expect(await system.rows('handoffs')).toMatchObject([{ id: handoff, agent_id: 'sales' }])
    const [entry] = await system.entries(['action.logged'])
    const action = {
      id: logged['action_id'],
      seq: entry?.seq,
      time: new Date(entry?.at ?? 0).toISOString(),
      agent_id: 'sales',
      domain: 'crm',
      action: 'update_deal',
      target: 'deal-1',
      actor: 'agent',
      phase: 'execute',
      proposal_id: id,
    }
    expect(await system.rows('actions ORDER BY seq')).toEqual([
      action,
      expect.objectContaining({ actor: 'collaborative', phase: 'verify', proposal_id: id }),
    ])
    const rows = (await system.rows('timeline')) as { type: string }[]
    expect(rows.filter(({ type }) => type === 'action.logged')).toHaveLength(2)
    expect(await system.rows('audit_log')).toContainEqual(
      expect.objectContaining({ operation: 'cowork_log', success: 1 }),
    )

    for (const view of ['proposals', 'trust_scores', 'actions', 'overrides', 'handoffs'])
      for (const sql of [`DELETE FROM ${view}`, `UPDATE ${view} SET agent_id = 'other'`])
        await expect(system.db.transact((tx) => tx.run({ sql, parameters: [] }))).rejects.toThrow(
          /view/,
        )
  })
})
