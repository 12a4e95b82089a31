import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { mountSmallDisk } from './small-disk.ts'
import { createClient } from './speakers.ts'
import type { Speaker } from './speakers.ts'
import { connectTo, workFile, parseIndexFile, settled } from './work-clients.ts'
import type { WorkClient } from './work-clients.ts'
import { findStory } from './work.ts'

let app: TestApp
let owner: Speaker
let agent: WorkClient
beforeAll(async () => {
  app = await startTestApp({ 'work.auto_sync': false })
  owner = createClient(app, app.owner)
  agent = await connectTo(app, 'worker', 'http')
})
afterAll(async () => {
  await agent.end()
  await app.close()
})

async function begin(at: TestApp, project: string): Promise<string> {
  const by = createClient(at, at.owner)
  await by.call('worksync_register_project', { project })
  await by.call('worksync_create_sprint', { project, sprint_id: 'one', status: 'active' })
  await by.call('worksync_add_story', { project, sprint_id: 'one', title: 'The first' })
  return settled(at, project, 'The first')
}
const note = (project: string, notes: string) => ({ project, story_id: 'STORY-1', notes })

describe('an unusable file', () => {
  test('W6 an invalid file is reported with line and column, stays unchanged, and is used again once fixed', async () => {
    const project = 'broken'
    const text = await begin(app, project)
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes('title: The first'))
    lines[at] = '        title: "never closed'
    writeFileSync(workFile(app, project), lines.join('\n'))
    await sleep(1100)
    const refused = await agent.ask('update_story', note(project, 'x'))
    expect(refused.code ?? String(refused['text'])).toContain('work_file_broken')
    const message = JSON.stringify(refused)
    const [, line] = /work-index\.yaml:(\d+):\d+/.exec(message) ?? []
    expect(Number(line)).toBeGreaterThanOrEqual(at + 1)
    expect(await agent.ask('get', { project, story_id: 'STORY-1' })).toMatchObject({
      story: { title: 'The first' },
      stale: [project],
    })
    // A resource also returns the last valid version.
    await agent.client.readResource({ uri: `work://${project}/STORY-1` })
    expect(readFileSync(workFile(app, project), 'utf8')).toBe(lines.join('\n'))
    // Other projects still work.
    await begin(app, 'beside')
    expect(await agent.ask('update_story', note('beside', 'x'))).toHaveProperty('story')
    writeFileSync(workFile(app, project), text)
    await sleep(100)
    expect(await agent.ask('update_story', note(project, 'mended'))).toHaveProperty('story')
    await settled(app, project, 'mended')
  })

  test('W6 a folder in place of the file refuses changes, and the file is rewritten when it is gone', async () => {
    const project = 'folder'
    await begin(app, project)
    const path = workFile(app, project)
    rmSync(path)
    mkdirSync(path)
    const refused = await agent.ask('update_story', note(project, 'x'))
    expect(JSON.stringify(refused)).toContain('Not a regular file')
    expect(await agent.ask('status', { project })).toMatchObject({ stale: [project] })
    rmSync(path, { recursive: true })
    expect(await agent.ask('update_story', note(project, 'back again'))).toHaveProperty('story')
    await settled(app, project, 'back again')
  })

  test('W5 an edit whose copy cannot be saved is not imported, and the call says why', async () => {
    const project = 'aside'
    const text = await begin(app, project)
    const own = join(dirname(workFile(app, project)), '.cowork')
    rmSync(own, { recursive: true, force: true })
    writeFileSync(own, 'in the way')
    writeFileSync(workFile(app, project), text.replace('The first', 'By hand'))
    await sleep(100)
    const refused = await agent.ask('update_story', note(project, 'x'))
    expect(JSON.stringify(refused)).toContain('work_file_broken')
    expect(await agent.ask('status', { project })).toMatchObject({ stale: [project] })
    rmSync(own)
    expect(await agent.ask('update_story', note(project, 'x'))).toMatchObject({
      story: { title: 'By hand', notes: 'x' },
    })
  })

  test('W9 W23 a file of 50 MB works, and one over 64 MB is refused', async () => {
    const project = 'long'
    const folder = join(app.state, 'worksync', 'projects', project)
    mkdirSync(folder, { recursive: true })
    const notes = `${'Long notes about the story, line by line.\n          '.repeat(900)}`
    const story = (n: number) =>
      `      - id: STORY-${n}\n        title: Story ${n}\n        status: planned\n        notes: |\n          ${notes}\n`
    const count = Math.ceil(50_000_000 / story(1).length)
    const stories = Array.from({ length: count }, (_, n) => story(n + 1)).join('')
    const text = `version: 2\nsprints:\n  - id: one\n    status: active\n    stories:\n${stories}backlog: []\n`
    expect(text.length).toBeGreaterThan(50_000_000)
    writeFileSync(workFile(app, project), text)
    await owner.call('worksync_register_project', { project })
    const done = await agent.ask('done', { project, story_id: 'STORY-2' })
    expect(done).toMatchObject({ story: { status: 'done' } })
    const { projects } = await agent.ask('status', { project })
    expect(projects).toMatchObject([{ counts: { stories: { planned: count - 1, done: 1 } } }])
    await expect
      .poll(() => readFileSync(workFile(app, project), 'utf8').includes('status: done'), {
        timeout: 30_000,
      })
      .toBe(true)
    expect(readFileSync(workFile(app, project), 'utf8').length).toBeGreaterThan(50_000_000)

    writeFileSync(workFile(app, project), `${text}#${'x'.repeat(15_000_000)}\n`)
    await sleep(100)
    const refused = await agent.ask('update_story', note(project, 'x'))
    expect(JSON.stringify(refused)).toContain('larger than 64 MB')
    await owner.call('worksync_unregister_project', { project })
  }, 120_000)
})

test('W3 W7 on a full or read-only disk acknowledged changes are written later and the file stays complete', async () => {
  const state = mkdtempSync(join(tmpdir(), 'cowork-disk-'))
  const disk = mountSmallDisk(join(state, 'worksync', 'projects'), 512)
  let second: TestApp | undefined
  try {
    second = await startTestApp({ 'work.auto_sync': false }, { state })
    const by = createClient(second, second.owner)
    const project = 'small'
    await begin(second, project)
    const inFile = () => findStory(parseIndexFile(second as TestApp, project), 'STORY-1')?.notes

    disk.setReadOnly()
    const acknowledged = await by.call('worksync_update_story', note(project, 'while read-only'))
    expect(acknowledged).toMatchObject({ story: { notes: 'while read-only' } })
    expect(await by.call('worksync_get', { project, story_id: 'STORY-1' })).toMatchObject({
      story: { notes: 'while read-only' },
    })
    await sleep(500)
    expect(inFile()).toBeUndefined()
    disk.setWritable()
    await expect.poll(inFile).toBe('while read-only')

    const filler = join(disk.path, 'filler')
    expect(() => writeFileSync(filler, 'x'.repeat(600_000))).toThrow('ENOSPC')
    const long = 'y'.repeat(40_000)
    expect(await by.call('worksync_update_story', note(project, long))).toHaveProperty('story')
    await sleep(500)
    expect(inFile()).toBe('while read-only')
    rmSync(filler)
    await expect.poll(inFile).toBe(long)
  } finally {
    await second?.close()
    disk.remove()
  }
})
