import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { textPath } from '../../src/work/disk/text-search.ts'
import { anna, createWorld, parsed, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'

const most = 25_000
/** Ids that people can write but that are not valid file names. */
const hostile = [
  '..',
  '.',
  '../../../outside',
  '/etc/passwd',
  'a/b',
  'a\\b',
  'a%2fb',
  '.hidden',
  'ends. ',
  'CON:x*?"<>|',
  'work-index.yaml',
  '__proto__',
  'line\nbreak',
  '\u202Eright to left',
  'täglich 漢字',
]

/** Contract of backlog texts, on both engines. */
export function textContract(engine: Engine) {
  describe(`texts of backlog items on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    let project = ''
    let count = 0
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const folder = () => join(world.root, 'projects', project)
    const fileOf = (id: string) => join(folder(), textPath(id))
    const add = async (more: object = {}) =>
      (await ask('add_backlog', { project, item_id: 'later', summary: 'Later', ...more })).item
    const update = (more: object, caller = support) =>
      ask('update_backlog', { project, item_id: 'later', ...more }, caller)
    const get = async (id = 'later') => (await ask('get', { project, item_id: id })).item
    /** Returns the file content after the flush. */
    const written = async (id = 'later') => {
      await desk.work.projectSync.flush(project)
      return readFileSync(fileOf(id), 'utf8')
    }

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
    })
    beforeEach(async () => {
      project = `texts-${++count}`
      await ask('register_project', { project })
      await ask('create_sprint', { project, sprint_id: 'one', status: 'active' })
    })
    afterAll(() => desk.stop())

    test('W25 texts are readable immediately, written to BACKLOG/<id>.md and recorded', async () => {
      const text = '# Later\n\nA long story. 漢字 😀\n'
      const item = await add({ text })
      expect(item).toMatchObject({ id: 'later', rev: 1, text_sha256: sha256Hex(text) })
      expect(item).not.toHaveProperty('text')
      expect(await get()).toMatchObject({ text, text_sha256: sha256Hex(text) })
      expect(await written()).toBe(text)
      expect(await get()).toMatchObject({ text, text_sha256: sha256Hex(text) })
      const index = parsed(await desk.text(project))
      expect(index.backlog[0]).not.toHaveProperty('text')

      const { id, output } = await desk.call('update_backlog', {
        project,
        item_id: 'later',
        text: 'Shorter',
        text_sha256: item['text_sha256'],
      })
      expect(output.item).toMatchObject({ rev: 2, text_sha256: sha256Hex('Shorter') })
      expect(await written()).toBe('Shorter')
      const entry = (await desk.entries()).find(
        ({ ids, type }) => ids?.call === id && type === 'work.changed',
      )
      expect(entry?.data).toMatchObject({
        kind: 'backlog',
        fields: ['text'],
        text: { sha256: sha256Hex('Shorter'), bytes: 7, before: sha256Hex(text) },
      })
    })

    test('W25 several changes before a flush leave the last one without a conflict', async () => {
      let { text_sha256 } = await add({ text: 'one' })
      for (const text of ['two', 'three', 'four'])
        ({ text_sha256 } = (await update({ text, text_sha256 })).item)
      expect(await written()).toBe('four')
      for (const text of ['five', 'six']) {
        ;({ text_sha256 } = (await update({ text, text_sha256 })).item)
        expect(await written()).toBe(text)
      }
      expect((await desk.work.snapshots.current(project)).conflicts()).toEqual([])
    })

    test('W25 a text written by hand is authoritative', async () => {
      await add()
      expect(await get()).not.toHaveProperty('text')
      writeFileSync(fileOf('later'), 'By hand')
      expect(await get()).toMatchObject({ text: 'By hand', text_sha256: sha256Hex('By hand') })
      writeFileSync(fileOf('later'), 'By hand again')
      expect(await get()).toMatchObject({ text: 'By hand again' })
      writeFileSync(fileOf('later'), '')
      expect(await get()).not.toHaveProperty('text')
      // There is no text to read first.
      await update({ text: 'x' })
      expect(await written()).toBe('x')
      rmSync(fileOf('later'))
      expect(await get()).not.toHaveProperty('text')
    })

    test('W25 a text cannot be overwritten without reading it', async () => {
      const { text_sha256: first } = await add({ text: 'as it was' })
      await written()
      writeFileSync(fileOf('later'), 'by hand')
      const current = { text_sha256: sha256Hex('by hand') }
      for (const stale of [{}, { text_sha256: first }, { text_sha256: '' }])
        for (const by of [support, anna])
          await expect(update({ text: 'x', status: 'done', ...stale }, by)).rejects.toMatchObject({
            code: 'stale',
            details: current,
          })
      // Also for a change of another field that gives text_sha256.
      await expect(update({ status: 'done', text_sha256: first })).rejects.toMatchObject({
        code: 'stale',
      })
      expect(await get()).toMatchObject({ text: 'by hand', status: 'todo', rev: 1 })
      expect(await written()).toBe('by hand')
      await update({ text: 'y', ...current })
      expect(await written()).toBe('y')
      rmSync(fileOf('later'))
      await expect(update({ text: 'z', text_sha256: sha256Hex('y') })).rejects.toMatchObject({
        code: 'stale',
        message: 'later no longer has a text.',
      })
    })

    test('W25 W5 a concurrent save of a person is copied and resolved like a field', async () => {
      for (const take of ['ours', 'theirs'] as const) {
        const id = `later-${take}`
        await add({ item_id: id, text: 'as it was\n' })
        await written(id)
        const { text_sha256 } = await get(id)
        await update({ item_id: id, text: 'by the agent\n', text_sha256 })
        desk.editFile(fileOf(id), 'by the person\n')
        expect(await written(id)).toBe('by the agent\n')
        const [conflict, ...more] = (await desk.work.snapshots.current(project)).conflicts()
        expect(more).toEqual([])
        expect(conflict).toMatchObject({
          item: id,
          of: 'backlog',
          field: 'text',
          kind: 'same_field',
          ours: 'by the agent\n',
          theirs: 'by the person\n',
        })
        const copy = join(folder(), conflict?.copy ?? '')
        expect(readFileSync(copy, 'utf8')).toBe('by the person\n')
        await ask('resolve', { project, conflict_id: conflict?.id, take })
        const settled = take === 'ours' ? 'by the agent\n' : 'by the person\n'
        expect(await get(id)).toMatchObject({ text: settled })
        expect(await written(id)).toBe(settled)
        expect((await desk.work.snapshots.current(project)).conflicts()).toEqual([])
      }
    })

    test('W25 W23 texts are paged, with the hash on the first page', async () => {
      const piece = (n: number) => `${n} "quoted" \u0001\u0002 漢字 😀\n`
      const text = Array.from({ length: 6000 }, (_, n) => piece(n)).join('')
      await add({ text, related_sprints: Array.from({ length: 60 }, (_, n) => `sprint-${n}`) })
      const parts: Record<string, unknown>[] = []
      let cursor: string | undefined
      do {
        const result = await ask('get', { project, item_id: 'later', cursor })
        expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(most)
        parts.push(result.item)
        cursor = result.next_cursor
      } while (cursor !== undefined)
      expect(parts.length).toBeGreaterThan(10)
      expect(
        parts.map(({ text: piece }) => (typeof piece === 'string' ? piece : '')).join(''),
      ).toBe(text)
      expect(parts[0]).toHaveProperty('text_sha256', sha256Hex(text))
      expect(parts.slice(1).some((part) => 'text_sha256' in part)).toBe(false)
    })

    test('W25 W23 texts that need much escaping are complete, next to any other fields', async () => {
      const text = '\u0001'.repeat(9000)
      await add({ text, theme: 't'.repeat(100), summary: 's'.repeat(400) })
      const own = Array.from({ length: 17 }, (_, n) => `    own_${n}: ${'o'.repeat(400)}\n`).join(
        '',
      )
      const yaml = await desk.text(project)
      desk.edit(project, (given) => given.replace('    status: todo\n', (line) => line + own), yaml)
      expect(await get()).toHaveProperty('own_16')
      let whole = ''
      let cursor: string | undefined
      do {
        const result = await ask('get', { project, item_id: 'later', cursor })
        expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(most)
        const { text: piece } = result.item
        if (typeof piece === 'string') whole += piece
        cursor = result.next_cursor
      } while (cursor !== undefined)
      expect(whole).toBe(text)
    })

    test('W25 texts are limited to 256 kB, from tools and in files', async () => {
      await add()
      await expect(update({ text: 'x'.repeat(256_001) })).rejects.toThrow(/256.?000/)
      await expect(update({ text: '漢'.repeat(90_000) })).rejects.toMatchObject({
        code: 'too_large',
      })
      await update({ text: 'x'.repeat(256_000) })
      expect(await written()).toHaveLength(256_000)
      writeFileSync(fileOf('later'), 'x'.repeat(256_001))
      const item = await get()
      expect(item).toMatchObject({ summary: 'Later' })
      expect(item['text_note']).toBe(
        'Cannot read BACKLOG/later.md: the file is larger than 256 kB.',
      )
      expect(item).not.toHaveProperty('text')
      await expect(update({ text: 'y' })).rejects.toMatchObject({ code: 'work_file_broken' })
      expect(await update({ status: 'done' })).toMatchObject({ item: { status: 'done' } })
    })

    test('W25 an unreadable text leaves its item readable and is not overwritten', async () => {
      await add()
      const [path, backlog] = [fileOf('later'), join(folder(), 'BACKLOG')]
      const outside = mkdtempSync(join(tmpdir(), 'cowork-outside-'))
      writeFileSync(join(outside, 'later.md'), 'SECRET')
      const hinders: [why: string, hinder: () => void, what: string][] = [
        ['not a regular file', () => mkdirSync(path), path],
        ['the file is a symbolic link', () => symlinkSync(join(outside, 'later.md'), path), path],
        [
          'the file is not valid UTF-8',
          () => writeFileSync(path, Buffer.from([0x61, 0xff, 0x62])),
          path,
        ],
        ['BACKLOG is a symbolic link', () => symlinkSync(outside, backlog), backlog],
        ['ENOTDIR', () => writeFileSync(backlog, 'no folder'), backlog],
      ]
      for (const [why, hinder, what] of hinders) {
        rmSync(what, { recursive: true, force: true })
        hinder()
        const item = await get()
        expect(item).toMatchObject({ id: 'later', summary: 'Later' })
        expect(item['text_note']).toContain(why)
        expect(JSON.stringify(item)).not.toContain('SECRET')
        await expect(update({ text: 'x' })).rejects.toMatchObject({ code: 'work_file_broken' })
        await desk.work.projectSync.flush(project)
        rmSync(what, { recursive: true, force: true })
      }
      expect(readFileSync(join(outside, 'later.md'), 'utf8')).toBe('SECRET')
      await update({ text: 'x' })
      expect(await written()).toBe('x')
    })

    test('W25 each item has its own text in BACKLOG/, for any id', async () => {
      const yaml = hostile
        .map((id) => `  - id: ${JSON.stringify(id)}\n    summary: x\n    status: todo\n`)
        .join('')
      const before = await desk.text(project)
      desk.edit(
        project,
        (text) => text.replace(/^backlog:.*$/m, `backlog:\n${yaml}`.trimEnd()),
        before,
      )
      for (const id of hostile) await update({ item_id: id, text: `text of ${id}` })
      await desk.work.projectSync.flush(project)
      for (const id of hostile) {
        expect(await get(id)).toMatchObject({ id, text: `text of ${id}` })
        expect(readFileSync(fileOf(id), 'utf8')).toBe(`text of ${id}`)
      }
      const names = readdirSync(join(folder(), 'BACKLOG'))
      expect(names).toHaveLength(hostile.length)
      expect(names.every((name) => /^[^./\\][^/\\]*\.md$/.test(name))).toBe(true)
      expect(readdirSync(join(world.root, 'projects')).sort()).toEqual(
        desk.work.projects().toSorted(),
      )
    })

    test('W25 a text stays when its item is removed and is not reused by accident', async () => {
      await add({ item_id: undefined, summary: 'Later', text: 'kept' })
      // Even before the flush.
      await ask('remove_backlog', { project, item_id: 'later' })
      expect(await written()).toBe('kept')
      const { item: other } = await ask('add_backlog', { project, summary: 'Later' })
      expect(other).toMatchObject({ id: 'later-2' })
      expect(await get('later-2')).not.toHaveProperty('text')
      await expect(add({ text: 'new' })).rejects.toMatchObject({
        code: 'duplicate_id',
        details: { suggestion: 'later-3' },
      })
      // An explicit id reuses the leftover text.
      await add()
      expect(await get()).toMatchObject({ text: 'kept', rev: 1 })
    })

    test('W25 W20 a text is shown with the story made from its item', async () => {
      await add({ text: 'Details of the item' })
      const { story } = await ask('move', { project, item_id: 'later', sprint_id: 'one' })
      const whole = async () => (await ask('get', { project, story_id: story.id })).story
      expect(await whole()).toMatchObject({ from_backlog: 'later', text: 'Details of the item' })
      const { text_sha256 } = await get()
      await update({ text: 'More about it', text_sha256 })
      expect(await whole()).toMatchObject({ text: 'More about it' })
      await ask('done', { project, story_id: story.id })
      expect(await written()).toBe('More about it')
      expect(await get()).toMatchObject({ text: 'More about it', status: 'done' })
    })

    test('W25 W18 texts are in the vault notes', async () => {
      await add({ text: 'Details of the item <!-- worksync:generated --> and on' })
      const { vault_path: vault } = (await ask('sync', { project })) as unknown as {
        vault_path: string
      }
      const note = readFileSync(join(vault, 'projects', project, 'Backlog', 'later.md'), 'utf8')
      expect(note).toContain('# Later\n\nDetails of the item (mark) and on\n')
      expect(await ask('sync', { project })).toMatchObject({ written: 0 })
    })

    test('W25 W7 only the daemon that holds the files reads texts; others say so', async () => {
      if (engine.dialect !== 'postgres') return
      await add({ text: 'as it was' })
      await written()
      const other = await world.start()
      const of = { project, item_id: 'later' }
      const { item } = await other.ask('get', of)
      expect(item).toMatchObject({ summary: 'Later' })
      expect(item['text_note']).toContain('another daemon holds the files')
      await expect(
        other.ask('update_backlog', { ...of, text: 'x', text_sha256: sha256Hex('as it was') }),
      ).rejects.toMatchObject({ code: 'data_root_busy' })
      await other.ask('update_backlog', { ...of, status: 'done' })
      await other.ask('add_backlog', { project, summary: 'Later' })
      await other.stop()
    })

    test('W12 W15 null clears a priority, an estimate or a theme, also in the file', async () => {
      await add({ priority: 'high', theme: 'ops' })
      const { id } = (
        await ask('add_story', {
          project,
          sprint_id: 'one',
          title: 'x',
          priority: 'low',
          estimate: 3,
        })
      ).story
      const before = await desk.text(project)
      await update({ theme: null, priority: null, expect_rev: 1 })
      const of = { project, story_id: id }
      const { story } = await ask('update_story', { ...of, priority: null, estimate: null })
      expect(Object.keys(story)).not.toEqual(expect.arrayContaining(['priority']))
      expect(story).not.toHaveProperty('estimate')
      for (const field of ['theme', 'priority']) expect(await get()).not.toHaveProperty(field)
      const lines = (await desk.text(project)).split('\n')
      const gone = before.split('\n').filter((line) => !lines.includes(line))
      expect(
        gone.filter((line) => !/rev:|updated:|by:/.test(line)).map((line) => line.trim()),
      ).toEqual(['priority: low', 'estimate: 3', 'theme: ops', 'priority: high'])
      const entries = (await desk.entries()).filter(({ type }) => type === 'work.changed').slice(-2)
      expect(entries.map(({ data }) => data?.['fields'])).toEqual([
        ['theme', 'priority'],
        ['priority', 'estimate'],
      ])
      // Clearing an absent field is allowed; clearing a status is not.
      expect((await ask('update_story', { ...of, estimate: null })).story.rev).toBe(3)
      for (const field of ['status', 'title', 'notes'])
        await expect(ask('update_story', { ...of, [field]: null })).rejects.toThrow(field)
      await expect(ask('add_backlog', { project, summary: 'x', theme: null })).rejects.toThrow(
        'theme',
      )
    })
  })
}
