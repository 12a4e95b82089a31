import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anna, createWorld, parsed, sales, findStory, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'
import type { HistoryEntry } from '../../src/work/model.ts'

const project = 'shop'

/** Contract of the work flow, on both engines. */
export function flowContract(engine: Engine) {
  describe(`work flow on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', title: 'A story', ...more })).story.id
    const claim = (story_id: string, caller = sales, more: object = {}, at = desk) =>
      at.ask('claim', { project, story_id, ...more }, caller)
    const story = async (story_id: string) => (await ask('get', { project, story_id })).story
    const history = async () =>
      (await ask('history', { project }))['history'] as readonly HistoryEntry[]

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      await ask('register_project', { project })
      for (const sprint_id of ['one', 'two', 'three'])
        await ask('create_sprint', { project, sprint_id, status: 'active' })
    })
    afterAll(() => desk.stop())

    describe('finishing', () => {
      test('W16 finishing changes story and history in one step, and is refused while another agent has the claim', async () => {
        const id = await add({ title: 'Pin the actions' })
        await claim(id)
        const done = (caller = sales, more: object = {}) =>
          ask('done', { project, story_id: id, ...more }, caller)
        const before = (await history()).length
        await expect(done(support)).rejects.toMatchObject({ code: 'lease_held' })
        expect((await history()).length).toBe(before)
        const seq = (await desk.work.snapshots.current(project)).seq
        const { story: ended, ...rest } = await done(sales, { notes: 'All pinned' })
        expect(ended).toMatchObject({ status: 'done', notes: 'All pinned' })
        expect(ended).not.toHaveProperty('lease')
        expect(rest['history']).toMatchObject({
          summary: `Completed ${id}: Pin the actions`,
          kind: 'done',
          ref: id,
          by: 'sales',
          related_sprints: ['one'],
        })
        expect((await history())[0]).toEqual(rest['history'])
        expect((await desk.work.snapshots.current(project)).seq).toBe(seq + 2)
        await expect(done()).rejects.toMatchObject({ code: 'already_done' })
      })

      test('W13 completing a sprint carries its open stories or is refused', async () => {
        await ask('create_sprint', { project, sprint_id: 'ending', status: 'active' })
        const [open, held, closed] = [
          await add({ sprint_id: 'ending' }),
          await add({ sprint_id: 'ending' }),
          await add({ sprint_id: 'ending', status: 'done' }),
        ]
        await claim(held, support)
        const end = (more: object = {}) =>
          ask('update_sprint', { project, sprint_id: 'ending', status: 'completed', ...more })
        await expect(end()).rejects.toMatchObject({
          code: 'open_stories',
          details: { stories: [open, held] },
        })
        await expect(end({ carry_to: 'ending' })).rejects.toMatchObject({ code: 'invalid_input' })
        await expect(end({ carry_to: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' })
        const { sprint, carried } = await end({ carry_to: 'two' })
        expect(sprint).toMatchObject({ id: 'ending', status: 'completed' })
        expect(carried).toEqual([open, held])
        for (const [id, of] of [
          [open, 'two'],
          [held, 'two'],
          [closed, 'ending'],
        ] as const)
          expect((await story(id)).sprint_id).toBe(of)
        // The claim stays.
        expect((await story(held)).lease?.agent).toBe('support')
        const index = parsed(await desk.text(project))
        const stories = index.sprints.find(({ id }) => id === 'two')?.stories ?? []
        expect(stories.map(({ id }) => id)).toEqual(expect.arrayContaining([open, held]))
      })

      test('W13 W25 an archived sprint is in COMPLETE/ and its story numbers are not reused', async () => {
        await ask('create_sprint', { project, sprint_id: 'old', status: 'active' })
        const id = await add({ sprint_id: 'old', status: 'done' })
        await ask('update_sprint', { project, sprint_id: 'old', archive: true })
        const index = parsed(await desk.text(project))
        expect(index.sprints.map((sprint) => sprint.id)).not.toContain('old')
        expect(findStory(index, id)).toBeUndefined()
        await expect(story(id)).rejects.toMatchObject({ code: 'not_found' })
        const numberOf = (one: string) => Number(one.split('-')[1])
        expect(numberOf(await add())).toBe(numberOf(id) + 1)
      })
    })

    describe('progress', () => {
      test('W20 a story moves to another sprint, not to its own', async () => {
        const id = await add()
        const move = (sprint_id: string, more: object = { story_id: id }) =>
          ask('move', { project, sprint_id, ...more })
        expect((await move('two')).story).toMatchObject({ id, sprint_id: 'two', rev: 2 })
        expect((await story(id)).sprint_id).toBe('two')
        await expect(move('two')).rejects.toMatchObject({ code: 'invalid_input' })
        await expect(move('nowhere')).rejects.toMatchObject({ code: 'not_found' })
        await expect(move('one', {})).rejects.toMatchObject({ code: 'invalid_input' })
        await expect(move('one', { story_id: id, item_id: 'x' })).rejects.toMatchObject({
          code: 'invalid_input',
        })
        await claim(id, support)
        await expect(move('one')).rejects.toMatchObject({ code: 'lease_held' })
      })

      test('W20 a backlog item becomes a story once and is done with the story', async () => {
        const { item } = await ask('add_backlog', {
          project,
          summary: 'Grow up',
          priority: 'high',
          theme: 'growth',
        })
        const promote = () => ask('move', { project, item_id: item['id'], sprint_id: 'one' })
        const { story: made } = await promote()
        expect(made).toMatchObject({
          title: 'Grow up',
          priority: 'high',
          status: 'planned',
          from_backlog: item['id'],
        })
        await expect(promote()).rejects.toMatchObject({ code: 'duplicate_id' })
        const shown = async () => (await ask('get', { project, item_id: item['id'] })).item
        expect(await shown()).toMatchObject({ promoted_to: made.id, status: 'in_progress' })
        await ask('done', { project, story_id: made.id })
        expect(await shown()).toMatchObject({ status: 'done', theme: 'growth' })
      })

      test('W12 only the given fields of a backlog item change, and it can be removed', async () => {
        const { item } = await ask('add_backlog', {
          project,
          summary: 'Small',
          theme: 'a',
          related_sprints: ['one'],
        })
        const of = { project, item_id: item['id'] }
        const { item: changed } = await ask('update_backlog', { ...of, status: 'in_progress' })
        expect(changed).toEqual({
          ...item,
          status: 'in_progress',
          rev: 2,
          updated: changed['updated'],
        })
        await expect(ask('update_backlog', of)).rejects.toMatchObject({ code: 'invalid_input' })
        expect((await ask('remove_backlog', of))['removed']).toEqual(changed)
        await expect(ask('remove_backlog', of)).rejects.toMatchObject({ code: 'not_found' })
        const entry = (await desk.entries()).findLast(({ type }) => type === 'work.removed')
        expect(entry?.data).toMatchObject({ removed: { summary: 'Small' } })
      })

      test('W15 notes are replaced or appended', async () => {
        const id = await add()
        const notes = async (more: object) =>
          (await ask('update_story', { project, story_id: id, ...more })).story.notes
        expect(await notes({ append_notes: 'a' })).toBe('a')
        expect(await notes({ append_notes: 'b' })).toBe('a\nb')
        expect(await notes({ notes: 'c\n' })).toBe('c\n')
        expect(await notes({ append_notes: 'd' })).toBe('c\nd')
        const fields = {
          status: 'in_review',
          priority: 'urgent',
          estimate: 3,
          acceptance: [{ text: 'It runs', done: true }, { text: 'It ends' }],
          paths: ['src/**'],
        }
        const { story: changed } = await ask('update_story', { project, story_id: id, ...fields })
        expect(changed).toMatchObject({ ...fields, notes: 'c\nd', title: 'A story' })
      })

      test('W20 any agent can comment, even while another has the claim', async () => {
        const id = await add()
        await claim(id)
        const say = (text: string, caller: typeof sales, of: object = { story_id: id }) =>
          ask('comment', { project, text, ...of }, caller)
        await say('first', support)
        expect(await say('second', anna)).toEqual({ id, comments: 2 })
        expect((await story(id)).comments).toMatchObject([
          { by: 'support', text: 'first' },
          { by: 'anna', text: 'second' },
        ])
        const { item } = await ask('add_backlog', { project, summary: 'Talked about' })
        expect(await say('third', sales, { item_id: item['id'] })).toMatchObject({ comments: 1 })
        await expect(say('x', sales, {})).rejects.toMatchObject({ code: 'invalid_input' })
      })
    })
  })
}
