import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import {
  anna,
  approve,
  check,
  decide,
  override,
  propose,
  proposed,
  fetchTrust,
} from '../../test/acts.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { movableClock, openGoverned, postgresStore } from '../../test/governed.ts'
import type { Governed, Said } from '../../test/governed.ts'

const { tool, runs } = actingTool('server', 'write')
const clock = movableClock()
let daemons: [Governed, Governed]
beforeAll(async () => {
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const settings = { 'authority.volume_cap': 20 }
  const start = () => openGoverned(settings, { tools: [tool] }, store, clock)
  daemons = [await start(), await start()]
})
afterAll(() => Promise.all(daemons.map((daemon) => daemon.close())))

/** Makes concurrent calls, alternating between the daemons. */
const atBoth = (count: number, act: (daemon: Governed, place: number) => Promise<Said>) =>
  Promise.all(Array.from({ length: count }, (_, i) => act(daemons[i % 2 === 0 ? 0 : 1], i)))

test('V2 two daemons share one cap, and count each proposal once', async () => {
  const result = await atBoth(30, (daemon) => propose(daemon, { domain: 'cap' }))
  const left = result.flatMap(({ volume_remaining: n, fault }) => (fault ? [] : [Number(n)]))
  expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i))
  const refused = result.filter(({ fault }) => fault !== undefined)
  expect(new Set(refused.map(({ fault }) => fault))).toEqual(new Set(['VOLUME_CAP_EXCEEDED']))
})

test('V1 the same applies to pending calls', async () => {
  const replies = await atBoth(30, (daemon, i) => daemon.call('server_write', { path: `/${i}` }))
  const faults = replies.map(({ fault }) => fault)
  expect(faults.filter((fault) => fault === 'approval_required')).toHaveLength(20)
  expect(faults.filter((fault) => fault === 'VOLUME_CAP_EXCEEDED')).toHaveLength(10)
})

test('Y10 RS5 a domain stored by one daemon is known at the other', async () => {
  expect(await propose(daemons[1], { domain: 'before' })).not.toHaveProperty('fault')
  expect(await propose(daemons[0], { domain: 'crm.deals' })).not.toHaveProperty('fault')
  expect(await propose(daemons[1], { domain: 'CRM.deals' })).toMatchObject({
    fault: 'invalid_domain',
  })
})

test('P6 one key used at both daemons is one proposal', async () => {
  for (let round = 0; round < 10; round++) {
    const more = { domain: 'key', idempotency_key: `k${round}` }
    const replies = await atBoth(2, (daemon) => propose(daemon, more))
    expect(new Set(replies.map(({ proposal_id: id }) => id)).size).toBe(1)
    expect(replies[0]).toHaveProperty('proposal_id')
  }
})

test('T10 concurrent first actions in a domain are not lost', async () => {
  for (let round = 0; round < 10; round++) {
    const domain = `first.${round}`
    await atBoth(4, (daemon, i) =>
      i % 4 === 0 ? propose(daemon, { domain }) : override(daemon, 'edge_case', { domain }),
    )
    expect(await fetchTrust(daemons[0], domain)).toMatchObject({ overrides: 3, trust_level: 0.14 })
  }
})

test('T10 decisions at both daemons add up', async () => {
  const ids: string[] = []
  for (let i = 0; i < 16; i++) ids.push(await proposed(daemons[0], { domain: 'sum' }))
  const replies = await atBoth(16, (daemon, i) => approve(daemon, ids[i] ?? ''))
  const levels = replies.map(({ trust_level: level }) => Number(level))
  expect(levels.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 16 }, (_, i) => Math.round(3200 + 200 * i) / 10_000),
  )
  expect(await fetchTrust(daemons[1], 'sum')).toMatchObject({ approvals: 16, trust_level: 0.62 })
})

test('A15, Y8 a call allowed once runs once, and one allowed N times runs N times', async () => {
  const [first] = daemons
  clock.move(61 * 60_000)
  const call = (daemon: Governed, path: string) => daemon.call('server_write', { path })
  const ask = async (path: string, more: object = {}) => {
    const { approval_id: id } = await call(first, path)
    await decide(first, [String(id)], more, anna)
    await check(first, id, { wait_seconds: 25 })
  }
  runs.length = 0
  await ask('/once')
  for (const reply of await atBoth(6, (daemon) => call(daemon, '/once')))
    expect(reply).toMatchObject({ done: '/once' })
  expect(runs).toHaveLength(1)
  await ask('/uses', { allow: { for: 'uses', uses: 3 } })
  for (let round = 0; round < 6; round++) await atBoth(4, (to) => call(to, '/uses'))
  expect(runs).toHaveLength(5)
})
