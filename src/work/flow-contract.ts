import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsed, storyIn } from '../../test/work.ts'
import { anna, createWorld, sales, support } from './fixture.ts'
import type { Desk, Engine, World } from './fixture.ts'
import type { HistoryEntry } from './model.ts'

const project = 'shop'
const minute = 60_000

/** How work goes from hand to hand, on both engines. */
export function flowContract(engine: Engine) {
  describe(`the flow of work on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    let other: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', title: 'A story', ...more })).story.id
    const claim = (story_id: string, caller = sales, more: object = {}, at = desk) =>
      at.ask('claim', { project, story_id, ...more }, caller)
    const story = async (story_id: string) => (await ask('get', { project, story_id })).story
    const history = async () =>
      (await ask('history', { project }))['history'] as readonly HistoryEntry[]
    const ready = async () =>
      ((await ask('ready', { project, limit: 1000 }))['stories'] as { id: string }[]).map(
        ({ id }) => id,
      )

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      other = engine.dialect === 'postgres' ? await world.start() : desk
      await ask('register_project', { project })
      for (const sprint_id of ['one', 'two', 'three'])
        await ask('create_sprint', { project, sprint_id, status: 'active' })
    })
    afterAll(async () => {
      if (other !== desk) await other.stop()
      await desk.stop()
    })

    describe('a claim', () => {
      test('W20 of any number of racers exactly one wins', async () => {
        const id = await add()
        const racers = Array.from({ length: 16 }, (_, n) => ({ ...sales, id: `racer-${n}` }))
        const made = await Promise.allSettled(
          racers.map((racer, n) => claim(id, racer, {}, n % 2 === 0 ? desk : other)),
        )
        const won = made.filter(({ status }) => status === 'fulfilled')
        expect(won).toHaveLength(1)
        for (const lost of made)
          if (lost.status === 'rejected')
            expect(lost.reason).toMatchObject({
              code: 'lease_held',
              details: { lease: { agent: expect.stringContaining('racer-') } },
            })
        const claimed = (await desk.entries()).filter(
          ({ type, subject }) => type === 'work.claimed' && subject === `${project}/${id}`,
        )
        expect(claimed).toHaveLength(1)
      })

      test('W20 is kept up by its holder alone, and the file does not hear of it', async () => {
        const id = await add()
        const first = await claim(id, sales, { ttl_seconds: 60 })
        const text = await desk.text(project)
        world.move(30_000)
        const again = await claim(id, sales, { ttl_seconds: 60 })
        expect(again).toMatchObject({
          renewed: true,
          lease: { fence: first.lease.fence, agent: 'sales' },
          story: { rev: first.story.rev },
        })
        expect(Date.parse(again.lease.until) - Date.parse(first.lease.until)).toBeGreaterThan(29_000)
        expect(await desk.text(project)).toBe(text)
        await expect(claim(id, support)).rejects.toMatchObject({ code: 'lease_held' })
        const shown = await other.ask('get', { project, story_id: id })
        expect(shown.story.lease?.until).toBe(again.lease.until)
      })

      test('W20 that ran out gives the story back, once, with a history entry', async () => {
        const id = await add()
        const { lease } = await claim(id)
        expect((await story(id)).status).toBe('in_progress')
        expect(await ready()).not.toContain(id)
        world.move(16 * minute)
        expect(await ready()).toContain(id)
        await Promise.all([desk.sweep(), other.sweep()])
        expect(await story(id)).toMatchObject({ status: 'planned', by: 'cowork' })
        expect(await story(id)).not.toHaveProperty('lease')
        const told = (await history()).filter(({ ref }) => ref === id)
        expect(told).toMatchObject([{ kind: 'lease_expired', by: 'sales' }])
        const entries = (await desk.entries()).filter(
          ({ type, subject }) => type === 'work.lease_expired' && subject === `${project}/${id}`,
        )
        expect(entries).toMatchObject([
          { actor: { kind: 'system' }, data: { agent: 'sales', fence: lease.fence } },
        ])
        const index = parsed(await desk.text(project))
        expect(storyIn(index, id)).not.toHaveProperty('lease')
        expect(index.history.filter(({ ref }) => ref === id)).toHaveLength(1)
      })

      test('W20 has a higher fence than all before it, and one with an older is late', async () => {
        const id = await add()
        const change = (fence: number, caller = sales) =>
          ask('update_story', { project, story_id: id, notes: `${fence}`, fence }, caller)
        const first = (await claim(id)).lease.fence
        await change(first)
        world.move(16 * minute)
        await desk.sweep()
        // Nobody has it: but the one who had it must not go on as if nothing had happened.
        await expect(change(first)).rejects.toMatchObject({ code: 'stale_fence' })
        const second = (await claim(id, support)).lease.fence
        expect(second).toBeGreaterThan(first)
        await expect(change(first)).rejects.toMatchObject({ code: 'lease_held' })
        await expect(change(first, support)).rejects.toMatchObject({
          code: 'stale_fence',
          details: { lease: { fence: second } },
        })
        await change(second, support)
        await ask('release', { project, story_id: id, fence: second }, support)
        const third = (await claim(id)).lease.fence
        await expect(change(first)).rejects.toMatchObject({ code: 'stale_fence' })
        await change(third)
        for (const tool of ['done', 'release'])
          await expect(
            ask(tool, { project, story_id: id, fence: second }),
          ).rejects.toMatchObject({ code: 'stale_fence' })
      })

      test('W20 needs an open story that waits for nothing', async () => {
        const [needed, id] = [await add(), await add()]
        await ask('update_story', { project, story_id: id, depends_on: [needed] })
        expect(await ready()).not.toContain(id)
        await expect(claim(id)).rejects.toMatchObject({
          code: 'dependency_open',
          details: { waits_for: [needed] },
        })
        await ask('update_story', { project, story_id: needed, status: 'dropped' })
        expect(await ready()).toContain(id)
        await claim(id)
        await expect(claim(needed)).rejects.toMatchObject({ code: 'not_open' })
      })

      test('W20 is released by its holder or a person, to be planned again or what is said', async () => {
        const id = await add()
        const release = (caller = sales, more: object = {}) =>
          ask('release', { project, story_id: id, ...more }, caller)
        await expect(release()).rejects.toMatchObject({ code: 'not_claimed' })
        await claim(id)
        await expect(release(support)).rejects.toMatchObject({ code: 'lease_held' })
        expect((await release()).story.status).toBe('planned')
        await claim(id, support)
        const { story: left } = await release(anna, { status: 'blocked' })
        expect(left.status).toBe('blocked')
        expect(left).not.toHaveProperty('lease')
      })

      test('W20 what is ready comes by priority, then in the order of the plan', async () => {
        await ask('create_sprint', { project, sprint_id: 'ranks', status: 'active' })
        const made = []
        for (const priority of ['low', undefined, 'urgent', 'high', 'medium', 'urgent'])
          made.push(await add({ sprint_id: 'ranks', priority }))
        const { stories } = (await ask('ready', { project, sprint_id: 'ranks' })) as unknown as {
          stories: { id: string }[]
        }
        const [low, usual, urgent, high, medium, second] = made
        expect(stories.map(({ id }) => id)).toEqual([urgent, second, high, usual, medium, low])
      })
    })

    describe('the end', () => {
      test('W16 is in story and history in one step, and not while another has it', async () => {
        const id = await add({ title: 'Pin the actions' })
        await claim(id)
        const done = (caller = sales, more: object = {}) =>
          ask('done', { project, story_id: id, ...more }, caller)
        const before = (await history()).length
        await expect(done(support)).rejects.toMatchObject({ code: 'lease_held' })
        expect((await history()).length).toBe(before)
        const seq = (await desk.work.boards.current(project)).seq
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
        expect((await desk.work.boards.current(project)).seq).toBe(seq + 2)
        await expect(done()).rejects.toMatchObject({ code: 'already_done' })
      })

      test('W13 of a sprint carries its open stories along, or is refused', async () => {
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
        // Whoever has it still has it.
        expect((await story(held)).lease?.agent).toBe('support')
        const index = parsed(await desk.text(project))
        const stories = index.sprints.find(({ id }) => id === 'two')?.stories ?? []
        expect(stories.map(({ id }) => id)).toEqual(expect.arrayContaining([open, held]))
      })

      test('W13 W25 an archived sprint is in COMPLETE/ and its numbers are not given again', async () => {
        await ask('create_sprint', { project, sprint_id: 'old', status: 'active' })
        const id = await add({ sprint_id: 'old', status: 'done' })
        await ask('update_sprint', { project, sprint_id: 'old', archive: true })
        const index = parsed(await desk.text(project))
        expect(index.sprints.map((sprint) => sprint.id)).not.toContain('old')
        expect(storyIn(index, id)).toBeUndefined()
        await expect(story(id)).rejects.toMatchObject({ code: 'not_found' })
        const numberOf = (one: string) => Number(one.split('-')[1])
        expect(numberOf(await add())).toBe(numberOf(id) + 1)
      })
    })

    describe('on the way', () => {
      test('W20 a story moves between sprints, and only to another', async () => {
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

      test('W20 a backlog item becomes a story once, and is done with it', async () => {
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

      test('W12 a backlog item changes in the given fields only, and goes', async () => {
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

      test('W15 notes are replaced or added to', async () => {
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

      test('W20 comments are added, by whoever, also while another has the story', async () => {
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
