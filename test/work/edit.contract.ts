import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, parsed, sales, findStory } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'
import type { Conflict } from '../../src/work/model.ts'

/** Contract of file edits by people, on both engines. */
export function editContract(engine: Engine) {
  describe(`file edits on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    let project = ''
    let count = 0
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', ...more })).story.id
    const conflicts = async () => (await desk.work.snapshots.current(project)).conflicts()
    const resolve = (conflict: Conflict | undefined, take: 'ours' | 'theirs') =>
      ask('resolve', { project, conflict_id: conflict?.id, take })
    const get = (of: object) => ask('get', { project, ...of })

    /** Changes the same version on both sides; returns the conflicts. */
    async function clash(ours: () => Promise<unknown>, theirs: (text: string) => string) {
      const before = await desk.text(project)
      await ours()
      desk.edit(project, theirs, before)
      await ask('status', { project })
      return conflicts()
    }
    const title = (id: string, from: string, to: string) => (text: string) =>
      text.replace(`- id: ${id}\n        title: ${from}`, `- id: ${id}\n        title: ${to}`)
    const without = (id: string) => (text: string) =>
      text.replace(new RegExp(`^( *)- id: ${id}\n(?:\\1  .*\n)*`, 'm'), '')

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
    })
    beforeEach(async () => {
      project = `shop-${++count}`
      await ask('register_project', { project })
      for (const sprint_id of ['one', 'two', 'three'])
        await ask('create_sprint', { project, sprint_id, status: 'active' })
    })
    afterAll(() => desk.stop())

    test('W5 the next reply has a file edit, recorded as a person’s', async () => {
      const id = await add({ title: 'Before' })
      desk.edit(project, title(id, 'Before', 'By hand'), await desk.text(project))
      expect((await get({ story_id: id })).story).toMatchObject({ title: 'By hand', rev: 2 })
      const entry = (await desk.entries()).findLast(({ type }) => type === 'work.merged')
      expect(entry).toMatchObject({
        actor: { kind: 'human', verified: false },
        subject: project,
        outcome: 'clean',
        data: { items: [id] },
      })
    })

    test('W5 after edits of the same field the agent’s value stays until the conflict is resolved', async () => {
      for (const take of ['ours', 'theirs'] as const) {
        const id = await add({ title: 'Both' })
        const [conflict, ...more] = await clash(
          () => ask('update_story', { project, story_id: id, title: 'By the agent' }),
          title(id, 'Both', 'By hand'),
        )
        expect(more).toEqual([])
        expect(conflict).toMatchObject({
          item: id,
          field: 'title',
          kind: 'same_field',
          base: 'Both',
          ours: 'By the agent',
          theirs: 'By hand',
        })
        expect((await get({ story_id: id })).story).toMatchObject({
          title: 'By the agent',
          conflicts: [{ id: conflict?.id }],
        })
        const copy = join(world.root, 'projects', project, conflict?.copy ?? 'none')
        expect(readFileSync(copy, 'utf8')).toContain('title: By hand')
        expect(parsed(await desk.text(project)).conflicts).toEqual([conflict])

        const settled = await resolve(conflict, take)
        const kept = take === 'ours' ? 'By the agent' : 'By hand'
        expect(settled).toMatchObject({ resolved: conflict?.id, item: { title: kept } })
        expect(await conflicts()).toEqual([])
        const index = parsed(await desk.text(project))
        expect(index.conflicts).toEqual([])
        expect(findStory(index, id)?.title).toBe(kept)
        await expect(resolve(conflict, take)).rejects.toMatchObject({ code: 'not_found' })
        const entry = (await desk.entries()).findLast(
          ({ type }) => type === 'work.conflict_resolved',
        )
        expect(entry).toMatchObject({ subject: `${project}/${id}`, data: { take, field: 'title' } })
      }
    })

    test('W5 an item deleted in the file and changed by an agent stays until the deletion is chosen', async () => {
      for (const take of ['ours', 'theirs'] as const) {
        const id = await add({ title: 'Wanted' })
        // Otherwise the text without the item equals the version before it was added.
        await add({ title: 'Another' })
        const [conflict] = await clash(
          () => ask('update_story', { project, story_id: id, notes: 'changed' }),
          without(id),
        )
        expect(conflict).toMatchObject({ item: id, field: '*', kind: 'delete_against_edit' })
        expect((await get({ story_id: id })).story.notes).toBe('changed')
        await resolve(conflict, take)
        expect(findStory(parsed(await desk.text(project)), id)?.notes).toBe(
          take === 'ours' ? 'changed' : undefined,
        )
        expect(await conflicts()).toEqual([])
      }
    })

    test('W5 an item edited in the file and deleted by an agent stays until the deletion is chosen', async () => {
      for (const take of ['ours', 'theirs'] as const) {
        const { item } = await ask('add_backlog', { project, summary: 'Gone' })
        const item_id = String(item['id'])
        const [conflict] = await clash(
          () => ask('remove_backlog', { project, item_id }),
          (text) => text.replace('summary: Gone', 'summary: Kept by hand'),
        )
        expect(conflict).toMatchObject({ item: item_id, field: '*', kind: 'delete_against_edit' })
        expect((await get({ item_id })).item).toMatchObject({ summary: 'Kept by hand' })
        await resolve(conflict, take)
        const left = parsed(await desk.text(project)).backlog.map(({ id }) => id)
        if (take === 'ours') expect(left).not.toContain(item_id)
        else expect(left).toContain(item_id)
      }
    })

    test('W5 moves of a story to different sprints are a conflict', async () => {
      const id = await add({ title: 'Moved' })
      await add({ title: 'Stays', sprint_id: 'three' })
      const [conflict] = await clash(
        () => ask('move', { project, story_id: id, sprint_id: 'two' }),
        (text) => {
          const [block = ''] =
            new RegExp(`^      - id: ${id}\n(?:        .*\n)*`, 'm').exec(text) ?? []
          const gone = text.replace(block, '')
          return gone.replace(/(- id: three\n(?: {4}.*\n)*? {4}stories:\n)/, `$1${block}`)
        },
      )
      expect(conflict).toMatchObject({ item: id, field: 'sprint', ours: 'two', theirs: 'three' })
      expect((await get({ story_id: id })).story.sprint_id).toBe('two')
      await resolve(conflict, 'theirs')
      expect((await get({ story_id: id })).story.sprint_id).toBe('three')
      const index = parsed(await desk.text(project))
      const of = index.sprints.find(({ stories }) => stories?.some((story) => story.id === id))
      expect(of?.id).toBe('three')
    })

    test('W5 a conflict finds its item if another kind has the same id', async () => {
      await add({ story_id: 'twin', title: 'The story' })
      await ask('add_backlog', { project, item_id: 'twin', summary: 'The item', priority: 'low' })
      const [conflict] = await clash(
        () => ask('update_backlog', { project, item_id: 'twin', priority: 'high' }),
        (text) => text.replace('priority: low', 'priority: urgent'),
      )
      await resolve(conflict, 'theirs')
      expect((await get({ item_id: 'twin' })).item).toMatchObject({ priority: 'urgent' })
      expect((await get({ story_id: 'twin' })).story).not.toHaveProperty('priority')
    })

    test('W5 W20 a file edit does not revert a renewed claim', async () => {
      const id = await add({ title: 'Held' })
      await ask('claim', { project, story_id: id, ttl_seconds: 60 })
      const before = await desk.text(project)
      world.move(30_000)
      const { lease } = await ask('claim', { project, story_id: id, ttl_seconds: 60 })
      desk.edit(project, title(id, 'Held', 'Held on'), before)
      const { story } = await get({ story_id: id })
      expect(story).toMatchObject({ title: 'Held on', lease: { until: lease.until } })
      expect(await conflicts()).toEqual([])
    })

    test('W5 consecutive saves of a buffer that is never reloaded revert nothing', async () => {
      const [id, other] = [await add({ title: 'Mine' }), await add({ title: 'Theirs' })]
      let buffer = await desk.text(project)
      for (let n = 1; n <= 8; n++) {
        await ask('update_story', { project, story_id: other, notes: `agent ${n}`, estimate: n })
        buffer = buffer.replace(`title: Mine\n`, `title: Mine\n        x_${n}: by hand\n`)
        desk.edit(project, () => buffer, '')
        await ask('status', { project })
      }
      const index = parsed(await desk.text(project))
      expect(findStory(index, other)).toMatchObject({ notes: 'agent 8', estimate: 8 })
      for (let n = 1; n <= 8; n++) expect(findStory(index, id)).toHaveProperty(`x_${n}`, 'by hand')
      expect(index.conflicts).toEqual([])
    })

    test('W5 a repeated conflicting save adds one conflict', async () => {
      const id = await add({ title: 'Both' })
      const before = await desk.text(project)
      const theirs = title(id, 'Both', 'By hand')
      const ours = () => ask('update_story', { project, story_id: id, title: 'By the agent' })
      expect(await clash(ours, theirs)).toHaveLength(1)
      for (const more of ['# one', '# two']) {
        desk.edit(project, (text) => `${theirs(text)}${more}\n`, before)
        await ask('status', { project })
      }
      expect(await conflicts()).toHaveLength(1)
      expect(findStory(parsed(await desk.text(project)), id)?.title).toBe('By the agent')
    })

    test('W6 an emptied file is refused', async () => {
      const id = await add({ title: 'Kept' })
      const before = await desk.text(project)
      for (const nothing of ['', '\n \n']) {
        desk.edit(project, () => nothing, before)
        await expect(
          ask('update_story', { project, story_id: id, notes: 'x' }),
        ).rejects.toMatchObject({ code: 'work_file_broken', details: { line: 1, column: 1 } })
        expect((await get({ story_id: id })).story.title).toBe('Kept')
        expect(await desk.text(project)).toBe(nothing)
      }
      desk.edit(project, (text) => text, before)
      await ask('update_story', { project, story_id: id, notes: 'x' })
    })

    test('W5 a comment-only edit causes no conflict, and the file keeps the comment', async () => {
      const before = await desk.text(project)
      const path = join(world.root, 'projects', project, 'work-index.yaml')
      desk.edit(project, (text) => text.replace('sprints:', '# by hand\nsprints:'), before)
      await ask('status', { project })
      const text = await desk.text(project)
      expect(text).toBe(before.replace('sprints:', '# by hand\nsprints:'))
      expect(existsSync(path)).toBe(true)
      expect(await conflicts()).toEqual([])
    })

    test('W6 an invalid file is not overwritten; reads continue and changes are refused', async () => {
      const id = await add({ title: 'Safe' })
      const before = await desk.text(project)
      const line = before.split('\n').findIndex((one) => one === 'backlog: []') + 1
      desk.edit(project, (text) => text.replace('backlog: []', 'backlog: {'), before)
      for (const [tool, args] of [
        ['get', { story_id: id }],
        ['ready', {}],
        ['search', { query: 'safe' }],
        ['status', {}],
        ['history', {}],
      ] as const)
        expect(await ask(tool, { project, ...args }), tool).toMatchObject({ stale: [project] })
      for (const [tool, args] of [
        ['update_story', { story_id: id, notes: 'x' }],
        ['history', { summary: 'x' }],
        ['claim', { story_id: id }],
        ['add_backlog', { summary: 'x' }],
      ] as const)
        await expect(ask(tool, { project, ...args }), tool).rejects.toMatchObject({
          code: 'work_file_broken',
          message: expect.stringContaining(`work-index.yaml:`),
          details: { line: expect.any(Number), column: expect.any(Number) },
        })
      await ask('update_story', { project, story_id: id, notes: 'x' }).catch(
        (error: { details: { line: number } }) =>
          expect(error.details.line).toBeGreaterThanOrEqual(line),
      )
      expect(await desk.text(project)).toBe(before.replace('backlog: []', 'backlog: {'))
      desk.edit(project, (text) => text, before)
      expect(await ask('update_story', { project, story_id: id, notes: 'x' }, sales)).toMatchObject(
        {
          story: { notes: 'x' },
        },
      )
      expect(await ask('get', { project, story_id: id })).not.toHaveProperty('stale')
    })

    test('W1 W11 edits of the registry apply immediately, and an invalid registry changes nothing', async () => {
      const path = join(world.root, 'config.yaml')
      const before = readFileSync(path, 'utf8')
      const listed = async () =>
        (await ask('projects', {}))['projects'] as { project: string; description?: string }[]
      const { length } = await listed()
      desk.editFile(path, `${before}  added: { description: By hand }\n`)
      expect((await listed()).at(-1)).toMatchObject({ project: 'added', description: 'By hand' })
      await ask('add_backlog', { project: 'added', summary: 'First' })
      desk.editFile(path, 'projects: [')
      expect(await listed()).toHaveLength(length + 1)
      await expect(ask('register_project', { project: 'more' })).rejects.toMatchObject({
        code: 'work_file_broken',
        message: expect.stringContaining('config.yaml:1:'),
      })
      expect(readFileSync(path, 'utf8')).toBe('projects: [')
      desk.editFile(path, before)
      expect(await listed()).toHaveLength(length)
    })
  })
}
