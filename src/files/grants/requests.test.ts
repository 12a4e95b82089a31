import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna, check } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { grantChoices } from '../rules/choices.ts'
import { createWorld } from '../../../test/granted.ts'

const day = 24 * 60 * 60 * 1000
const world = () => createWorld(sqliteStore())

test('GR3 GR6 a file that is allowed does not open its folder', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: id } = await here.ask(file, here.sales)
  await here.allow(id, 'file')
  expect(await here.check(file, here.sales)).toMatchObject({ has_access: true })
  expect(await here.check(docs, here.sales)).toEqual({
    has_access: false,
    permission: null,
    grant_id: null,
    granted_path: null,
  })
  const other = join(docs, 'credentials.json')
  expect(await here.grants.decideNow(here.sales, other, 'read')).toEqual({ code: 'no_grant' })
})

test('GR3 denied is denied while it is fresh, and another path can still be asked for', async () => {
  const { start, docs, move } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  expect(await here.decide(id, { decision: 'reject' })).toMatchObject({ status: 'rejected' })
  expect(await here.ask(docs, here.sales)).toEqual({
    status: 'denied',
    message: 'User denied access request',
    next: expect.stringContaining('cowork_handoff'),
  })
  expect(await here.ask(join(docs, 'Work'), here.sales)).toMatchObject({ status: 'pending' })
  move(2 * 60 * 60 * 1000)
  const again = await here.ask(docs, here.sales)
  expect(again).toMatchObject({ status: 'pending' })
  expect(again['request_id']).not.toBe(id)
})

test('GR3 what was denied says nothing of other agents', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  await here.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
  const support = await here.agent('support')
  expect(await here.ask(docs, support)).toMatchObject({ status: 'pending' })
})

test('GR3 less than was asked for is said as such', async () => {
  const { start, docs } = await world()
  const here = await start()
  const asked = { permission: 'read-write' }
  const { request_id: id } = await here.ask(docs, here.sales, asked)
  await here.allow(id, 'folder')
  expect(await here.ask(docs, here.sales, asked)).toMatchObject({
    status: 'granted',
    permission: 'read',
    message: `Access granted to read ${docs}, not to write.`,
  })
  expect(here.grants.decide(here.sales, join(docs, 'report.txt'), 'write')).toEqual({
    code: 'read_only_grant',
  })
})

test('GR3 approving without a choice gives the narrowest; a file to write in needs one', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: read } = await here.ask(file, here.sales)
  expect(await here.decide(read)).toMatchObject({ status: 'approved' })
  expect(await here.listed(anna)).toMatchObject([
    { path: file, kind: 'file', permission: 'read', scope: 'session' },
  ])
  const { request_id: write } = await here.ask(file, here.sales, { permission: 'read-write' })
  expect(await here.decide(write)).toMatchObject({
    status: 'error',
    error: { code: 'invalid_input' },
  })
  const until = new Date(here.now() + day).toISOString()
  expect(await here.allow(write, 'until', until)).toMatchObject({ status: 'approved' })
  expect(await here.grants.decideNow(here.sales, file, 'write')).toMatchObject({
    grant: { path: file, expiresAt: Date.parse(until) },
  })
})

test('GR3 a choice fits the decision, one request at a time', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: one } = await here.ask(docs, here.sales)
  const { request_id: two } = await here.ask(join(docs, 'Work'), here.sales)
  for (const more of [
    { grant: { choice: 'deny' } },
    { decision: 'reject', grant: { choice: 'folder' } },
    { grant: { choice: 'until' } },
    { change: { path: '/' } },
  ])
    expect(await here.decide(one, more)).toMatchObject({ error: { code: 'invalid_input' } })
  const bulk = { approval_ids: [one, two], decision: 'approve', grant: { choice: 'folder' } }
  expect(await here.call('cowork_decide', bulk, anna)).toMatchObject({ fault: 'invalid_input' })
  expect(here.grants.listActive()).toEqual([])
})

test('GR3 the tool of people knows every choice', async () => {
  const { start } = await world()
  const here = await start()
  const schema = here.catalogue.find('cowork_decide')?.input.toJSONSchema()
  expect(schema).toMatchObject({
    properties: { grant: { properties: { choice: { enum: grantChoices } } } },
  })
})

test('GR1 a link is granted as what it leads to, and shown to people as such', async () => {
  const { start, home, docs } = await world()
  const link = join(home, 'papers')
  symlinkSync(docs, link)
  const here = await start()
  const { request_id: id } = await here.ask(link, here.sales)
  expect(await here.governance.inbox.detail(anna, String(id))).toMatchObject({
    target: link,
    grant: { path: link, real: docs },
  })
  await here.allow(id, 'folder')
  expect(await here.ask(link, here.sales)).toMatchObject({
    status: 'granted',
    granted_path: docs,
  })
})

