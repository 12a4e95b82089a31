import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openPlace } from './files.ts'
import type { Said } from './speakers.ts'

const everyWrite = { 'approvals.every_write': true }

async function setup() {
  const place = await openPlace(everyWrite)
  const ask = async (tool: string, args: Said) => {
    const { approval_id: id } = await place.agent.call(tool, args)
    expect(id).toEqual(expect.any(String))
    return String(id)
  }
  const approve = (id: string, more: Said = {}) =>
    place.owner.call('cowork_decide', { approval_ids: [id], decision: 'approve', ...more })
  const ended = (id: string) =>
    place.agent.call('cowork_check_approval', { approval_id: id, wait_seconds: 25 })
  const file = (name: string) => join(place.workspace, name)
  return { ...place, ask, approve, ended, file }
}

const stale = { status: 'withdrawn', message: expect.stringMatching(/^STALE: /) as string }
const done = { status: 'consumed', result: { status: 'done' } }

test('A15 RA5 an approved file call runs, and one whose file has changed is stale', async () => {
  const { ask, approve, ended, file } = await setup()
  writeFileSync(file('a.txt'), 'one')
  writeFileSync(file('b.txt'), 'one')
  const update = (path: string) => ask('update_file', { path, content: 'two' })
  const [same, changed] = [await update('a.txt'), await update('b.txt')]
  writeFileSync(file('b.txt'), 'other')
  await approve(same)
  await approve(changed)
  expect(await ended(same)).toMatchObject(done)
  expect(await ended(changed)).toMatchObject({
    ...stale,
    message: `STALE: ${file('b.txt')} changed after your request; nothing was done. Read its current state and call update_file again.`,
  })
  expect(readFileSync(file('a.txt'), 'utf8')).toBe('two')
  expect(readFileSync(file('b.txt'), 'utf8')).toBe('other')
})

test('A15 a file that came to be, was replaced or is gone makes its call stale', async () => {
  const { ask, approve, ended, file } = await setup()
  for (const name of ['moved', 'taken', 'deleted', 'copied', 'free'])
    writeFileSync(file(name), 'same')
  const ids = {
    created: await ask('create_file', { path: 'created', content: 'mine' }),
    taken: await ask('move_file', { source: 'moved', destination: 'target' }),
    deleted: await ask('delete_file', { path: 'deleted' }),
    copied: await ask('copy_file', { source: 'copied', destination: 'copy' }),
    free: await ask('move_file', { source: 'free', destination: 'there/' }),
  }
  writeFileSync(file('created'), 'theirs')
  writeFileSync(file('target'), 'theirs')
  rmSync(file('deleted'))
  writeFileSync(file('deleted'), 'same')
  rmSync(file('copied'))
  for (const id of Object.values(ids)) await approve(id)
  for (const id of [ids.created, ids.taken, ids.deleted, ids.copied])
    expect(await ended(id)).toMatchObject(stale)
  expect(await ended(ids.free)).toMatchObject(done)
  expect(readFileSync(file('created'), 'utf8')).toBe('theirs')
  expect(readFileSync(file('moved'), 'utf8')).toBe('same')
})

test('A15 B3 an edit to another path runs there, and its own target still counts where it is the same', async () => {
  const { ask, approve, ended, file } = await setup()
  const id = await ask('create_file', { path: 'asked.txt', content: 'x' })
  writeFileSync(file('asked.txt'), 'theirs')
  await approve(id, { change: { path: './edited.txt', content: 'y' } })
  expect(await ended(id)).toMatchObject(done)
  expect(readFileSync(file('edited.txt'), 'utf8')).toBe('y')
  const moved = await ask('move_file', { source: 'edited.txt', destination: 'one' })
  writeFileSync(file('edited.txt'), 'changed')
  await approve(moved, { change: { source: 'edited.txt', destination: 'two' } })
  expect(await ended(moved)).toMatchObject(stale)
})

test('A15 a call is stale if its story has changed', async () => {
  const { ask, approve, ended, owner } = await setup()
  const project = 'demo'
  await owner.call('worksync_register_project', { project })
  await owner.call('worksync_create_sprint', { project, sprint_id: 's', title: 'S' })
  for (const title of ['One', 'Two'])
    await owner.call('worksync_add_story', { project, sprint_id: 's', title })
  const note = (story_id: string) =>
    ask('worksync_update_story', { project, story_id, notes: 'mine' })
  const [same, changed] = [await note('STORY-1'), await note('STORY-2')]
  await owner.call('worksync_update_story', { project, story_id: 'STORY-2', notes: 'theirs' })
  await approve(same)
  await approve(changed)
  expect(await ended(same)).toMatchObject(done)
  expect(await ended(changed)).toMatchObject(stale)
})

test('A1 RA5 different spellings of one path are one request, and one result', async () => {
  const { agent, app, workspace, ask, approve, ended } = await setup()
  mkdirSync(join(workspace, 'f'))
  const content = 'the same'
  const id = await ask('create_file', { path: 'f/k.txt', content })
  const spellings = ['f/k.txt', join(workspace, 'f/k.txt'), join(app.workspace, 'f/k.txt')]
  const spelling = fc
    .tuple(
      fc.constantFrom('', './', `${workspace}/`, `${app.workspace}/`),
      fc.array(fc.constantFrom('/', './', '//', './/'), { maxLength: 3 }),
    )
    .map(([start, between]) => `${start}f/${between.join('').replace(/^\/+/, '')}k.txt`)
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.constantFrom(...spellings), spelling), async (path) => {
      const reply = await agent.call('create_file', { path, content })
      expect(reply).toMatchObject({ code: 'approval_required', approval_id: id })
    }),
    { numRuns: 25 },
  )
  expect(relative(workspace, join(workspace, 'f/k.txt'))).toBe('f/k.txt')
  for (const other of ['f/K.txt', 'k.txt', 'f/k.txt/'])
    expect(await agent.call('create_file', { path: other, content })).not.toMatchObject({
      approval_id: id,
    })
  await approve(id)
  expect(await ended(id)).toMatchObject(done)
  expect(await agent.call('create_file', { path: './f/k.txt', content })).toMatchObject({
    success: true,
    approval_id: id,
    not_run_again: true,
  })
})
