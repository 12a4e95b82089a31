import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { textPath } from '../../src/work/disk/text-search.ts'
import { createWorld } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'

type Hit = { readonly id: string; readonly kind: string; readonly project?: string }

/** Contract of the search in backlog texts, on both engines. */
export function searchContract(engine: Engine) {
  describe(`search in texts on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    let project = ''
    let count = 0
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const folder = () => join(world.root, 'projects', project)
    const fileOf = (id: string) => join(folder(), textPath(id))
    const add = async (id: string, more: object = {}) =>
      (await ask('add_backlog', { project, item_id: id, summary: `About ${id}`, ...more })).item
    const hits = async (query: string, more: object = {}, at = desk) =>
      (await at.ask('search', { project, query, ...more }))['results'] as Hit[]
    const found = async (query: string, more: object = {}, at = desk) =>
      (await hits(query, more, at)).map(({ id }) => id)

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
    })
    beforeEach(async () => {
      project = `search-${++count}`
      await ask('register_project', { project })
      await ask('create_sprint', { project, sprint_id: 'one', status: 'active' })
      mkdirSync(join(folder(), 'BACKLOG'), { recursive: true })
    })
    afterAll(() => desk.stop())

    test('W20 W25 search finds words of acknowledged texts and of files', async () => {
      const { text_sha256 } = await add('later', { text: 'The Lantern is Grün.\nIt burns.' })
      await add('other')
      for (let round = 0; round < 2; round++) {
        expect(await found('lantern GRÜN')).toEqual(['later'])
        // Some words are in the text, some in other fields.
        expect(await found('burns about')).toEqual(['later'])
        expect(await found('lantern other')).toEqual([])
        await desk.work.projectSync.flush(project)
      }
      // A pending text hides the old file content.
      await ask('update_backlog', { project, item_id: 'later', text: 'A candle', text_sha256 })
      expect(await found('lantern')).toEqual([])
      expect(await found('candle')).toEqual(['later'])
    })

    test('W20 W25 title matches come first, then fields, then backlog texts', async () => {
      await add('in-text', { text: 'lantern, and more than once: lantern lantern' })
      await add('in-theme', { theme: 'lantern' })
      await add('in-title', { summary: 'The lantern' })
      const story = (more: object) => ask('add_story', { project, sprint_id: 'one', ...more })
      const { id: noted } = (await story({ title: 'x', notes: 'a lantern' })).story
      const { id: titled } = (await story({ title: 'Lantern' })).story
      const all = [titled, 'in-title', noted, 'in-theme', 'in-text']
      expect(await found('lantern')).toEqual(all)
      // Paging returns the same results and total.
      const paged: string[] = []
      for (let cursor: string | undefined; ;) {
        const result = await ask('search', { project, query: 'lantern', limit: 2, cursor })
        expect(result['total']).toBe(all.length)
        paged.push(...(result['results'] as Hit[]).map(({ id }) => id))
        cursor = result.next_cursor
        if (cursor === undefined) break
      }
      expect(paged).toEqual(all)
      expect(await found('lantern', { kind: 'backlog', status: 'todo' })).toEqual(
        all.filter((id) => id.startsWith('in-')),
      )
      expect(await found('lantern', { kind: 'sprint' })).toEqual([])
    })

    test('W20 W25 search finds the current file content, however it was saved', async () => {
      await add('later')
      const path = fileOf('later')
      writeFileSync(path, 'The lantern')
      expect(await found('lantern')).toEqual(['later'])
      for (let round = 0; round < 20; round++) {
        // Same length as the previous text.
        writeFileSync(path, 'The chimney')
        expect(await found('lantern')).toEqual([])
        expect(await found('chimney')).toEqual(['later'])
        writeFileSync(`${path}.new`, 'The lantern')
        renameSync(`${path}.new`, path)
        expect(await found('chimney')).toEqual([])
        expect(await found('lantern')).toEqual(['later'])
      }
      rmSync(path)
      expect(await found('lantern')).toEqual([])
      rmSync(join(folder(), 'BACKLOG'), { recursive: true })
      expect(await found('lantern')).toEqual([])
      expect(await found('later')).toEqual(['later'])
    })

    test('W20 W25 unreadable texts do not break the search', async () => {
      await add('later')
      await add('sound', { text: 'A lantern' })
      await desk.work.projectSync.flush(project)
      const [path, backlog] = [fileOf('later'), join(folder(), 'BACKLOG')]
      const outside = mkdtempSync(join(tmpdir(), 'cowork-outside-'))
      writeFileSync(join(outside, 'later.md'), 'SECRET lantern')
      for (const hinder of [
        () => mkdirSync(path),
        () => symlinkSync(join(outside, 'later.md'), path),
        () => symlinkSync(join(outside, 'nothing'), path),
        () => symlinkSync(path, path),
        () => writeFileSync(path, Buffer.from('lantern \xff', 'latin1')),
        () => writeFileSync(path, 'lantern '.repeat(33_000)),
        () => writeFileSync(path, ''),
      ]) {
        hinder()
        expect(await found('lantern')).toEqual(['sound'])
        expect(await found('secret')).toEqual([])
        expect(await found('later')).toEqual(['later'])
        rmSync(path, { recursive: true })
      }
      for (const hinder of [
        () => symlinkSync(outside, backlog),
        () => writeFileSync(backlog, 'a lantern'),
      ]) {
        rmSync(backlog, { recursive: true })
        hinder()
        expect(await found('lantern')).toEqual([])
        expect(await found('later')).toEqual(['later'])
      }
    })

    test('W20 W25 a story is found by the text of its backlog item', async () => {
      await add('later', { text: 'A lantern' })
      const { story } = await ask('move', { project, item_id: 'later', sprint_id: 'one' })
      expect(await found('lantern')).toEqual([story.id, 'later'])
      expect(await found('lantern', { kind: 'story' })).toEqual([story.id])
      await desk.work.projectSync.flush(project)
      await ask('remove_backlog', { project, item_id: 'later' })
      expect(await found('lantern')).toEqual([story.id])
      // A text without an item is not found.
      await add('gone', { text: 'A chimney' })
      await ask('remove_backlog', { project, item_id: 'gone' })
      expect(await found('chimney')).toEqual([])
    })

    test('W9 W20 a story with any from_backlog value can be found, read and finished', async () => {
      for (const value of ['7', '[later]', '{ a: b }', 'true']) {
        const { story } = await ask('add_story', { project, sprint_id: 'one', title: 'Odd one' })
        const yaml = await desk.text(project)
        const line = `id: ${story.id}\n`
        desk.edit(
          project,
          (text) => text.replace(line, `${line}        from_backlog: ${value}\n`),
          yaml,
        )
        expect(await found(`odd ${story.id}`)).toEqual([story.id])
        const { story: whole } = await ask('get', { project, story_id: story.id })
        expect(whole).toHaveProperty('from_backlog')
        await ask('done', { project, story_id: story.id })
      }
    })

    test('W20 W25 search covers all projects except unregistered ones', async () => {
      const names = [project, `${project}-b`]
      await ask('register_project', { project: names[1] })
      for (const name of names)
        await ask('add_backlog', { project: name, summary: 'Same', text: `A ${project} lantern` })
      const everywhere = async () =>
        (await hits(`${project} lantern`, { project: undefined })).map((hit) => hit.project)
      expect(await everywhere()).toEqual(names)
      await ask('unregister_project', { project: names[1] })
      expect(await everywhere()).toEqual([project])
      await ask('register_project', { project: names[1] })
      expect(await everywhere()).toEqual(names)
    })

    test('W20 W25 W7 a daemon without the files finds texts in the store', async () => {
      if (engine.dialect !== 'postgres') return
      await add('later', { text: 'A lantern' })
      await desk.work.projectSync.flush(project)
      const other = await world.start()
      expect(await found('lantern', {}, other)).toEqual([])
      expect(await found('later', {}, other)).toEqual(['later'])
      await other.stop()
    })
  })
}