test('GR3 PV1 a link that leads out of a grant is asked about, as the place it leads to', async () => {
  const { start, home, docs } = await world()
  const here = await start()
  const work = join(docs, 'Work')
  const other = join(home, 'Other')
  mkdirSync(other)
  writeFileSync(join(other, 'x.txt'), 'x')
  const links = {
    out: join(other, 'x.txt'),
    gone: '../../Other/none.txt',
    inside: 'plan.md',
    closed: join(home, '.ssh'),
    denied: 'kept.txt',
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name))
  symlinkSync(other, join(work, 'away'))
  writeFileSync(join(work, 'kept.txt'), 'x')
  const { request_id: kept } = await here.ask(join(work, 'kept.txt'), here.sales)
  await here.decide(kept, { decision: 'reject', grant: { choice: 'deny_always' } })
  await here.add(work, 'read-write', { agent: 'sales' })
  const ask = (name: string) => here.ask(join(work, name), here.sales)
  expect(await ask('inside')).toMatchObject({ status: 'granted', granted_path: work })
  expect(await ask('closed')).toMatchObject({ fault: 'forbidden_path' })
  expect(await ask('denied')).toMatchObject({ status: 'denied' })
  const out = await ask('out')
  // Whether something is at its end is not told.
  const gone = await ask('gone')
  const away = await ask('away/x.txt')
  for (const { request_id: _, review_url: __, next: ___, ...shared } of [out, gone, away])
    expect(shared).toEqual({ status: 'pending', message: 'Waiting for user approval' })
  for (const [{ request_id: id }, real] of [
    [out, 'x.txt'],
    [gone, 'none.txt'],
    [away, 'x.txt'],
  ] as const)
    expect(await here.governance.inbox.detail(anna, String(id))).toMatchObject({
      grant: { real: join(other, real), folder: other },
    })
  expect(await here.allow(out['request_id'], 'file')).toMatchObject({
    also: [{ id: away['request_id'] }],
  })
  for (const name of ['out', 'away/x.txt'])
    expect(await ask(name)).toMatchObject({
      status: 'granted',
      granted_path: join(other, 'x.txt'),
    })
})

test('GR1 a grant is pinned to what lay there when it was asked for', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(join(docs, 'Work'), here.sales)
  renameSync(join(docs, 'Work'), join(docs, 'Moved'))
  mkdirSync(join(docs, 'Work'))
  expect(await here.allow(id, 'folder')).toMatchObject({ error: { code: 'stale' } })
  expect(await here.grants.list()).toEqual([])
})

test('PV4 what is closed is refused without asking, also behind a link', async () => {
  const { start, home, root } = await world()
  const here = await start()
  symlinkSync(join(home, '.ssh'), join(home, 'keys'))
  const paths = [
    '~/.ssh',
    '/etc/passwd',
    '~/keys',
    '~/keys/none',
    '~/keys/a/b',
    join(root, 'state'),
  ]
  for (const path of paths)
    expect(await here.ask(path, here.sales)).toMatchObject({ fault: 'forbidden_path' })
  expect(await here.entries(['grant.requested'])).toEqual([])
  expect(await here.check('~/.ssh/config', here.sales)).toMatchObject({ has_access: false })
})

test('GR3 the workspace needs no grant, also by a link to it', async () => {
  const { start, workspace, home } = await world()
  const here = await start()
  symlinkSync(workspace, join(home, 'shortcut'))
  expect(await here.ask('~/shortcut/notes.md', here.sales)).toMatchObject({
    status: 'granted',
    granted_path: join(workspace, 'notes.md'),
    message: `The path is in the workspace. Use ${join(workspace, 'notes.md')}.`,
  })
  for (const path of ['notes.md', workspace]) {
    expect(await here.ask(path, here.sales)).toMatchObject({ status: 'granted' })
    expect(await here.check(path, here.sales)).toEqual({
      has_access: true,
      permission: 'read-write',
      grant_id: null,
      granted_path: workspace,
    })
  }
  expect(await here.ask('../x', here.sales)).toMatchObject({ fault: 'path_traversal' })
})

test('GR3 GR6 below a denial nothing is allowed in vain', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const { request_id: below } = await here.ask(file, here.sales)
  const { request_id: whole } = await here.ask(docs, here.sales)
  const { request_id: same } = await here.ask(docs, here.sales, { permission: 'read-write' })
  // A deferred decision can be undone after the other requests are denied.
  const held = { approval_ids: [below, same] }
  await here.call('cowork_decide', { ...held, decision: 'approve', hold: true }, anna)
  await here.decide(whole, { decision: 'reject', grant: { choice: 'deny_always' } })
  await here.call('cowork_undo', held, anna)
  for (const [id, choice] of [
    [below, 'file'],
    [below, 'file_once'],
    [same, 'folder_session'],
  ] as const)
    expect([choice, await here.allow(id, choice)]).toMatchObject([
      choice,
      { error: { code: 'denied_above' } },
    ])
  // A new decision on the same path replaces the denial.
  expect(await here.allow(same, 'folder_write')).toMatchObject({ status: 'approved' })
  expect(await here.grants.decideNow(here.sales, file, 'write')).toMatchObject({
    grant: { path: docs },
  })
})

