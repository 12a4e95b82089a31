import { existsSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addAgent, newFolder, openPlace } from './files.ts'

test('GR6 what is denied to one agent is moved out of its denial by no other', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const mover = (await addAgent(app, 'mover')).mcp
  const folder = newFolder()
  const at = (name: string) => join(folder, name)
  mkdirSync(at('sub'))
  for (const name of ['f.txt', 'sub/x.txt', 'free.txt']) writeFileSync(at(name), 'denied')
  symlinkSync('sub', at('alias'))
  symlinkSync('.', at('here'))
  for (const name of ['f.txt', 'sub']) {
    const asked = { path: at(name), permission: 'read', reason: 'to look' }
    const { request_id } = await agent.call('request_grant', asked)
    await owner.call('cowork_decide', {
      approval_ids: [request_id],
      decision: 'reject',
      grant: { choice: 'deny_always' },
      hold: false,
    })
  }
  await grant(folder, 'read-write')
  await grant(folder, 'read-write', { agent: 'mover' })
  const move = (source: string, destination: string) =>
    mover.call('move_file', { source: at(source), destination: at(destination) })
  for (const [source, destination] of [
    ['f.txt', 'f2.txt'],
    ['sub', 'sub2'],
    ['sub/x.txt', 'x.txt'],
    ['alias/x.txt', 'x.txt'],
    ['here/f.txt', 'f2.txt'],
    ['sub/x.txt', 'sub/y.txt'],
  ] as const) {
    const refused = await move(source, destination)
    expect(refused, source).toMatchObject({ code: 'no_grant' })
    expect(JSON.stringify(refused)).not.toMatch(/writer|den(y|ied)/)
    expect(existsSync(at(destination))).toBe(false)
  }
  expect(await move('free.txt', 'freed.txt')).toMatchObject({ success: true })
})

test('GR6 PV9 a folder is moved whatever a grant in it was for that is not there any more, and not out of what narrows it', async () => {
  const { app, agent, grant } = await openPlace()
  await addAgent(app, 'other')
  const folder = newFolder()
  const at = (name: string) => join(folder, name)
  for (const name of ['theirs', 'own']) {
    mkdirSync(at(name))
    writeFileSync(at(`${name}/f.txt`), 'one')
  }
  await grant(folder, 'read-write')
  await grant(at('theirs/f.txt'), 'read', { agent: 'other' })
  await grant(at('own/f.txt'), 'read')
  const move = (name: string) =>
    agent.call('move_file', { source: at(name), destination: at(`${name}-moved`) })
  for (const name of ['theirs', 'own'])
    expect(await move(name), name).toMatchObject({ code: 'no_grant' })
  for (const name of ['theirs', 'own']) {
    writeFileSync(at('new'), 'two')
    renameSync(at('new'), at(`${name}/f.txt`))
  }
  expect(await move('theirs')).toMatchObject({ success: true })
  // A file that was granted for reading stays read-only after an editor saves it.
  expect(await move('own')).toMatchObject({ code: 'no_grant' })
})

test('FT6 GR6 a search finds what may be read behind what may not', async () => {
  const { agent, grant } = await openPlace()
  const outer = newFolder()
  const inner = join(outer, 'box', 'open', 'deep')
  mkdirSync(inner, { recursive: true })
  for (const folder of [outer, join(outer, 'box'), join(outer, 'box', 'open'), inner])
    writeFileSync(join(folder, 'n.txt'), 'needle')
  await grant(outer)
  await grant(join(outer, 'box'), 'write')
  await grant(join(outer, 'box', 'open'))
  await grant(inner)
  for (const search_type of ['content', 'filename']) {
    const query = search_type === 'content' ? 'needle' : 'n.txt'
    const asked = { query, search_type, search_in: 'granted' }
    const { results } = await agent.call('search_files', asked)
    expect((results as { path: string }[]).map(({ path }) => path).toSorted()).toEqual(
      [join(inner, 'n.txt'), join(outer, 'box', 'open', 'n.txt'), join(outer, 'n.txt')].toSorted(),
    )
  }
})

test('GR6 PV3 a second name of a file that is denied is closed to that agent, in any way of reading', async () => {
  const { app, agent, owner, grant } = await openPlace()
  const other = (await addAgent(app, 'other')).mcp
  const folder = newFolder()
  const at = (name: string) => join(folder, name)
  writeFileSync(at('kept.txt'), 'needle')
  linkSync(at('kept.txt'), at('again.txt'))
  writeFileSync(at('free.txt'), 'needle')
  linkSync(at('free.txt'), at('freed.txt'))
  const asked = { path: at('kept.txt'), permission: 'read', reason: 'to look' }
  const { request_id } = await agent.call('request_grant', asked)
  await owner.call('cowork_decide', {
    approval_ids: [request_id],
    decision: 'reject',
    grant: { choice: 'deny_always' },
  })
  await grant(folder, 'read-write', { hard_links: true })
  await grant(folder, 'read-write', { hard_links: true, agent: 'other' })
  const path = at('again.txt')
  for (const [tool, input] of [
    ['read_file', { path }],
    ['copy_file', { source: path, destination: 'taken.txt' }],
    ['file_diff', { path, with: at('free.txt') }],
    ['update_file', { path, edits: [{ old: 'needle', new: 'n' }] }],
    ['create_file', { path, content: 'x', overwrite: true }],
  ] as const)
    expect([tool, await agent.call(tool, input)]).toMatchObject([tool, { code: 'no_grant' }])
  const search = { query: 'needle', search_type: 'content', search_in: 'granted' }
  const { results } = await agent.call('search_files', search)
  expect((results as { path: string }[]).map((one) => one.path).toSorted()).toEqual(
    [at('free.txt'), at('freed.txt')].toSorted(),
  )
  expect(await agent.call('read_file', { path: at('freed.txt') })).toMatchObject({ success: true })
  expect(await other.call('read_file', { path })).toMatchObject({ content: 'needle' })
  // Inode numbers are reused: the file that replaced this one says nothing about it.
  writeFileSync(at('new.txt'), 'other')
  renameSync(at('new.txt'), at('kept.txt'))
  expect(await agent.call('read_file', { path })).toMatchObject({ content: 'needle' })
})
