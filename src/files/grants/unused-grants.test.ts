import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'

const day = 24 * 60 * 60 * 1000

test('GR7 an offer goes when the grant was used after all, or has ended', async () => {
  const { start, docs, move } = await createWorld(sqliteStore())
  const here = await start()
  const used = await here.add(docs)
  const revoked = await here.add(join(docs, 'Work'))
  const unused = await here.add(join(docs, 'report.txt'))
  const waiting = async () =>
    (
      await here.governance.inbox.list(anna, { status: 'pending', kind: 'finding', limit: 10 })
    ).items.map(({ target }) => target)
  move(61 * day)
  await here.grants.cleanUp()
  expect(await waiting()).toHaveLength(3)
  here.grants.recordUse(String(used['id']))
  await here.revoke(revoked['id'])
  await here.grants.cleanUp()
  expect(await waiting()).toEqual([unused['path']])
  const dropped = await here.entries(['approval.withdrawn'])
  expect(dropped.map(({ actor }) => actor.kind)).toEqual(['system', 'system'])
  // The next silence is a question of its own.
  move(61 * day)
  await here.grants.cleanUp()
  expect(await waiting()).toContain(docs)
})
