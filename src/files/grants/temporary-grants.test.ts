import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toActor } from '#base/caller.ts'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'
import type { Daemon } from '../../../test/granted.ts'
import type { Pin } from '../rules/choices.ts'
import { pinPath } from './pin.ts'

/** A call that has the file until it is told to be done; answers which grant opens it in the end. */
function using(here: Daemon, id: string, file: string, need: 'read' | 'write') {
  const has = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const ended = here.grants.withTemporaryGrant({ id, caller: anna }, file, need, async (path) => {
    has.resolve()
    await done.promise
    return here.grants.decide(anna, path, need).grant?.id
  })
  return { has: has.promise, ended, finish: () => (done.resolve(), ended) }
}

test('TR3 what is lent to several calls is open until the last of them is done', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  const file = join(docs, 'report.txt')
  const one = using(here, 'call_1', file, 'read')
  await one.has
  const two = using(here, 'call_2', file, 'read')
  await two.has
  const [loan] = here.grants.listActive()
  expect(await one.finish()).toBe(loan?.id)
  expect(here.grants.listActive()).toEqual([loan])
  const three = using(here, 'call_3', file, 'read')
  await three.has
  expect(await two.finish()).toBe(loan?.id)
  expect(await three.finish()).toBe(loan?.id)
  expect(here.grants.listActive()).toEqual([])
  expect(await here.entries(['grant.made'])).toHaveLength(1)
  expect(await here.entries(['grant.revoked'])).toMatchObject([
    { ids: { grant: loan?.id, call: 'call_3' }, data: { reason: 'done' } },
  ])
})

test('TR3 who needs more of a file than is lent comes after that, and takes it from nobody', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  const file = join(docs, 'report.txt')
  const reading = using(here, 'call_1', file, 'read')
  await reading.has
  const writing = using(here, 'call_2', file, 'write')
  const [loan] = here.grants.listActive()
  expect(await reading.finish()).toBe(loan?.id)
  await writing.has
  const reader = using(here, 'call_3', file, 'read')
  await reader.has
  const [other] = here.grants.listActive()
  expect(await writing.finish()).toBe(other?.id)
  expect(await reader.finish()).toBe(other?.id)
  expect(here.grants.listActive()).toEqual([])
})

test('TR3 calls that come while it ends, or all at once, have it open', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  const file = join(docs, 'report.txt')
  const calls = Array.from({ length: 20 }, async (_, n) => {
    for (let turn = 0; turn < n % 5; turn++) await new Promise(setImmediate)
    const call = using(here, `call_${n}`, file, n % 3 === 0 ? 'write' : 'read')
    await call.has
    return call.finish()
  })
  for (const id of await Promise.all(calls)) expect(id).toMatch(/^grant_/)
  expect(here.grants.listActive()).toEqual([])
})

test('TR3 GR6 what is denied to all is lent to nobody, and to the next once it is not', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const here = await start()
  const file = join(docs, 'report.txt')
  const pin = (await pinPath(file)) as Pin
  const denial = { agent: '*', permission: 'deny', scope: 'permanent' } as const
  const by = { grantedBy: 'user_explicit', actor: toActor(anna) } as const
  const { id } = await here.db.transact((tx) => here.grants.make(tx, { ...pin, ...denial, ...by }))
  await here.grants.refresh()
  for (const call of ['call_1', 'call_2'])
    await expect(using(here, call, file, 'read').finish()).rejects.toMatchObject({
      code: 'denied_above',
    })
  await here.revoke(id)
  expect(await using(here, 'call_3', file, 'read').finish()).toMatch(/^grant_/)
})
