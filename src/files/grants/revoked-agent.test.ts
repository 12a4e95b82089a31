import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Decision } from '#approvals'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'
import type { Daemon } from '../../../test/granted.ts'

const by = { id: 'call-1', caller: anna }
const added = ({ db, identity }: Daemon) =>
  db.transact((tx) => identity.addAgent(tx, { id: 'sales' }, by))
const revoked = ({ db, identity }: Daemon) =>
  db.transact((tx) => identity.revokeAgent(tx, { id: 'sales' }, by))

test('GR1 I4 the grants of an agent end with it, its denials do not, nor what others have', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const elsewhere = await start({}, 'elsewhere')
  const { id: far } = await elsewhere.add(docs, 'read', { agent: 'sales' })
  await elsewhere.stop()
  const here = await start()
  await added(here)
  await here.db.transact((tx) => here.identity.addAgent(tx, { id: 'support' }, by))
  const work = join(docs, 'Work')
  const { id: own } = await here.add(docs, 'read-write', { agent: 'sales' })
  const { id: all } = await here.add(docs, 'read')
  const { id: other } = await here.add(docs, 'read', { agent: 'support' })
  const { request_id: asked } = await here.ask(join(docs, '..', 'Music'), here.sales)
  await here.decide(asked, { decision: 'reject', grant: { choice: 'deny_always' } })
  const { request_id: waiting } = await here.ask(join(docs, '..'), here.sales)
  await revoked(here)
  const ended = await here.entries(['grant.revoked'])
  expect(ended.map(({ ids }) => String(ids?.['grant'])).toSorted()).toEqual(
    [String(own), String(far)].toSorted(),
  )
  for (const one of ended)
    expect(one).toMatchObject({
      actor: { id: anna.id },
      ids: { call: by.id },
      data: { agent_id: 'sales', reason: 'agent_revoked' },
    })
  const left = await here.grants.list()
  expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining([all, other]))
  expect(left.filter(({ agent }) => agent === 'sales')).toMatchObject([{ permission: 'deny' }])
  expect(await here.entries(['approval.withdrawn'])).toMatchObject([
    { actor: { id: anna.id }, ids: { approval: waiting, call: by.id } },
  ])
  await added(here)
  expect(await here.grants.decideNow(here.sales, work, 'write')).toEqual({
    code: 'read_only_grant',
  })
})

test('GR1 GR3 what a revoked agent asked for is given to nobody who has its name later', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  await added(here)
  const { request_id: asked } = await here.ask(docs, here.sales)
  const { request_id: second } = await here.ask(join(docs, 'report.txt'), here.sales)
  const [held] = (await here.governance.approvals.list({ limit: 1 })) ?? []
  const decision = { verdict: 'approve', by: { kind: 'human', id: anna.id }, channel: 'console' }
  await here.db.transact((tx) =>
    here.governance.approvals.deferDecision(tx, String(held?.id), decision as Decision, by),
  )
  expect(held?.id).toBe(second)
  await revoked(here)
  await added(here)
  for (const id of [asked, second]) {
    expect(await here.allow(id, 'folder')).toMatchObject({ status: 'error' })
    expect(await here.governance.approvals.get(String(id))).toMatchObject({ status: 'withdrawn' })
  }
  expect(await here.grants.list()).toEqual([])
})

test('GR1 I4 a revoked agent is given nothing: who has its name later would have it', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  await added(here)
  await revoked(here)
  expect(await here.add(docs, 'read', { agent: 'sales' })).toMatchObject({ fault: 'agent_revoked' })
  await added(here)
  expect(await here.add(docs, 'read', { agent: 'sales' })).toMatchObject({ agent: 'sales' })
})

test('GR3 I4 whoever has the name of one without a token has none of its requests', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  const { request_id: first } = await here.ask(docs, here.sales)
  const later = { ...here.sales, since: Date.now() + 60_000 }
  const { request_id: second } = await here.ask(docs, later)
  expect(second).not.toBe(first)
  expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'pending' })
})
