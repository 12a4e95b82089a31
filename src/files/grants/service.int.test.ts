import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { createMigratedDatabase } from '../../../test/databases.ts'
import { postgresStore } from '../../../test/governed.ts'
import { grantsContract } from '../../../test/grants.ts'
import { createWorld } from '../../../test/granted.ts'

const newStore = async () => postgresStore(await createMigratedDatabase(inject('postgresUrl')))

grantsContract(newStore)

test('GR1 what a person decides at another daemon is in force here, and only on the disk it is about', async () => {
  const { start, docs } = await createWorld(await newStore())
  const here = await start({}, 'here')
  const there = await start({}, 'there')
  const asked = await here.ask(docs, here.sales)
  expect(await there.allow(asked['request_id'], 'folder')).toMatchObject({ status: 'approved' })
  expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'granted' })
  expect(here.grants.decide(here.sales, docs, 'read').grant).toBeDefined()
  await there.grants.refresh()
  expect(there.grants.listActive()).toEqual([])
  expect(await there.listed(anna)).toMatchObject([{ path: docs, node: 'here' }])
})

test('GR4 what another daemon revokes ends here when its entry is followed', async () => {
  const { start, docs } = await createWorld(await newStore())
  const here = await start({}, 'here')
  const there = await start({}, 'there')
  const added = await here.add(join(docs, 'Work'))
  const ended: string[] = []
  here.grants.onChange((change) => void ended.push(...change.ended))
  // As app.ts follows entries about grants.
  const unfollow = here.db.onAppend(() => void here.grants.refresh())
  await there.revoke(added['id'])
  await expect.poll(() => ended).toEqual([added['id']])
  unfollow()
})
