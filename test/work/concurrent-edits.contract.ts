import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anna, createWorld, parsed, sales, findStory, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'
import type { Conflict, HistoryEntry } from '../../src/work/model.ts'

const project = 'shop'
const minute = 60_000

/** Contract of concurrent changes by people and agents, on both engines. */
export function concurrentEditsContract(engine: Engine) {
  describe(`concurrent changes on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', title: 'A story', ...more })).story.id
    const claim = (story_id: string, caller = sales, more: object = {}) =>
      ask('claim', { project, story_id, ...more }, caller)
    const story = async (story_id: string) => (await ask('get', { project, story_id })).story
    const listExpiries = async (id: string) =>
      ((await ask('history', { project }))['history'] as readonly HistoryEntry[]).filter(
        ({ ref }) => ref === id,
      )
    const status = async () =>
      ((await ask('status', { project }))['projects'] as Record<string, unknown>[])[0] ?? {}
    const ofType = async (type: string, id: string) =>
      (await desk.entries()).filter(
        (entry) => entry.type === type && entry.subject === `${project}/${id}`,
      )
    const edit = async (change: (text: string) => string) =>
      desk.edit(project, change, await desk.text(project))
    const registry = () => join(world.root, 'config.yaml')

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      await ask('register_project', { project })
      for (const sprint_id of ['one', 'two'])
        await ask('create_sprint', { project, sprint_id, status: 'active' })
    })
    afterAll(() => desk.stop())

    describe('the registry', () => {
      test('W5 W11 a project removed from the registry is not served until it is added again', async () => {
        const name = 'leaving'
        await ask('register_project', { project: name })
        await ask('create_sprint', { project: name, sprint_id: 'one' })
        await desk.text(name)
        const before = readFileSync(registry(), 'utf8')
        desk.editFile(registry(), before.replace(/ {2}leaving:.*\n/, ''))
        for (const [tool, input] of [
          ['status', {}],
          ['ready', {}],
          ['create_sprint', { sprint_id: 'two' }],
          ['sync', {}],
        ] as const)
          await expect(ask(tool, { project: name, ...input })).rejects.toMatchObject({
            code: 'project_unknown',
          })
        desk.edit(name, (text) => text.replace('id: one', 'id: uno'), await desk.text(name))
        desk.editFile(registry(), before)
        expect(await ask('get', { project: name, sprint_id: 'uno' })).toMatchObject({
          sprint: { id: 'uno' },
        })
        await ask('unregister_project', { project: name })
        await ask('register_project', { project: name })
      })

      test('W1 an invalid project name is skipped, and calls report its position', async () => {
        const before = readFileSync(registry(), 'utf8')
        const bad = '  "../evil": {}\n  Bad Name: {}\n  good: {}\n'
        desk.editFile(registry(), before.replace('projects:\n', `projects:\n${bad}`))
        const names = ((await ask('projects', {}))['projects'] as { project: string }[]).map(
          (one) => one.project,
        )
        expect(names).toEqual(expect.arrayContaining(['good', project]))
        expect(names).not.toContain('Bad Name')
        expect(existsSync(join(world.root, 'evil'))).toBe(false)
        expect(existsSync(join(world.root, 'projects', 'Bad Name'))).toBe(false)
        await expect(ask('status', { project: 'Bad Name' })).rejects.toMatchObject({
          code: 'project_unknown',
          message: expect.stringMatching(/config\.yaml:4:3: Invalid project name: "Bad Name"\./),
        })
        // Other projects can still be added and removed.
        await ask('register_project', { project: 'later' })
        expect(readFileSync(registry(), 'utf8')).toContain('  Bad Name: {}\n')
        desk.editFile(registry(), before)
      })

      test('W6 an invalid registry at the start keeps the known projects', async () => {
        const before = readFileSync(registry(), 'utf8')
        await desk.stop()
        desk.editFile(registry(), 'projects: [')
        desk = await world.start()
        expect(await status()).toMatchObject({ project })
        desk.editFile(registry(), before)
        expect(await status()).toMatchObject({ project })
      })
    })

    describe('an archived sprint', () => {
      test('W13 an archived sprint takes no stories', async () => {
        await ask('create_sprint', { project, sprint_id: 'over', status: 'active' })
        const finished = await add({ sprint_id: 'over', status: 'done' })
        const open = await add()
        await ask('add_backlog', { project, item_id: 'idea', summary: 'An idea' })
        await ask('create_sprint', { project, sprint_id: 'ending' })
        await add({ sprint_id: 'ending' })
        // The flush comes later and removes the sprint.
        await ask('update_sprint', { project, sprint_id: 'over', archive: true })
        for (const [tool, input] of [
          ['add_story', { sprint_id: 'over', title: 'Late' }],
          ['move', { story_id: open, sprint_id: 'over' }],
          ['move', { item_id: 'idea', sprint_id: 'over' }],
          ['update_sprint', { sprint_id: 'ending', status: 'completed', carry_to: 'over' }],
          ['update_story', { story_id: finished, status: 'planned' }],
        ] as const)
          await expect(ask(tool, { project, ...input })).rejects.toMatchObject({
            code: 'not_open',
            message: expect.stringContaining('over is archived'),
          })
        await desk.text(project)
        expect(await story(open)).toMatchObject({ sprint_id: 'one' })
      })

      test('W13 an archived sprint has no open story, even if it was completed before', async () => {
        await ask('create_sprint', { project, sprint_id: 'long-over', status: 'completed' })
        const id = await add({ sprint_id: 'long-over' })
        const archive = (more: object = {}) =>
          ask('update_sprint', { project, sprint_id: 'long-over', archive: true, ...more })
        await expect(archive()).rejects.toMatchObject({ code: 'open_stories' })
        expect(await archive({ carry_to: 'two' })).toMatchObject({ carried: [id] })
      })
    })

    describe('a claim', () => {
      test('W20 an expired claim is recorded if another agent claims the story before its release', async () => {
        const id = await add()
        const { lease } = await claim(id, sales, { ttl_seconds: 60 })
        world.move(2 * minute)
        const taken = await claim(id, support)
        expect(taken.lease.fence).toBeGreaterThan(lease.fence)
        await desk.sweep()
        expect(await listExpiries(id)).toMatchObject([{ kind: 'lease_expired', by: 'sales' }])
        expect(await ofType('work.lease_expired', id)).toMatchObject([
          { actor: { kind: 'system' }, data: { agent: 'sales', fence: lease.fence } },
        ])
        expect((await story(id)).lease).toMatchObject({ agent: 'support' })
      })

      test('W16 W20 a claim blocks resolving a conflict, and ends with the story', async () => {
        const clash = async (change: object, by: (text: string) => string) => {
          const before = await desk.text(project)
          await ask('update_story', { project, ...change })
          await desk.text(project)
          desk.edit(project, by, before)
          const [conflict] = (await status())['conflicts'] as Conflict[]
          return conflict?.id
        }
        const [id] = [await add({ title: 'Held' }), await add()]
        await claim(id)
        const line = new RegExp(`(id: ${id}\\n +title: Held\\n +status: )in_progress`)
        const conflict_id = await clash({ story_id: id, status: 'in_review' }, (text) =>
          text.replace(line, '$1done'),
        )
        const settle = (take: string, caller = sales) =>
          ask('resolve', { project, conflict_id, take }, caller)
        await expect(settle('theirs', support)).rejects.toMatchObject({ code: 'lease_held' })
        expect(await story(id)).toMatchObject({ status: 'in_review' })
        const { item } = await settle('theirs')
        expect(item).toMatchObject({ status: 'done' })
        expect(item).not.toHaveProperty('lease')
      })

      test('W20 a claim ends without expiry if a person finishes the story in the file', async () => {
        const [id] = [await add({ title: 'By hand' }), await add()]
        await claim(id)
        await edit((text) => text.replace(/(title: By hand\n +status: )in_progress/, '$1done'))
        expect(await story(id)).toMatchObject({ status: 'done' })
        // The story is unclaimed from now on.
        await ask('update_story', { project, story_id: id, notes: 'Seen' }, support)
        await desk.sweep()
        expect(await story(id)).not.toHaveProperty('lease')
        expect(findStory(parsed(await desk.text(project)), id)).not.toHaveProperty('lease')
        world.move(20 * minute)
        await desk.sweep()
        expect(await listExpiries(id)).toEqual([])
        expect(await ofType('work.lease_expired', id)).toEqual([])
        expect(await ofType('work.released', id)).toMatchObject([
          { actor: { kind: 'system' }, data: { agent: 'sales' } },
        ])
      })

      test('W20 a claim has a higher fence than those in a file imported by a new store', async () => {
        const name = 'moved'
        await ask('register_project', { project: name })
        await ask('create_sprint', { project: name, sprint_id: 'one', status: 'active' })
        const [held, free] = [
          (await ask('add_story', { project: name, sprint_id: 'one' })).story.id,
          (await ask('add_story', { project: name, sprint_id: 'one' })).story.id,
        ]
        const take = (story_id: string) => ask('claim', { project: name, story_id })
        const { fence } = (await take(held)).lease
        await desk.text(name)
        await ask('unregister_project', { project: name })
        await ask('register_project', { project: name })
        // A save without item changes is not an old version.
        desk.edit(name, (text) => `${text}# mine\n`, await desk.text(name))
        expect((await take(free)).lease.fence).toBeGreaterThan(fence)
        const change = { project: name, story_id: held, notes: 'Going on', fence }
        expect((await ask('update_story', change)).story.notes).toBe('Going on')
        const { conflicts } = parsed(await desk.text(name))
        expect(conflicts).toEqual([])
      })
    })

    test('W20 a dependency cycle made by a person is reported', async () => {
      const name = 'circles'
      await ask('register_project', { project: name })
      await ask('create_sprint', { project: name, sprint_id: 'one', status: 'active' })
      for (const title of ['First', 'Second', 'Alone', 'After'])
        await ask('add_story', { project: name, sprint_id: 'one', title })
      const needing = (text: string, [title, need]: readonly [string, string]) =>
        text.replace(`title: ${title}\n`, `title: ${title}\n        depends_on: [${need}]\n`)
      const pairs = [
        ['First', 'STORY-2'],
        ['Second', 'STORY-1'],
        ['Alone', 'STORY-3'],
        ['After', 'STORY-1'],
      ] as const
      desk.edit(name, (text) => pairs.reduce(needing, text), await desk.text(name))
      const [status] = (await ask('status', { project: name }))['projects'] as object[]
      expect(status).toMatchObject({
        cycles: ['STORY-1 → STORY-2 → STORY-1', 'STORY-3 → STORY-3'],
      })
      const get = async (story_id: string) => (await ask('get', { project: name, story_id })).story
      expect(await get('STORY-2')).toMatchObject({ cycle: ['STORY-2', 'STORY-1', 'STORY-2'] })
      expect(await get('STORY-4')).not.toHaveProperty('cycle')
      const take = (story_id: string) => ask('claim', { project: name, story_id })
      await expect(take('STORY-1')).rejects.toMatchObject({
        code: 'dependency_cycle',
        message: 'Dependency cycle: STORY-1 → STORY-2 → STORY-1.',
        details: { cycle: ['STORY-1', 'STORY-2', 'STORY-1'] },
      })
      await expect(take('STORY-4')).rejects.toMatchObject({ code: 'dependency_open' })
      await ask('update_story', { project: name, story_id: 'STORY-1', depends_on: [] }, anna)
      expect((await take('STORY-1')).lease).toMatchObject({ agent: 'sales' })
      const [mended] = (await ask('status', { project: name }))['projects'] as object[]
      expect(mended).toMatchObject({ cycles: ['STORY-3 → STORY-3'] })
    })
  })
}
