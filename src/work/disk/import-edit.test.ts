import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../../test/ledger.ts'
import { workMigrations } from '../migrations.ts'
import type { WorkIndex } from '../model.ts'
import {
  listIds,
  item,
  openPlan as openPlanIn,
  normalize,
  listStories,
  story,
} from '../../../test/work/edited-plan.fixture.ts'
import { titled, withStories, without } from '../../../test/work/edited-plan.fixture.ts'

let ledger: Awaited<ReturnType<typeof openTestLedger>>
const openPlan = () => openPlanIn(ledger.db)
beforeAll(async () => {
  ledger = await openTestLedger(workMigrations)
})
afterAll(() => ledger.close())

test('W5 a person can delete a story that an agent just added, alone or with another edit', async () => {
  for (const edit of [(index: WorkIndex) => index, titled('STORY-1', 'Mine')]) {
    const plan = await openPlan()
    await plan.agent('story', 'STORY-3', story('STORY-3'))
    const text = edit(without('STORY-3')(await plan.file()))
    expect(await plan.save(text)).toEqual([])
    expect(normalize(await plan.now())).toEqual(normalize(text))
  }
})

test('W5 a person can change the id of the newest story', async () => {
  const plan = await openPlan()
  await plan.agent('story', 'STORY-3', story('STORY-3'))
  const text = withStories(await plan.file(), (list) =>
    list.map((one) => (one.id === 'STORY-3' ? { ...one, id: 'pay-first' } : one)),
  )
  expect(await plan.save(text)).toEqual([])
  expect(listIds(await plan.now())).toEqual(['STORY-1', 'STORY-2', 'pay-first', 'later', 'never'])
})

test('W5 a person can undo a deletion and an edit, together with another edit', async () => {
  const plan = await openPlan()
  await plan.agent('story', 'STORY-1', { notes: 'by an agent' })
  const whole = await plan.file()
  await plan.save(without('STORY-2')(titled('STORY-1', 'Other')(whole)))
  await plan.file()
  const text = { ...whole, backlog: [...whole.backlog, item('more')] }
  expect(await plan.save(text)).toEqual([])
  expect(normalize(await plan.now())).toEqual(normalize(text))
})

test('W5 deleting a backlog item of an agent is a conflict if the person may not have seen it, then applied', async () => {
  const plan = await openPlan()
  await plan.agent('backlog', 'spam', item('spam'))
  const newConflicts = await plan.save(
    titled('STORY-1', 'Mine')(without('spam')(await plan.file())),
  )
  expect(newConflicts).toMatchObject([{ kind: 'possible_revert', items: ['spam'] }])
  expect(listIds(await plan.now())).toContain('spam')
  expect(await plan.save(without('spam')(await plan.file()))).toEqual([])
  expect(listIds(await plan.now())).not.toContain('spam')
})

test('W5 restoring an item that an agent removed is a conflict if the person may not know, then applied', async () => {
  const plan = await openPlan()
  await plan.agent('backlog', 'later')
  const back = (index: WorkIndex) => ({ ...index, backlog: [...index.backlog, item('later')] })
  const newConflicts = await plan.save(titled('STORY-1', 'Mine')(back(await plan.file())))
  expect(newConflicts).toMatchObject([{ kind: 'possible_revert', items: ['later'] }])
  expect(await plan.save(back(await plan.file()))).toEqual([])
  expect(listIds(await plan.now())).toContain('later')
})

test('W5 a person can delete a conflict', async () => {
  const plan = await openPlan()
  const old = await plan.file()
  await plan.agent('story', 'STORY-1', { title: 'Agent' })
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'Person')(old))).toHaveLength(1)
  const text = { ...(await plan.file()), conflicts: [] }
  expect(await plan.save(text)).toEqual([])
  expect((await plan.now()).conflicts).toEqual([])
})

test('W5 an editor that never reloads gets one conflict for a possible deletion', async () => {
  const plan = await openPlan()
  const old = await plan.file()
  await plan.agent('backlog', 'new', item('new'))
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'First')(old))).toHaveLength(1)
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'Second')(old))).toEqual([])
  const now = await plan.now()
  expect(listIds(now)).toContain('new')
  expect(listStories(now)[0]?.title).toBe('Second')
})
