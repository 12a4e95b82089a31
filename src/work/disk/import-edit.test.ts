import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../../test/ledger.ts'
import { workMigrations } from '../migrations.ts'
import type { WorkIndex } from '../model.ts'
import {
  idsOf,
  item,
  openPlan as openPlanIn,
  said,
  storiesOf,
  story,
} from '../../../test/work/edited-plan.fixture.ts'
import { titled, withStories, without } from '../../../test/work/edited-plan.fixture.ts'

let ledger: Awaited<ReturnType<typeof openTestLedger>>
const openPlan = () => openPlanIn(ledger.db)
beforeAll(async () => {
  ledger = await openTestLedger(workMigrations)
})
afterAll(() => ledger.close())

test('W5 a person deletes the story that an agent has just added, alone or with another edit', async () => {
  for (const edit of [(index: WorkIndex) => index, titled('STORY-1', 'Mine')]) {
    const plan = await openPlan()
    await plan.agent('story', 'STORY-3', story('STORY-3'))
    const text = edit(without('STORY-3')(await plan.file()))
    expect(await plan.save(text)).toEqual([])
    expect(said(await plan.now())).toEqual(said(text))
  }
})

test('W5 a person gives the newest story another id', async () => {
  const plan = await openPlan()
  await plan.agent('story', 'STORY-3', story('STORY-3'))
  const text = withStories(await plan.file(), (list) =>
    list.map((one) => (one.id === 'STORY-3' ? { ...one, id: 'pay-first' } : one)),
  )
  expect(await plan.save(text)).toEqual([])
  expect(idsOf(await plan.now())).toEqual(['STORY-1', 'STORY-2', 'pay-first', 'later', 'never'])
})

test('W5 a person undoes what they deleted and what they wrote, with another edit', async () => {
  const plan = await openPlan()
  await plan.agent('story', 'STORY-1', { notes: 'by an agent' })
  const whole = await plan.file()
  await plan.save(without('STORY-2')(titled('STORY-1', 'Other')(whole)))
  await plan.file()
  const text = { ...whole, backlog: [...whole.backlog, item('more')] }
  expect(await plan.save(text)).toEqual([])
  expect(said(await plan.now())).toEqual(said(text))
})

test('W5 a person deletes a backlog item of an agent: told where it may never have been seen, then followed', async () => {
  const plan = await openPlan()
  await plan.agent('backlog', 'spam', item('spam'))
  const told = await plan.save(titled('STORY-1', 'Mine')(without('spam')(await plan.file())))
  expect(told).toMatchObject([{ kind: 'possible_revert', items: ['spam'] }])
  expect(idsOf(await plan.now())).toContain('spam')
  expect(await plan.save(without('spam')(await plan.file()))).toEqual([])
  expect(idsOf(await plan.now())).not.toContain('spam')
})

test('W5 a person puts back what an agent removed: told where they may not know that, then followed', async () => {
  const plan = await openPlan()
  await plan.agent('backlog', 'later')
  const back = (index: WorkIndex) => ({ ...index, backlog: [...index.backlog, item('later')] })
  const told = await plan.save(titled('STORY-1', 'Mine')(back(await plan.file())))
  expect(told).toMatchObject([{ kind: 'possible_revert', items: ['later'] }])
  expect(await plan.save(back(await plan.file()))).toEqual([])
  expect(idsOf(await plan.now())).toContain('later')
})

test('W5 a person deletes a conflict: it is gone', async () => {
  const plan = await openPlan()
  const old = await plan.file()
  await plan.agent('story', 'STORY-1', { title: 'Agent' })
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'Person')(old))).toHaveLength(1)
  const text = { ...(await plan.file()), conflicts: [] }
  expect(await plan.save(text)).toEqual([])
  expect((await plan.now()).conflicts).toEqual([])
})

test('W5 an editor that never loads again is told once what it may have deleted', async () => {
  const plan = await openPlan()
  const old = await plan.file()
  await plan.agent('backlog', 'new', item('new'))
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'First')(old))).toHaveLength(1)
  await plan.file()
  expect(await plan.save(titled('STORY-1', 'Second')(old))).toEqual([])
  const now = await plan.now()
  expect(idsOf(now)).toContain('new')
  expect(storiesOf(now)[0]?.title).toBe('Second')
})
