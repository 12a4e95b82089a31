import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createWorld,
  parsed,
  sqliteEngine,
  findStory,
  support,
} from '../../test/work/work.fixture.ts'
import type { Desk, World } from '../../test/work/work.fixture.ts'

let world: World
let desk: Desk
let project = ''
let count = 0
const ask: Desk['ask'] = (...args) => desk.ask(...args)
const conflicts = async () => (await desk.work.snapshots.current(project)).conflicts()
const path = () => join(world.root, 'projects', project, 'work-index.yaml')

beforeAll(async () => {
  world = await createWorld(sqliteEngine)
  desk = await world.start()
})
beforeEach(async () => {
  project = `p${++count}`
  await ask('register_project', { project })
  await ask('create_sprint', { project, sprint_id: 'one', status: 'active' })
  for (const title of ['First', 'Second'])
    await ask('add_story', { project, sprint_id: 'one', title })
})
afterAll(() => desk.stop())

/** Restores an old version over changes of agents; returns the conflict. */
async function restoreOldVersion() {
  const old = await desk.text(project)
  await ask('update_story', { project, story_id: 'STORY-1', title: 'By an agent' })
  await ask('add_backlog', { project, summary: 'Extra' })
  await desk.text(project)
  desk.edit(project, () => old, old)
  await ask('status', { project })
  const [conflict, ...more] = await conflicts()
  expect(more).toEqual([])
  expect(conflict).toMatchObject({ kind: 'possible_revert' })
  return conflict?.id
}

test('W5 an old version can be applied later, and changes since its restore stay', async () => {
  const conflict_id = await restoreOldVersion()
  expect((await ask('get', { project, story_id: 'STORY-1' })).story.title).toBe('By an agent')
  await ask('update_story', { project, story_id: 'STORY-2', notes: 'later' })
  await ask('resolve', { project, conflict_id, take: 'theirs' })
  const index = parsed(await desk.text(project))
  expect(findStory(index, 'STORY-1')).toMatchObject({ title: 'First', rev: 3, by: 'sales' })
  expect(findStory(index, 'STORY-2')?.notes).toBe('later')
  expect(index).toMatchObject({ backlog: [], conflicts: [] })
})

test('W5 W16 an old version is refused while another agent has claimed a story that it changes', async () => {
  const conflict_id = await restoreOldVersion()
  await ask('claim', { project, story_id: 'STORY-1' })
  const take = { project, conflict_id, take: 'theirs' }
  await expect(ask('resolve', take, support)).rejects.toMatchObject({ code: 'lease_held' })
  expect(await conflicts()).toHaveLength(1)
})

test('W5 the copy of a conflict is read only from the copies folder', async () => {
  const conflict_id = await restoreOldVersion()
  const secret = join(world.root, 'projects', project, 'secret.yaml')
  writeFileSync(secret, 'version: 2\nsprints: []\n')
  const text = await desk.text(project)
  const copy = /copy: (\S+)/.exec(text)?.[1] ?? ''
  for (const name of ['.cowork/conflicts/../../secret.yaml', 'secret.yaml', secret]) {
    const before = await desk.text(project)
    desk.edit(project, () => before.replace(/copy: \S+/, `copy: ${name}`), before)
    await expect(ask('resolve', { project, conflict_id, take: 'theirs' })).rejects.toMatchObject({
      code: 'not_found',
    })
  }
  const before = await desk.text(project)
  desk.edit(project, () => before.replace(/copy: \S+/, `copy: ${copy}`), before)
  await ask('resolve', { project, conflict_id, take: 'theirs' })
  expect(await conflicts()).toEqual([])
})

test('W5 W6 an emptied file is not imported as a deletion of all items', async () => {
  const text = await desk.text(project)
  for (const left of ['# a header\n', 'version: 2\nsprints: []\nbacklog: []\n']) {
    desk.edit(project, () => left, text)
    expect(await ask('status', { project })).toMatchObject({ stale: [project] })
    await expect(ask('update_story', { project, story_id: 'STORY-1', notes: 'x' })).rejects.toThrow(
      'The file no longer has any of its 3 items',
    )
    expect(readFileSync(path(), 'utf8')).toBe(left)
    desk.edit(project, () => text, text)
    expect((await ask('get', { project, story_id: 'STORY-2' })).story.title).toBe('Second')
    expect(await desk.text(project)).toBe(text)
  }
})

test('W5 the only item of a work index can be deleted by hand', async () => {
  project = `p${++count}`
  await ask('register_project', { project })
  const empty = await desk.text(project)
  desk.edit(
    project,
    () => empty.replace(/backlog: \[\]/, 'backlog:\n  - {id: a, summary: A, status: todo}'),
    empty,
  )
  await ask('status', { project })
  desk.edit(project, () => empty, empty)
  await ask('status', { project })
  expect(parsed(await desk.text(project))).toMatchObject({ backlog: [], conflicts: [] })
})
