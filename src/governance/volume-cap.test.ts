import { describe, expect, test } from 'vitest'
import { anna, propose, support } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const minute = 60_000
const exceeded = {
  fault: 'VOLUME_CAP_EXCEEDED',
  volume_cap_error: true,
  message: expect.stringMatching(/^VolumeCapError: sales has made \d+ proposals in crm/),
}

async function proposeMany(to: Governed, count: number, more: object = {}) {
  const result = []
  for (let i = 0; i < count; i++) result.push(await propose(to, more))
  return result
}

describe('the volume cap', () => {
  test('V1 the 51st proposal within an hour is refused and stores nothing', async () => {
    const system = await governed()
    for (const reply of await proposeMany(system, 50)) expect(reply).not.toHaveProperty('fault')
    expect(await propose(system)).toMatchObject({ ...exceeded, volume_remaining: 0 })
    expect(await system.rows('approval')).toHaveLength(50)
    const refused = await system.entries(['call.refused'])
    expect(refused.map(({ outcome }) => outcome)).toEqual(['VOLUME_CAP_EXCEEDED'])
  })

  test('V1 the window is rolling: each proposal leaves it after an hour', async () => {
    const system = await governed({ 'authority.volume_cap': 3 })
    for (const _ of [1, 2, 3]) {
      await propose(system)
      system.move(20 * minute - 1000)
    }
    const reply = await propose(system)
    expect(reply).toMatchObject(exceeded)
    expect(reply['retry_after_seconds']).toBeLessThanOrEqual(3)
    expect(reply['retry_after_seconds']).toBeGreaterThan(0)
    system.move(4000)
    expect(await propose(system)).toMatchObject({ volume_remaining: 0 })
    expect(await propose(system)).toMatchObject(exceeded)
    system.move(20 * minute)
    expect(await propose(system)).not.toHaveProperty('fault')
  })

  test('V1 domains and agents are independent of each other', async () => {
    const system = await governed({ 'authority.volume_cap': 1 })
    await propose(system)
    expect(await propose(system)).toMatchObject(exceeded)
    expect(await propose(system, { domain: 'hr' })).toMatchObject({ volume_remaining: 0 })
    expect(await propose(system, {}, support)).toMatchObject({ volume_remaining: 0 })
  })

  test('V1 0 means no cap', async () => {
    const system = await governed({ 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 })
    for (const reply of await proposeMany(system, 60))
      expect(reply).toMatchObject({ volume_cap: 0, volume_remaining: null })
  })

  test('V2 the remaining count follows each insert, also for concurrent ones', async () => {
    const system = await governed()
    const replies = await Promise.all(Array.from({ length: 52 }, () => propose(system)))
    const left = replies.flatMap((one) => one['volume_remaining'] ?? [])
    expect(left.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
    expect(replies.filter((one) => one['fault'] !== undefined)).toHaveLength(2)
  })

  test('V2 decisions and blocked proposals do not count', async () => {
    const system = await governed({
      'authority.volume_cap': 3,
      policies: [{ id: 'p', rules: [{ field: 'id', constraint: 'readonly' }] }],
      mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'p' }],
    })
    const { proposal_id: id } = await propose(system)
    const about = { agent_id: 'sales', domain: 'crm', action_description: 'it', description: 'no' }
    const overridden = { ...about, override_type: 'edge_case' }
    await system.call('cowork_override', overridden, anna)
    await system.call('cowork_override', { ...overridden, proposal_id: id }, anna)
    expect(await propose(system, { proposed_change: { id: 7 } })).toMatchObject({ blocked: true })
    expect(await propose(system, { domain: 'hr' })).toMatchObject({ blocked: true })
    expect(await propose(system)).toMatchObject({ volume_remaining: 1 })
  })

  test('T9 a proposal refused by the cap does not make an agent active', async () => {
    const system = await governed({ 'authority.volume_cap': 1 })
    await propose(system)
    const [before] = await system.rows('trust')
    system.move(30 * minute)
    expect(await propose(system)).toMatchObject(exceeded)
    expect(await system.rows('trust')).toEqual([before])
  })
})