test('GR3 GR5 a request that outlives its session is allowed for the one that joined it', async () => {
  const { start, docs } = await world()
  const here = await start()
  const file = join(docs, 'report.txt')
  const first = await here.agent('sales', 'sales-0')
  const { request_id: once } = await here.ask(file, first)
  const { request_id: folder } = await here.ask(docs, first)
  here.identity.sessions.endConnection('sales-0')
  expect(await here.decide(once)).toMatchObject({ error: { code: 'session_ended' } })
  const again = await here.agent('sales', 'sales-2')
  expect(await here.ask(file, again)).toMatchObject({ status: 'pending', request_id: once })
  expect(await here.decide(once)).toMatchObject({ status: 'approved' })
  expect(await here.ask(file, again)).toMatchObject({ status: 'granted', granted_path: file })
  // After a restart, too: sessions end with it.
  await here.stop()
  const after = await start()
  const later = await after.agent('sales', 'sales-3')
  expect(await after.ask(docs, later)).toMatchObject({ request_id: folder })
  expect(await after.allow(folder, 'folder_session')).toMatchObject({ status: 'approved' })
  expect(await after.ask(docs, later)).toMatchObject({ status: 'granted', granted_path: docs })
})

test('GR5 whoever joins takes nothing from the session that asked first', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  await here.ask(docs, await here.agent('sales', 'sales-2'))
  await here.allow(id, 'folder_session')
  expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'granted' })
})

test('B4 refusing access costs trust only if the person says so', async () => {
  const { start, docs } = await world()
  const here = await start()
  const trust = () => here.call('cowork_check_trust', { domain: 'files' }, here.sales)
  const before = await trust()
  const { request_id: one } = await here.ask(docs, here.sales)
  await here.decide(one, { decision: 'reject' })
  expect(await trust()).toEqual(before)
  const { request_id: two } = await here.ask(join(docs, 'Work'), here.sales)
  const override = { type: 'agent_wrong', severity: 'high' }
  expect(await here.decide(two, { decision: 'reject', override })).toMatchObject({
    trust: { from: 0.3, to: 0.18 },
  })
})

test('A3 an agent cannot decide on its own request, nor change a grant (GR8)', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales)
  for (const [tool, args] of [
    ['cowork_decide', { approval_ids: [id], decision: 'approve' }],
    ['add_grant', { path: docs, permission: 'read' }],
    ['revoke_grant', { grant_id: 'grant_x' }],
    ['browse_folder', { path: '~' }],
  ] as const)
    expect(await here.call(tool, args, here.sales)).toMatchObject({ fault: 'human_required' })
  expect(here.grants.listActive()).toEqual([])
})

test('Y9 asking for access is never itself asked about', async () => {
  const { start, docs } = await world()
  const here = await start({ 'approvals.every_write': true })
  expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'pending' })
  expect(await here.entries(['approval.requested'])).toEqual([])
})

test('GR3 an agent cannot bury people under requests', async () => {
  const { start, docs } = await world()
  const here = await start()
  for (let n = 0; n < 50; n++)
    expect(await here.ask(join(docs, `f${n}`), here.sales)).toMatchObject({ status: 'pending' })
  expect(await here.ask(join(docs, 'one-more'), here.sales)).toMatchObject({
    fault: 'too_many_requests',
  })
})

test('GR3 P8 why a person said no reaches the agent, also when they said never', async () => {
  const { start, docs } = await world()
  const here = await start()
  const reason = 'ask for the folder of one client'
  for (const [path, grant] of [
    [docs, undefined],
    [join(docs, 'Work'), { choice: 'deny_always' }],
  ] as const) {
    const { request_id: id } = await here.ask(path, here.sales)
    await here.decide(id, { decision: 'reject', reason, ...(grant && { grant }) })
    expect(await here.ask(path, here.sales)).toEqual({
      status: 'denied',
      feedback: reason,
      message: `User denied access request: ${reason}`,
      next: expect.any(String),
    })
    expect(await check(here, id, {}, here.sales)).toMatchObject({
      status: 'rejected',
      feedback: reason,
      message: expect.stringContaining(reason),
    })
  }
})

test('GR3 a request that waits names the call that asks for its outcome', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id, next } = await here.ask(docs, here.sales)
  expect(next).toContain(`cowork_check_approval {"request_id":"${String(id)}","wait_seconds":25}`)
})

test('GR3 who approves is told what else that answers', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: file } = await here.ask(join(docs, 'report.txt'), here.sales)
  const { request_id: folder } = await here.ask(docs, here.sales)
  expect(await here.allow(folder, 'folder')).toMatchObject({
    status: 'approved',
    also: [{ id: file, summary: expect.stringContaining('report.txt') }],
  })
})
