import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld } from '../work.fixture.ts'
import type { Desk, Engine, World } from '../work.fixture.ts'
import { generatedMarker } from '../../../src/work/vault/pages.ts'

/** Contract of the vault. */
export function vaultContract(engine: Engine) {
  describe('the vault', () => {
    let world: World
    let desk: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const path = (...parts: string[]) => join(world.root, 'vault', 'projects', ...parts)
    const note = (...parts: string[]) => readFileSync(path(...parts), 'utf8')

    async function begin(project: string, titles: readonly string[]): Promise<void> {
      await ask('register_project', { project })
      await ask('create_sprint', { project, sprint_id: 'one', status: 'active' })
      for (const title of titles) await ask('add_story', { project, sprint_id: 'one', title })
    }

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
    })
    afterAll(() => desk.stop())

    test('W33 the marker in a text does not end the generated part', async () => {
      const project = 'marks'
      await begin(project, [`Handle the ${generatedMarker} mark`])
      await ask('comment', { project, story_id: 'STORY-1', text: `see ${generatedMarker}` })
      for (const summary of ['older', `about ${generatedMarker}`, 'newer'])
        await ask('history', { project, summary })
      await ask('sync', { project })
      const story = note(project, 'Stories', 'STORY-1.md')
      expect(story.split(generatedMarker)).toHaveLength(2)
      expect(load(story.split('---\n')[1] ?? '')).toMatchObject({ title: 'Handle the (mark) mark' })
      expect(story).toContain('sales: see (mark)\n')
      expect(note(project, 'History.md')).toContain(': older\n')
      expect(await ask('sync', { project })).toMatchObject({ written: 0 })
    })

    test('W31 W32 every item has its own note, for any id', async () => {
      const project = 'odd-ids'
      await begin(project, ['First', 'Second', 'Third'])
      const before = await desk.text(project)
      const ids = [
        ['STORY-1', 'a/b'],
        ['STORY-2', '"a:b"'],
        ['STORY-3', 'a_b'],
      ] as const
      desk.edit(
        project,
        (text) => ids.reduce((now, [from, to]) => now.replace(`id: ${from}`, `id: ${to}`), text),
        before,
      )
      await ask('sync', { project })
      const names = readdirSync(path(project, 'Stories'))
      expect(names).toEqual(expect.arrayContaining(['a%2fb.md', 'a%3ab.md', 'a_b.md']))
      expect(note(project, 'Stories', 'a%2fb.md')).toContain('# First')
      expect(note(project, 'Sprints', 'one.md')).toContain(
        `[[projects/${project}/Stories/a%3ab\\|Second]]`,
      )
    })

    test('W33 a blocked note is reported, and the other notes are written', async () => {
      const project = 'blocked'
      await begin(project, ['First', 'Second'])
      mkdirSync(path(project, 'Stories', 'STORY-1.md'), { recursive: true })
      await expect(ask('sync', { project })).rejects.toMatchObject({
        code: 'vault_blocked',
        message: expect.stringContaining(`projects/${project}/Stories/STORY-1.md`),
        details: { written: expect.any(Number) },
      })
      expect(note(project, 'Stories', 'STORY-2.md')).toContain('# Second')
      rmSync(path(project, 'Stories'), { recursive: true })
      writeFileSync(path(project, 'Stories'), 'A file of mine')
      await expect(ask('sync', { project })).rejects.toMatchObject({ code: 'vault_blocked' })
      expect(note(project, 'Stories')).toBe('A file of mine')
      rmSync(path(project, 'Stories'))
      expect(await ask('sync', { project })).toMatchObject({ written: 2 })
      expect(await ask('sync', { project })).toMatchObject({ written: 0 })
    })

    test.each(['null', '[]', '{"a": 1}', '"x"', '{'])(
      'W18 a manifest with %s is rewritten',
      async (manifest) => {
        const project = 'lists'
        if (!desk.work.registry.get(project)) await begin(project, ['First'])
        await ask('sync', { project })
        writeFileSync(join(world.root, 'vault', '.worksync-manifest.json'), manifest)
        expect(await ask('sync', { project })).toMatchObject({ written: 0, removed: 0 })
      },
    )
  })
}
