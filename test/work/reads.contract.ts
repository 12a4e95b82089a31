import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anna, createWorld, sales, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'

const most = 25_000
const getJsonSize = (result: unknown) => Buffer.byteLength(JSON.stringify(result))
type Listed = { readonly id: string }

/** A file with empty values. */
const sparse = `sprints:
  - id: bare
    title:
    file:
    status: active
    goal:
    themes:
    stories:
      - id: only
        status: in_progress
        notes:
  - id: none
    status: planned
    stories:
backlog:
  - id: later
    theme:
    summary: Later
    status: in_progress
    related_sprints:
history:
  - date: '2026-02-25'
    summary: Began
    related_sprints:
`

/** A work index of ten thousand items, some of maximum length. */
const bigPlan = (stories: number, backlog: number) => {
  const wide = '漢'.repeat(400)
  const story = (n: number) =>
    `      - id: STORY-${n}
        title: ${n % 7 === 0 ? wide : `Story ${n} of the big plan`}
        status: ${n % 5 === 0 ? 'in_progress' : 'planned'}
        notes: |
          ${n === 3 ? `${wide.slice(0, 300)} `.repeat(90) : `Notes about ${n}.`}
        depends_on: [${n === 3 ? Array.from({ length: 200 }, (_, at) => `STORY-${at + 10}`).join(', ') : ''}]
`
  const item = (n: number) =>
    `  - id: item-${n}\n    summary: Item ${n} ${n % 9 === 0 ? wide : ''}\n    status: ${n % 3 === 0 ? 'in_progress' : 'todo'}\n`
  const of = (count: number, one: (n: number) => string) =>
    Array.from({ length: count }, (_, at) => one(at + 1)).join('')
  return `version: 2\nnext_story: ${stories + 1}\nsprints:
  - id: big
    title: Big
    status: active
    goal: ${'far '.repeat(9000)}
    stories:\n${of(stories, story)}backlog:\n${of(backlog, item)}history:\n${of(
      300,
      (n) => `  - date: '2026-01-01'\n    summary: Entry ${n} ${wide}\n`,
    )}`
}

