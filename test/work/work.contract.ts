import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anna, createWorld, parsed, sales, findStory, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'

const project = 'shop'
/** Text that is hard to store in YAML, in a database and on a terminal. */
const hostile = [
  'a: b',
  '- dash',
  '# no comment',
  '"quoted\' both`',
  'null',
  '2026-01-01',
  '%TAG',
  '{[*&!|>@',
  'zero \0 bell \u0007 escape \u001B[31m',
  'line\nbreak\r\nand\ttab',
  '\u2028 \u2029 \u0085 \u200B \uFEFF ‮right to left',
  '漢字 😀 é',
  '</script><img src=x onerror=alert(1)>',
  "'; DROP TABLE work_item; --",
  '../../etc/passwd',
  '__proto__',
]

/** Contract of changes, on both engines. */
export function workContract(engine: Engine) {
  describe(`work on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    /** A second daemon without the files if the engine supports it, otherwise the same one. */
    let other: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', title: 'A story', ...more })).story
    const update = (story_id: string, more: object, caller = sales) =>
      ask('update_story', { project, story_id, ...more }, caller)

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      other = engine.dialect === 'postgres' ? await world.start() : desk
      await ask('register_project', { project, description: 'A shop' })
      await ask('create_sprint', { project, sprint_id: 'one', title: 'One', status: 'active' })
      await ask('create_sprint', { project, sprint_id: 'two' })
    })
    afterAll(async () => {
      if (other !== desk) await other.stop()
      await desk.stop()
    })

    describe('every change', () => {
      test('W8 a change is recorded with the authenticated agent; `agent` is kept as a claim', async () => {
        const args = { project, sprint_id: 'one', title: 'On record', agent: 'claude' }
        const { output, details, id } = await desk.call('add_story', args, support)
        expect(output.story).toMatchObject({ by: 'support', rev: 1, sprint_id: 'one' })
        expect(details).toEqual([{ data: { claim: 'claude' } }])
        const entry = (await desk.entries()).find(({ ids }) => ids?.call === id)
        expect(entry).toMatchObject({
          type: 'work.added',
          actor: { kind: 'agent', id: 'support' },
          domain: 'work',
          subject: `${project}/${output.story.id}`,
          data: { kind: 'story', status: 'planned', sprint: 'one' },
        })
        const own = await desk.call('add_story', { ...args, agent: 'support' }, support)
        expect(own.details).toEqual([])
      })

      test('W7 W8 a refused change leaves neither rows nor entries', async () => {
        const { id } = await add()
        const before = [await desk.entries(), await desk.work.snapshots.current(project)]
        const index = (await desk.work.snapshots.current(project)).index()
        await expect(update(id, { status: 'done', depends_on: ['gone'] })).rejects.toMatchObject({
          code: 'not_found',
        })
        expect([await desk.entries(), await desk.work.snapshots.current(project)]).toEqual(before)
        expect((await desk.work.snapshots.current(project)).index()).toBe(index)
      })

      test('W22 a change with a stale revision is refused with the current item', async () => {
        const { id } = await add()
        expect((await update(id, { notes: 'a', expect_rev: 1 })).story.rev).toBe(2)
        await expect(update(id, { notes: 'b', expect_rev: 1 })).rejects.toMatchObject({
          code: 'stale_rev',
          details: { current: { id, notes: 'a', rev: 2 } },
        })
        const { item } = await ask('add_backlog', { project, summary: 'Revised' })
        const stale = { project, item_id: item['id'], expect_rev: 7 }
        for (const [tool, more] of [
          ['update_backlog', { summary: 'x' }],
          ['remove_backlog', {}],
          ['move', { sprint_id: 'one' }],
        ] as const)
          await expect(ask(tool, { ...stale, ...more })).rejects.toMatchObject({
            code: 'stale_rev',
            details: { current: { rev: 1, summary: 'Revised' } },
          })
        await expect(
          ask('update_sprint', { project, sprint_id: 'two', goal: 'x', expect_rev: 9 }),
        ).rejects.toMatchObject({ code: 'stale_rev', details: { current: { id: 'two' } } })
        await expect(ask('done', { project, story_id: id, expect_rev: 1 })).rejects.toMatchObject({
          code: 'stale_rev',
        })
      })

      test('W12 W15 any text is preserved in store and file', async () => {
        for (const title of hostile) {
          const { id } = await add({ title, notes: `${title}\n\n${title}`, paths: [title] })
          const theme = title.replaceAll('\0', '')
          const { item } = await ask('add_backlog', { project, summary: title, theme })
          const { story } = await ask('get', { project, story_id: id })
          const trimmed = title.trim()
          expect(story).toMatchObject({ title: trimmed, notes: `${title}\n\n${title}` })
          const index = parsed(await desk.text(project))
          expect(findStory(index, id)).toMatchObject({ title: trimmed, paths: [title] })
          const kept = index.backlog.find((one) => one.id === item['id'])
          expect(kept).toMatchObject({ summary: trimmed, theme })
        }
      })

      test('W15 unknown enum values and invalid ids are refused with a message', async () => {
        const { id } = await add()
        for (const [field, value] of [
          ['status', 'finished'],
          ['priority', 'asap'],
          ['estimate', -1],
          ['acceptance', ['text']],
        ] as const)
          await expect(update(id, { [field]: value })).rejects.toThrow(field)
        await expect(update(id, {})).rejects.toMatchObject({ code: 'invalid_input' })
        for (const odd of ['gone', '../x', "' or 1=1", '\uD800', '__proto__'])
          for (const [tool, args] of [
            ['get', { story_id: odd }],
            ['update_story', { story_id: odd, notes: 'x' }],
            ['claim', { story_id: odd }],
            ['resolve', { conflict_id: odd, take: 'ours' }],
          ] as const)
            await expect(ask(tool, { project, ...args }), `${tool} ${odd}`).rejects.toMatchObject({
              code: 'not_found',
            })
        for (const odd of ['gone', '../shop', '__proto__', 'constructor'])
          for (const tool of ['status', 'ready', 'history', 'projects', 'guidance', 'sync'])
            await expect(ask(tool, { project: odd }), `${tool} ${odd}`).rejects.toMatchObject({
              code: 'project_unknown',
            })
        await expect(ask('get', { project, story_id: 'a\0b' })).rejects.toThrow('NUL')
        await expect(ask('status', { project: 'a\0b' })).rejects.toThrow('NUL')
      })
    })

    describe('ids', () => {
      test('W14 a story gets a number above every number ever used', async () => {
        const { id } = await add()
        const next = Number(/^STORY-(\d+)$/.exec(id)?.[1]) + 1
        expect((await add()).id).toBe(`STORY-${next}`)
        expect((await add({ story_id: `STORY-${next + 10}` })).id).toBe(`STORY-${next + 10}`)
        expect((await add()).id).toBe(`STORY-${next + 11}`)
        // A free number below the mark can be used explicitly and does not change the mark.
        expect((await add({ story_id: `STORY-${next + 5}` })).id).toBe(`STORY-${next + 5}`)
        expect((await add()).id).toBe(`STORY-${next + 12}`)
        await expect(add({ story_id: id })).rejects.toMatchObject({
          code: 'duplicate_id',
          details: { suggestion: `STORY-${next + 13}` },
        })
        expect(parsed(await desk.text(project)).next_story).toBe(next + 13)
      })

      test('W14 explicit ids are kebab-case', async () => {
        expect((await add({ story_id: 'pin-actions-2' })).id).toBe('pin-actions-2')
        for (const bad of [
          'Pin',
          'pin_actions',
          '-pin',
          'pin-',
          'pin--x',
          'pin actions',
          'STORY-x',
        ])
          await expect(add({ story_id: bad })).rejects.toMatchObject({ code: 'invalid_id' })
      })

      test('W12 W13 a duplicate id is refused with a free suggestion', async () => {
        for (const item_id of ['taken', 'taken-2'])
          await ask('add_backlog', { project, item_id, summary: 'x' })
        await expect(
          ask('add_backlog', { project, item_id: 'taken', summary: 'y' }),
        ).rejects.toMatchObject({ code: 'duplicate_id', details: { suggestion: 'taken-3' } })
        for (const sprint_id of ['spring', 'spring-2'])
          await ask('create_sprint', { project, sprint_id })
        await expect(ask('create_sprint', { project, sprint_id: 'spring' })).rejects.toMatchObject({
          code: 'duplicate_id',
          details: { suggestion: 'spring-3' },
        })
        await expect(ask('register_project', { project })).rejects.toMatchObject({
          code: 'duplicate_id',
          details: { suggestion: `${project}-2` },
        })
      })

      test('W12 the default id is made from the summary', async () => {
        const made = async (summary: string) =>
          (await ask('add_backlog', { project, summary })).item['id']
        expect(await made('Pin: the Actions, by SHA!')).toBe('pin-the-actions-by-sha')
        expect(await made('Pin the actions by SHA')).toBe('pin-the-actions-by-sha-2')
        expect(await made('漢字')).toMatch(/^item(-\d+)?$/)
        expect(String(await made('x'.repeat(400))).length).toBeLessThanOrEqual(100)
      })
    })

    describe('dependencies', () => {
      test('W20 a dependency must exist and must not depend on the story', async () => {
        const [a, b, c] = [await add(), await add(), await add()].map(({ id }) => id)
        await update(a ?? '', { depends_on: [b] })
        await update(b ?? '', { depends_on: [c] })
        await expect(update(c ?? '', { depends_on: [a] })).rejects.toMatchObject({
          code: 'dependency_cycle',
          details: { cycle: [c, a, b, c] },
        })
        await expect(update(a ?? '', { depends_on: [a] })).rejects.toMatchObject({
          code: 'dependency_cycle',
          details: { cycle: [a, a] },
        })
        await expect(update(a ?? '', { depends_on: ['gone'] })).rejects.toMatchObject({
          code: 'not_found',
        })
        await expect(add({ story_id: 'own-need', depends_on: ['own-need'] })).rejects.toMatchObject(
          { code: 'dependency_cycle' },
        )
        expect((await update(c ?? '', { depends_on: [] })).story.depends_on).toEqual([])
      })

      test('W20 no sequence of updates creates a cycle', async () => {
        const ids = await Promise.all(Array.from({ length: 5 }, async () => (await add()).id))
        const pick = fc.nat({ max: ids.length - 1 })
        const needs = fc.tuple(pick, fc.uniqueArray(pick, { maxLength: 3 }))
        await fc.assert(
          fc.asyncProperty(fc.array(needs, { minLength: 1, maxLength: 6 }), async (list) => {
            for (const [at, on] of list)
              await update(String(ids[at]), { depends_on: on.map((n) => ids[n]) }).catch(
                (error: { code?: string }) => expect(error.code).toBe('dependency_cycle'),
              )
            const snapshot = await desk.work.snapshots.current(project)
            const left = new Map(ids.map((id) => [id, snapshot.story(id)?.item.depends_on ?? []]))
            // Remove stories without remaining dependencies until none is left; a cycle would
            // remain.
            for (let before = -1; before !== left.size;) {
              before = left.size
              for (const [id, on] of left) if (!on.some((one) => left.has(one))) left.delete(id)
            }
            expect(left.size).toBe(0)
          }),
          { numRuns: 15 },
        )
      })
    })

    describe('a person', () => {
      test('W16 W20 a person can change a claimed story and is recorded as a person', async () => {
        const { id } = await add()
        await ask('claim', { project, story_id: id }, sales)
        await expect(update(id, { notes: 'x' }, support)).rejects.toMatchObject({
          code: 'lease_held',
          details: { lease: { agent: 'sales' } },
        })
        const { id: call } = await desk.call(
          'update_story',
          { project, story_id: id, notes: 'by hand' },
          anna,
        )
        const entry = (await desk.entries()).find(({ ids }) => ids?.call === call)
        expect(entry).toMatchObject({ actor: { kind: 'human', id: 'anna' } })
        expect((await ask('done', { project, story_id: id }, anna)).story).toMatchObject({
          status: 'done',
          by: 'anna',
        })
      })
    })

    test('W7 every daemon reads what another has acknowledged', async () => {
      const { id } = await add({ title: 'Seen everywhere' })
      const { story } = await other.ask('get', { project, story_id: id })
      expect(story).toMatchObject({ title: 'Seen everywhere', rev: 1 })
      await other.ask('update_story', { project, story_id: id, notes: 'from there' })
      expect((await ask('get', { project, story_id: id })).story.notes).toBe('from there')
      expect(findStory(parsed(await desk.text(project)), id)?.notes).toBe('from there')
      const { projects } = (await other.ask('projects', {})) as unknown as {
        projects: { project: string }[]
      }
      expect(projects.map((one) => one.project)).toEqual([project])
    })

    test('W7 only the daemon that holds the data root touches files', async () => {
      if (other === desk) return
      for (const [tool, args] of [
        ['register_project', { project: 'elsewhere' }],
        ['unregister_project', { project }],
        ['sync', {}],
      ] as const)
        await expect(other.ask(tool, args)).rejects.toMatchObject({ code: 'data_root_busy' })
    })
  })
}
