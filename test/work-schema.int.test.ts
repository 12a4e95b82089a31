import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { startTestApp } from './app.ts'
import { createClient } from './speakers.ts'

async function openWork(project: string) {
  const app = await startTestApp()
  onTestFinished(() => app.close())
  const owner = createClient(app, app.owner)
  const folder = join(app.state, 'worksync', 'projects', project)
  const index = join(folder, 'work-index.yaml')
  /** Validates the file with the published schema, resolved as an editor does. */
  const faults = () => {
    const schema = readFileSync(join(folder, 'SCHEMA', 'work-flow-schema.json'), 'utf8')
    const published = z.fromJSONSchema(JSON.parse(schema) as Parameters<typeof z.fromJSONSchema>[0])
    return published.safeParse(parse(readFileSync(index, 'utf8'))).error?.issues ?? []
  }
  return { owner, folder, index, faults }
}

test('RM9 W9 the published schema validates the file after every kind of change', async () => {
  const project = 'schema'
  const { owner, index, faults } = await openWork(project)
  const steps: [tool: string, args: object][] = [
    ['register_project', {}],
    ['create_sprint', { sprint_id: 'one', title: 'One', goal: 'Ship', status: 'active' }],
    ['create_sprint', { sprint_id: 'two' }],
    ['update_sprint', { sprint_id: 'two', status: 'completed' }],
    ['add_story', { sprint_id: 'one', title: 'First' }],
    ['add_story', { sprint_id: 'one', title: 'Second', depends_on: ['STORY-1'] }],
    ['claim', { story_id: 'STORY-1' }],
    ['comment', { story_id: 'STORY-1', text: 'a word' }],
    ['update_story', { story_id: 'STORY-1', status: 'in_progress', append_notes: 'half' }],
    ['release', { story_id: 'STORY-1' }],
    ['done', { story_id: 'STORY-1' }],
    ['move', { story_id: 'STORY-2', sprint_id: 'two' }],
    ['add_backlog', { item_id: 'later', summary: 'Later', theme: 'docs' }],
    ['add_backlog', { item_id: 'never', summary: 'Never' }],
    ['update_backlog', { item_id: 'later', status: 'in_progress' }],
    ['remove_backlog', { item_id: 'never' }],
    ['history', { summary: 'Shipped', related_sprints: ['one'] }],
  ]
  const written = new Set<string>()
  for (const [tool, args] of steps) {
    const result = await owner.call(`worksync_${tool}`, { project, ...args })
    expect(result['code'], `${tool} ${JSON.stringify(result)}`).toBeUndefined()
    await expect.poll(() => written.has(readFileSync(index, 'utf8'))).toBe(false)
    written.add(readFileSync(index, 'utf8'))
    expect(faults(), tool).toEqual([])
  }
  expect(written.size).toBeGreaterThan(10)
  writeFileSync(index, readFileSync(index, 'utf8').replace('in_progress', 'half_done'))
  expect(faults()).not.toEqual([])
})

const versionOne = `version: 1
sprints:
  - id: sprint-1
    title: First sprint
    file: SPRINTS/sprint-1.md
    status: reference
    goal: Learn
    themes: [docs, speed]
    stories:
      - id: S-1
        status: done
        notes: went well
  - { id: sprint-2, title: Second, file: SPRINTS/sprint-2.md, status: planned }
backlog:
  - id: faster
    theme: speed
    summary: Make it faster
    status: todo
    related_sprints: [sprint-2]
history:
  - date: "2026-01-31"
    summary: Began
    related_sprints: [sprint-1]
`

test('RM9 W9 a WorkSync file with version 1 fields is valid and stays unchanged', async () => {
  const project = 'seed'
  const { owner, folder, index, faults } = await openWork(project)
  mkdirSync(folder, { recursive: true })
  writeFileSync(index, versionOne)
  const result = await owner.call('worksync_register_project', { project })
  expect(result['code'], JSON.stringify(result)).toBeUndefined()
  await owner.call('worksync_get', { project })
  expect(readFileSync(index, 'utf8')).toBe(versionOne)
  expect(faults()).toEqual([])
})