/** Contract of reads, on both engines. */
export function readsContract(engine: Engine) {
  describe(`reads on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    /** Registers a project with an existing file. */
    async function put(name: string, text: string) {
      const folder = join(world.root, 'projects', name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'work-index.yaml'), text)
      await ask('register_project', { project: name })
    }

    /** Reads a full list page by page and checks the page size. */
    async function all(tool: string, args: object, list: string): Promise<Listed[]> {
      const found: Listed[] = []
      let cursor: string | undefined
      do {
        const result = await ask(tool, { ...args, cursor })
        expect(getJsonSize(result), tool).toBeLessThanOrEqual(most)
        found.push(...(result[list] as Listed[]))
        cursor = result.next_cursor
      } while (cursor !== undefined)
      return found
    }

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      await put('sparse', sparse)
    })
    afterAll(() => desk.stop())

    test('W10 status summarizes one project or all', async () => {
      await ask('register_project', { project: 'busy' })
      const of = { project: 'busy' }
      for (const [sprint_id, status] of [
        ['now', 'active'],
        ['next', 'planned'],
        ['past', 'completed'],
      ])
        await ask('create_sprint', { ...of, sprint_id, status, title: sprint_id, goal: 'A goal' })
      const add = async (more: object = {}) =>
        (await ask('add_story', { ...of, sprint_id: 'now', title: 'x', ...more })).story.id
      const [held, , done] = [await add(), await add(), await add({ status: 'done' })]
      await add({ sprint_id: 'past' })
      await ask('claim', { ...of, story_id: held })
      await ask('add_backlog', { ...of, summary: 'Going on', status: 'in_progress' })
      await ask('add_backlog', { ...of, summary: 'Waiting' })
      const { projects } = await ask('status', of)
      expect(projects).toMatchObject([
        {
          project: 'busy',
          active_sprints: [{ id: 'now', title: 'now', goal: 'A goal', stories: 3, done: 1 }],
          in_progress: [{ id: held, sprint_id: 'now', claimed_by: 'sales' }],
          backlog_in_progress: [{ id: 'going-on', summary: 'Going on' }],
          counts: {
            sprints: { active: 1, planned: 1, completed: 1 },
            stories: { in_progress: 1, planned: 2, done: 1 },
            backlog: { in_progress: 1, todo: 1 },
            // A planned story in a completed sprint is not ready.
            ready: 1,
          },
          conflicts: [],
        },
      ])
      const everywhere = (await ask('status', {}))['projects'] as { project: string }[]
      expect(everywhere.map(({ project }) => project)).toEqual(['sparse', 'busy'])
      const { story } = await ask('get', { ...of, story_id: held })
      expect(story).toMatchObject({ sprint_id: 'now', needs: [], needed_by: [], ready: false })
      expect((await ask('get', { ...of, story_id: done })).story.status).toBe('done')
    })

    test('W11 projects are listed, or one is shown with sprints and guidance', async () => {
      const { projects } = await ask('projects', { project: 'sparse' })
      expect(projects).toMatchObject([
        {
          project: 'sparse',
          sprints: 2,
          stories: 1,
          backlog: 1,
          folder: join(world.root, 'projects', 'sparse'),
          guidance: ['general', 'ai-collaboration'],
          sprint_list: [{ id: 'bare' }, { id: 'none' }],
        },
      ])
    })

    test('W9 W20 empty values in a file do not break reads', async () => {
      const project = 'sparse'
      const hits = async (query: string) => all('search', { project, query }, 'results')
      expect(await hits('only')).toMatchObject([{ kind: 'story', id: 'only' }])
      expect(await hits('later')).toMatchObject([{ kind: 'backlog', id: 'later' }])
      expect(await hits('bare')).toMatchObject([{ kind: 'sprint', id: 'bare' }])
      expect(await hits('nowhere')).toEqual([])
      expect(await hits('')).toHaveLength(4)
      for (const [tool, args] of [
        ['status', {}],
        ['ready', {}],
        ['history', {}],
        ['get', { sprint_id: 'none' }],
        ['get', { sprint_id: 'bare' }],
        ['get', { story_id: 'only' }],
        ['get', { item_id: 'later' }],
      ] as const)
        expect(await ask(tool, { project, ...args }), tool).toBeDefined()
    })

    test('W20 search finds all words in any field, titles first', async () => {
      const project = 'search'
      await ask('register_project', { project })
      await ask('create_sprint', { project, sprint_id: 'one' })
      const add = async (more: object) =>
        (await ask('add_story', { project, sprint_id: 'one', ...more })).story.id
      const low = await add({ title: 'Other', notes: 'the Login page' })
      const high = await add({ title: 'Login page' })
      const storyId = await add({ title: 'Talked about' })
      await ask('comment', { project, story_id: storyId, text: 'login and page' })
      await add({ title: 'Login only' })
      const found = await all('search', { project, query: 'LOGIN page', kind: 'story' }, 'results')
      expect(found.map(({ id }) => id)).toEqual([high, low, storyId])
      const open = await all('search', { project, status: 'planned', sprint_id: 'one' }, 'results')
      expect(open.map(({ id }) => id)).toContain(low)
    })

    test('W17 history is paged, newest first, and entries can be added', async () => {
      const project = 'history'
      await ask('register_project', { project })
      for (let n = 0; n < 7; n++) {
        await ask('history', { project, summary: `Entry ${n}`, related_sprints: ['x'] }, support)
        world.move(1000)
      }
      const result = await ask('history', { project, limit: 3 })
      expect(result).toMatchObject({ total: 7, next_cursor: '3' })
      expect(result['history']).toMatchObject(
        [6, 5, 4].map((n) => ({ summary: `Entry ${n}`, by: 'support', related_sprints: ['x'] })),
      )
      const entries = await all('history', { project, limit: 3 }, 'history')
      expect(entries).toHaveLength(7)
      const { appended, total } = await ask('history', { project, summary: 'Last' }, sales)
      expect(appended).toMatchObject({ summary: 'Last', by: 'sales' })
      expect(total).toBe(8)
      for (const cursor of ['x', '-1', '1.5'])
        await expect(ask('history', { project, cursor })).rejects.toMatchObject({
          code: 'invalid_input',
        })
    })

    test('W23 every reply with ten thousand items is short, and all pages together are complete', async () => {
      const project = 'big'
      await put(project, bigPlan(9000, 1000))
      const get = (args: object) => ask('get', { project, ...args })
      for (const [tool, args] of [
        ['status', {}],
        ['status', { project }],
        ['projects', { project }],
        ['ready', { project, limit: 1000 }],
        ['search', { limit: 1000 }],
      ] as const)
        expect(getJsonSize(await ask(tool, args)), tool).toBeLessThanOrEqual(most)
      const ofSprint = await all('get', { project, sprint_id: 'big', limit: 1000 }, 'stories')
      expect(ofSprint.map(({ id }) => id)).toEqual(
        Array.from({ length: 9000 }, (_, at) => `STORY-${at + 1}`),
      )
      expect(await all('history', { project, limit: 1000 }, 'history')).toHaveLength(300)
      expect(
        await all('search', { project, kind: 'backlog', limit: 1000 }, 'results'),
      ).toHaveLength(1000)
      const { projects } = await ask('status', { project })
      expect(projects).toMatchObject([
        { counts: { stories: { in_progress: 1800, planned: 7200 } } },
      ])

      // An item longer than a reply: its texts and lists continue from part to part.
      const parts: { notes?: string; needs?: unknown[]; title?: string }[] = []
      let cursor: string | undefined
      do {
        const result = await get({ story_id: 'STORY-3', cursor })
        expect(getJsonSize(result)).toBeLessThanOrEqual(most)
        parts.push(result.story)
        cursor = result.next_cursor
      } while (cursor !== undefined)
      const whole = (await desk.work.snapshots.current(project)).story('STORY-3')?.item
      expect(getJsonSize(whole)).toBeGreaterThan(most)
      expect(parts.map(({ notes = '' }) => notes).join('')).toBe(whole?.notes)
      expect(parts.flatMap(({ needs = [] }) => needs)).toHaveLength(200)
      expect(parts.every(({ title }) => title === whole?.title)).toBe(true)
    })

    test('W19 guidance is inherited, then the project’s own, never from outside the repository', async () => {
      const repo = mkdtempSync(join(tmpdir(), 'cowork-repo-'))
      const outside = mkdtempSync(join(tmpdir(), 'cowork-outside-'))
      writeFileSync(join(outside, 'secret.md'), 'SECRET')
      mkdirSync(join(repo, 'docs'))
      writeFileSync(join(repo, 'docs', 'own.md'), 'Our own way')
      writeFileSync(join(repo, 'docs', 'more.md'), 'And more')
      symlinkSync(join(outside, 'secret.md'), join(repo, 'docs', 'link.md'))
      symlinkSync(outside, join(repo, 'docs', 'folder'))
      const leaving = [
        '../secret.md',
        join(outside, 'secret.md'),
        'docs/../../secret.md',
        'docs/link.md',
        'docs/folder/secret.md',
        'docs/folder/../../x.md',
        '.',
      ]
      const own = [
        { name: 'style', path: 'docs/own.md' },
        { name: 'general', path: 'docs/more.md', mode: 'append' },
        { name: 'ai-collaboration', path: 'docs/own.md' },
        ...leaving.map((path, n) => ({ name: `leaving-${n}`, path })),
      ]
      await ask(
        'register_project',
        {
          project: 'guided',
          repo,
          guidance: { inherit: ['general', 'ai-collaboration', '../../etc'], project: own },
        },
        anna,
      )
      const result = await ask('guidance', { project: 'guided' })
      expect(getJsonSize(result)).toBeLessThanOrEqual(most)
      expect(result['topics']).toEqual(['general', 'ai-collaboration', 'style'])
      const texts = (await all('guidance', { project: 'guided' }, 'guidance')) as unknown as {
        name: string
        from: string
        text: string
      }[]
      const textOf = (name: string) =>
        texts
          .filter((one) => one.name === name)
          .map(({ text }) => text)
          .join('')
      expect(textOf('general')).toMatch(/^#[^]*\n\nAnd more$/)
      expect(textOf('ai-collaboration')).toBe('Our own way')
      expect(JSON.stringify(texts)).not.toContain('SECRET')
      expect((result['faults'] as { name: string }[]).map(({ name }) => name)).toEqual([
        '../../etc',
        ...leaving.map((_, n) => `leaving-${n}`),
      ])
      const { guidance } = await ask('guidance', { project: 'guided', topic: 'style' })
      expect(guidance).toMatchObject([{ name: 'style', from: 'project', text: 'Our own way' }])
      writeFileSync(join(repo, 'docs', 'own.md'), '\u0001漢😀'.repeat(20_000))
      const long = await all('guidance', { project: 'guided', topic: 'style' }, 'guidance')
      expect(long.map((one) => (one as unknown as { text: string }).text).join('')).toBe(
        '\u0001漢😀'.repeat(20_000),
      )
    })

    test('RM1 a project registered by an agent is marked, and its repository is not opened by that', async () => {
      const repo = mkdtempSync(join(tmpdir(), 'cowork-repo-'))
      writeFileSync(join(repo, 'style.md'), 'PRIVATE')
      const guidance = { inherit: [], project: [{ name: 'style', path: 'style.md' }] }
      await ask('register_project', { project: 'by-agent', repo, guidance })
      await ask('register_project', { project: 'by-person', repo, guidance }, anna)
      expect(desk.work.registry.get('by-agent')?.registered_by).toBe('sales')
      expect(desk.work.registry.get('by-person')?.registered_by).toBeUndefined()
      for (const caller of [undefined, anna])
        expect(await ask('guidance', { project: 'by-agent' }, caller)).toMatchObject({
          guidance: [],
          faults: [{ name: 'style', message: expect.stringContaining('No access') }],
        })
      const { guidance: texts } = await ask('guidance', { project: 'by-person' })
      expect(texts).toMatchObject([{ text: 'PRIVATE' }])
    })

    test('W18 a second vault run writes nothing', async () => {
      const first = await ask('sync', { project: 'busy' })
      expect(first['written']).toBeGreaterThan(3)
      expect(await ask('sync', { project: 'busy' })).toMatchObject({ written: 0, removed: 0 })
      await ask('history', { project: 'busy', summary: 'News' })
      expect((await ask('sync', { project: 'busy' }))['written']).toBeGreaterThan(0)
    })

    test('W11 W20 an unregistered project is gone, and registering it again imports its files', async () => {
      const project = 'leaving'
      await ask('register_project', { project })
      await ask('create_sprint', { project, sprint_id: 'one' })
      const { id } = (await ask('add_story', { project, sprint_id: 'one', title: 'Kept' })).story
      await ask('unregister_project', { project })
      await expect(ask('status', { project })).rejects.toMatchObject({ code: 'project_unknown' })
      await expect(ask('unregister_project', { project })).rejects.toMatchObject({
        code: 'project_unknown',
      })
      await ask('register_project', { project })
      expect((await ask('get', { project, story_id: id })).story.title).toBe('Kept')
      const next = (await ask('add_story', { project, sprint_id: 'one' })).story.id
      expect(next).toBe('STORY-2')
    })
  })
}
