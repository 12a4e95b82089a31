import { join } from 'node:path'
import { expect, test } from 'vitest'
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
  // Whoever comes later under that name must not have what was asked for by another.
  expect(await here.allow(waiting, 'folder')).toMatchObject({ error: { code: 'agent_revoked' } })
  expect(await here.decide(waiting, { decision: 'reject' })).toMatchObject({ status: 'rejected' })
  await added(here)
  expect(await here.grants.decideNow(here.sales, work, 'write')).toEqual({
    code: 'read_only_grant',
  })
})
