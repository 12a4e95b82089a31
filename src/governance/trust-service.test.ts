import { describe, expect, test } from 'vitest'
import {
  anna,
  approve,
  earn,
  override,
  propose,
  proposed,
  support,
  trusted,
  fetchTrust,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Said } from '../../test/governed.ts'

const day = 24 * 60 * 60 * 1000

describe('trust', () => {
  test('T1, T2 it is stored per agent and domain and starts at 0.3 on the first read', async () => {
    const system = await governed()
    expect(await system.rows('trust')).toEqual([])
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.3, mode: 'escalate' })
    expect(await system.rows('trust')).toMatchObject([{ agent: 'sales', domain: 'crm' }])
    expect(await system.entries(['trust.created'])).toHaveLength(1)
    await fetchTrust(system)
    expect(await system.entries(['trust.created'])).toHaveLength(1)
    await earn(system, 2)
    const others = [await fetchTrust(system, 'hr'), await fetchTrust(system, 'anything at all')]
    for (const other of others) expect(other).toMatchObject({ trust_level: 0.3, approvals: 0 })
    expect(await fetchTrust(system)).toMatchObject({
      trust_level: 0.34,
      by_risk: { low: { to_go: 25 }, normal: { to_go: 23 }, high: { to_go: 25 } },
    })
  })

  test('T13 evidence is separate per risk class, the score is shared', async () => {
    const system = await governed()
    await approve(system, await proposed(system, { proposed_change: { deal_stage: 'won' } }))
    expect(await fetchTrust(system)).toMatchObject({
      trust_level: 0.32,
      by_risk: { normal: { to_go: 25 }, high: { to_go: 24 } },
    })
  })

  test('G5 it contains the counts of decisions and the idle time', async () => {
    const system = await governed()
    expect(await fetchTrust(system)).toMatchObject({ accuracy: null, override_rate: null })
    await earn(system, 3)
    await override(system, 'edge_case')
    await override(system, 'human_preference')
    await trusted(system, 0.8)
    system.move(10 * day)
    expect(await fetchTrust(system)).toMatchObject({
      trust_level: 0.7,
      mode: 'suggest',
      accuracy: 0.75,
      override_rate: 0.25,
      approvals: 3,
      overrides: 1,
      decay_days: 10,
      evidence_level: expect.any(Number),
      gated: false,
    })
  })

  test.each([
    ['under a cap', 50],
    ['without one', 0],
  ])('T9 a proposal within a day restarts the idle clock, %s', async (_, cap) => {
    const system = await governed({ 'authority.volume_cap': cap })
    await trusted(system, 0.8)
    for (const _ of [1, 2, 3]) {
      system.move(0.9 * day)
      expect(await propose(system)).toMatchObject({ trust_level: 0.8 })
    }
    system.move(0.9 * day)
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.8, decay_days: 0 })
    system.move(1.2 * day)
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.78, decay_days: 2 })
    expect(await propose(system)).toMatchObject({ trust_level: 0.78 })
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.78, decay_days: 0 })
    // A clock that moves back does not reduce activity.
    const before = await system.rows('trust')
    system.move(-60_000)
    await proposed(system)
    expect(await system.rows('trust')).toEqual(before)
  })

  test('T9 a proposal or an approval restarts the idle clock; an override does not', async () => {
    const system = await governed()
    await trusted(system, 0.8)
    await proposed(system)
    system.move(5 * day)
    await override(system, 'policy_change')
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.75, decay_days: 5 })
    await proposed(system)
    expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.75, decay_days: 0 })
    const later = await proposed(system)
    system.move(2 * day)
    expect(await approve(system, later)).toMatchObject({ trust_level: 0.75 })
    expect(await fetchTrust(system)).toMatchObject({ decay_days: 0 })
  })

  test('T16 a person sets a score with a reason; credit and strikes stay', async () => {
    const system = await governed()
    await earn(system, 3)
    await override(system, 'edge_case')
    const standingOf = async () => {
      const [row = {}] = (await system.rows('trust')) as Said[]
      return Object.entries(row).filter(([name]) => /_(credit|strikes|clean)$/.test(name))
    }
    const before = await standingOf()
    expect(await trusted(system, 0.75)).toEqual({
      agent_id: 'sales',
      domain: 'crm',
      from: 0.34,
      to: 0.75,
    })
    const after = await fetchTrust(system)
    expect(after).toMatchObject({ trust_level: 0.75, consecutive_overrides: 0, approvals: 3 })
    expect(await standingOf()).toEqual(before)
    expect(before).toContainEqual(['normal_credit', 3 - 13])
    const [entry] = await system.entries(['trust.set'])
    expect(entry).toMatchObject({
      actor: { id: 'anna' },
      subject: 'sales',
      data: { trust: { from: 0.34, to: 0.75 }, reason: 'known from before' },
    })
    const args = { agent_id: 'sales', domain: 'crm', score: 0.5 }
    for (const wrong of [args, { ...args, reason: '' }, { ...args, score: 1.1, reason: 'x' }])
      expect(await system.call('cowork_set_trust', wrong, anna)).toMatchObject({
        fault: 'invalid_input',
      })
    const own = { ...args, reason: 'I am good' }
    expect(await system.call('cowork_set_trust', own)).toMatchObject({ fault: 'human_required' })
  })

  test('T10 a decision that cannot be recorded changes no trust; concurrent ones all count', async () => {
    const system = await governed()
    const ids = await Promise.all(Array.from({ length: 10 }, () => proposed(system)))
    const before = await system.rows('trust')
    system.move(-10 * 60_000)
    expect(await approve(system, ids[0] ?? '')).toMatchObject({ fault: 'clock_went_back' })
    expect(await override(system, 'agent_wrong')).toMatchObject({ fault: 'clock_went_back' })
    system.move(10 * 60_000)
    expect(await system.rows('trust')).toEqual(before)
    expect(await system.rows('overrides')).toEqual([])
    await Promise.all(
      ids.map((id, i) => (i < 7 ? approve(system, id) : override(system, 'edge_case'))),
    )
    const result = await fetchTrust(system)
    expect(result).toMatchObject({ approvals: 7, overrides: 3 })
    const points = await system.rows('trust_point')
    expect(points).toHaveLength(10)
    expect(await system.entries(['approval.approved', 'override.recorded'])).toHaveLength(10)
  })

  test('L10 an agent can only query itself, people can query any agent', async () => {
    const system = await governed()
    await trusted(system, 0.9, 'support')
    const asked = { agent_id: 'support', domain: 'crm' }
    expect(await system.call('cowork_check_trust', asked)).toMatchObject({ agent_id: 'sales' })
    expect(await system.call('cowork_check_trust', asked, anna)).toMatchObject({
      agent_id: 'support',
      trust_level: 0.9,
    })
    expect(await system.call('cowork_check_trust', { domain: 'crm' }, anna)).toMatchObject({
      fault: 'invalid_input',
    })
    expect(await system.call('cowork_check_trust', asked, support)).toMatchObject({
      trust_level: 0.9,
    })
  })
})
