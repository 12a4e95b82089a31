import { expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { actingTool } from '../../test/acting.ts'
import { anna, approve, proposed, propose, sales, trusted, fetchTrust } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed, Settings } from '../../test/governed.ts'

/** A caller with authentication off: as an agent, and as a decider of proposals (A3). */
const stranger: Caller = { ...sales, verified: false }
const nobody: Caller = { ...anna, id: 'unverified', role: 'reviewer', verified: false }

const waits = { fault: 'approval_required', status: 'pending' }
const gateOff = { 'trust.evidence_gate': false }

async function upstream(settings: Settings = {}) {
  const { tool } = actingTool('crm', 'write')
  const system = await governed(settings, { tools: [tool] })
  const write = (by: Caller) => system.call('crm_write', { path: '/a' }, by)
  return { ...system, write }
}

async function earned(to: Governed, count: number, by: Caller) {
  for (let n = 0; n < count; n++) await approve(to, await proposed(to, {}, stranger), {}, by)
}

test('T3 T11 an approval by an unverified caller changes the score and is not evidence', async () => {
  const system = await upstream()
  await earned(system, 26, nobody)
  expect(await fetchTrust(system)).toMatchObject({
    trust_level: 0.92,
    mode: 'suggest',
    gated: true,
    by_risk: { normal: { gated: true, to_go: 25 } },
  })
  expect(await propose(system, {}, stranger)).toMatchObject({ mode: 'suggest', gated: true })
  expect(await system.write(stranger)).toMatchObject(waits)
  // A later agent with the same name.
  expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
  expect(await system.write(sales)).toMatchObject(waits)
})

test('T11 T16 a score set by a person no longer vouches after an unverified caller changed it', async () => {
  const system = await upstream()
  await trusted(system, 0.78)
  await earned(system, 1, nobody)
  expect(await propose(system)).toMatchObject({ trust_level: 0.8, mode: 'suggest', gated: true })
  expect(await system.write(sales)).toMatchObject(waits)
  await trusted(system, 0.8)
  expect(await propose(system)).toMatchObject({ mode: 'act' })
  expect(await system.write(sales)).toEqual({ done: '/a' })
})

test('T11 without the gate, only proposals act by score while authentication is off', async () => {
  const system = await upstream(gateOff)
  await earned(system, 25, nobody)
  expect(await propose(system, {}, stranger)).toMatchObject({ mode: 'act' })
  expect(await system.call('cowork_check_trust', { domain: 'crm' }, stranger)).toMatchObject({
    mode: 'act',
  })
  expect(await system.write(stranger)).toMatchObject(waits)
  expect(await propose(system)).toMatchObject({ mode: 'suggest' })
  expect(await system.write(sales)).toMatchObject(waits)
})

test('T11 Y9 trust never allows a call of an unverified caller', async () => {
  const system = await upstream({ 'authority.default_mode': 'act', 'trust.default_level': 0.9 })
  await earned(system, 26, anna)
  expect(await propose(system, {}, stranger)).toMatchObject({ mode: 'act' })
  const asked = await system.write(stranger)
  expect(asked).toMatchObject(waits)
  const detail = await system.governance.inbox.detail(anna, String(asked['approval_id']))
  expect(detail?.why.text).toContain('the caller is unverified (authentication is off)')
  await trusted(system, 0.9)
  expect(await system.write(sales)).toEqual({ done: '/a' })
  const open = await upstream({
    ...gateOff,
    'trust.default_level': 0.9,
    'authority.default_mode': 'act',
  })
  expect(await open.write(stranger)).toMatchObject({ ...waits, mode: 'suggest' })
})

test('RM3 with authentication off, replies say that only reviews by people are evidence', async () => {
  const system = await upstream()
  const note = { evidence_note: 'evidence counts reviews by people only' }
  const first = await propose(system, {}, stranger)
  expect(first).not.toHaveProperty('evidence_note')
  expect(await approve(system, String(first['proposal_id']), {}, nobody)).toMatchObject(note)
  await earned(system, 25, nobody)
  expect(await propose(system, {}, stranger)).toMatchObject({ mode: 'suggest', ...note })
  expect(await fetchTrust(system)).toMatchObject(note)
  expect(await system.call('cowork_status', {}, stranger)).toMatchObject({ trust: [note] })
  expect(await approve(system, await proposed(system), {}, anna)).not.toHaveProperty(
    'evidence_note',
  )
})
