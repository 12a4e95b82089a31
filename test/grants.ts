import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna, check } from './acts.ts'
import type { Said, Store } from './governed.ts'
import { createWorld } from './granted.ts'
import { pinPath } from '../src/files/grants/pin.ts'
import type { Inode } from '../src/files/worker/protocol.ts'

const day = 24 * 60 * 60 * 1000

const reasons = async (here: { entries(types: string[]): Promise<{ data?: unknown }[]> }) =>
  (await here.entries(['grant.revoked'])).map(({ data }) => (data as Said)['reason'])

/** Registers the tests of grants that every store must pass. */
export function grantsContract(newStore: () => Promise<Store>): void {
  const world = async () => createWorld(await newStore())

  test('GR3 a request waits, the same call says so, and the outcome is a grant', async () => {
    const { start, docs } = await world()
    const here = await start()
    const first = await here.ask(docs, here.sales)
    expect(first).toMatchObject({
      status: 'pending',
      request_id: expect.any(String),
      message: 'Waiting for user approval',
    })
    const id = first['request_id']
    expect(await here.ask(docs, here.sales, { reason: 'for another reason' })).toMatchObject({
      status: 'pending',
      request_id: id,
    })
    expect(await here.allow(id, 'folder')).toMatchObject({ status: 'approved' })
    const after = await here.ask(docs, here.sales)
    expect(after).toMatchObject({
      status: 'granted',
      permission: 'read',
      grant_id: expect.stringMatching(/^grant_/),
      granted_path: docs,
    })
    expect(await check(here, id, {}, here.sales)).toMatchObject({
      status: 'approved',
      answer: { grant_id: after['grant_id'], path: docs, permission: 'read', scope: 'permanent' },
    })
    expect(await here.check(join(docs, 'report.txt'), here.sales)).toEqual({
      has_access: true,
      permission: 'read',
      grant_id: after['grant_id'],
      granted_path: docs,
    })
    const entries = await here.entries(['grant.requested', 'approval.approved', 'grant.made'])
    expect(entries).toMatchObject([
      { type: 'grant.requested', actor: { id: 'sales' }, subject: docs, ids: { approval: id } },
      {
        type: 'grant.made',
        actor: { id: 'anna' },
        subject: docs,
        ids: { grant: after['grant_id'], approval: id },
        data: { agent_id: 'sales', permission: 'read', scope: 'permanent' },
      },
      { type: 'approval.approved', ids: { approval: id }, data: { choice: 'folder' } },
    ])
  })

  test('GR3 deny and don’t ask again: nobody is asked again, below it either, until a person takes it back', async () => {
    const { start, docs, move } = await world()
    const here = await start()
    const { request_id: id } = await here.ask(docs, here.sales)
    await here.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
    move(100 * day)
    expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'denied' })
    expect(await here.ask(join(docs, 'report.txt'), here.sales)).toMatchObject({
      status: 'denied',
    })
    expect(await here.listed(here.sales)).toEqual([])
    const [denial] = await here.listed(anna)
    expect(denial).toMatchObject({ permission: 'deny', path: docs, agent: 'sales' })
    await here.revoke(denial?.['id'])
    expect(await here.ask(docs, here.sales)).toMatchObject({ status: 'pending' })
  })

  test('GR3 a grant answers the other requests that it covers', async () => {
    const { start, docs } = await world()
    const here = await start()
    const { request_id: file } = await here.ask(join(docs, 'report.txt'), here.sales)
    const { request_id: write } = await here.ask(docs, here.sales, { permission: 'read-write' })
    const { request_id: folder } = await here.ask(docs, here.sales)
    await here.allow(folder, 'folder')
    const status = async (id: unknown) => (await check(here, id, {}, here.sales))['status']
    expect(await status(file)).toBe('approved')
    expect(await status(write)).toBe('pending')
    expect(await here.listed(anna)).toHaveLength(1)
  })

  test('P7 a request nobody decides on expires, and can be made again', async () => {
    const { start, docs, move } = await world()
    const here = await start()
    const { request_id: id } = await here.ask(docs, here.sales)
    move(8 * day)
    const again = await here.ask(docs, here.sales)
    expect(again).toMatchObject({ status: 'pending' })
    expect(again['request_id']).not.toBe(id)
    expect(await here.allow(id, 'folder')).toMatchObject({ status: 'error' })
  })

  test('GR4 GR10 what a person adds is there at once, and gone at once when it is revoked', async () => {
    const { start, docs } = await world()
    const here = await start()
    const file = join(docs, 'report.txt')
    const added = await here.add(file, 'read', { granted_by: 'user_implicit' })
    expect(added).toMatchObject({
      agent: '*',
      path: file,
      kind: 'file',
      permission: 'read',
      scope: 'permanent',
      granted_by: 'user_implicit',
      expires_at: null,
      last_accessed: null,
      access_count: 0,
    })
    expect(await here.listed(here.sales)).toEqual([added])
    expect(here.grants.decide(here.sales, file, 'read')).toMatchObject({
      grant: { id: added['id'] },
    })
    expect(await here.revoke(added['id'])).toEqual({ success: true, revoked_path: file })
    expect(here.grants.decide(here.sales, file, 'read')).toEqual({ code: 'no_grant' })
    expect(await here.revoke(added['id'])).toMatchObject({ fault: 'not_found' })
    expect(await here.entries(['grant.made', 'grant.revoked'])).toMatchObject([
      { type: 'grant.made', ids: { grant: added['id'] }, actor: { id: 'anna' } },
      {
        type: 'grant.revoked',
        ids: { grant: added['id'] },
        actor: { id: 'anna' },
        data: { reason: 'person' },
      },
    ])
  })

  test('GR1 what is said last about a path counts', async () => {
    const { start, docs } = await world()
    const here = await start()
    const { id } = await here.add(docs, 'read-write')
    await here.add(docs, 'read')
    expect(await here.listed(anna)).toMatchObject([{ permission: 'read' }])
    expect(await here.entries(['grant.revoked'])).toMatchObject([
      { ids: { grant: id }, data: { reason: 'replaced' } },
    ])
  })

  test('GR5 a session grant ends with its session and is for no other', async () => {
    const { start, docs } = await world()
    const here = await start()
    const { request_id: id } = await here.ask(docs, here.sales)
    await here.allow(id, 'folder_session')
    const other = await here.agent('sales', 'sales-2')
    expect((await here.grants.decideNow(here.sales, docs, 'read')).grant).toBeDefined()
    expect(here.grants.decide(other, docs, 'read').grant).toBeUndefined()
    here.identity.sessions.endConnection('sales-1')
    await expect.poll(() => here.grants.listActive()).toEqual([])
    expect(await reasons(here)).toEqual(['session_ended'])
  })

  test('GR5 a restart ends session grants and keeps the others', async () => {
    const { start, docs } = await world()
    const before = await start()
    const kept = await before.add(docs)
    await before.add(join(docs, 'Work'), 'read', { scope: 'session' })
    await before.stop()
    const after = await start()
    expect(await after.listed(anna)).toEqual([kept])
    expect(await reasons(after)).toEqual(['restart'])
  })

  test('GR1 a grant ends when its time is up, with an entry', async () => {
    const { start, docs, move, now } = await world()
    const here = await start()
    await here.add(docs, 'read', { expires_at: new Date(now() + day).toISOString() })
    const ended: string[] = []
    here.grants.onChange((change) => void ended.push(...change.ended))
    move(day)
    expect(here.grants.decide(here.sales, docs, 'read')).toEqual({ code: 'no_grant' })
    await here.grants.cleanUp()
    expect(ended).toHaveLength(1)
    expect(await reasons(here)).toEqual(['expired'])
  })

  test('GR1 use is counted, and written down without an entry', async () => {
    const { start, docs, now } = await world()
    const here = await start()
    const { id } = await here.add(docs)
    const acts = async () => (await here.entries()).filter(({ type }) => !type.startsWith('call.'))
    const before = await acts()
    here.grants.recordUse(String(id))
    here.grants.recordUse(String(id))
    const [shown] = await here.listed(anna)
    expect(shown).toMatchObject({ access_count: 2 })
    expect(Date.parse(String(shown?.['last_accessed']))).toBeLessThanOrEqual(now())
    await here.grants.close()
    const [stored] = (await here.rows('file_grant')) as { access_count: number }[]
    expect(Number(stored?.access_count)).toBe(2)
    expect(await acts()).toEqual(before)
  })

  test('PV9 a grant keeps when its file was made, and goes on with that of the next', async () => {
    const { start, docs } = await world()
    const here = await start()
    const path = join(docs, 'report.txt')
    await here.add(path)
    const born = async () => ((await here.rows('file_grant')) as Said[])[0]?.['born']
    const from = (await pinPath(path)) as Inode
    expect(await born()).toBe(from.born)
    const remember = async (value: string) => {
      const sql = `UPDATE file_grant SET born = ${value}`
      await here.db.transact((tx) => tx.run({ sql, parameters: [] }))
      await here.grants.refresh()
      return (await here.check(path, here.sales))['has_access']
    }
    // The birth time of another file, then none, as in grants from before it was stored.
    expect(await remember(`'1'`)).toBe(from.born === null)
    expect(await remember('NULL')).toBe(true)
    expect(await remember(from.born === null ? 'NULL' : `'${from.born}'`)).toBe(true)
    writeFileSync(`${path}~`, 'new')
    renameSync(`${path}~`, path)
    const to = (await pinPath(path)) as Inode
    const call = { id: 'call_1', caller: here.sales }
    await here.db.transact((tx) => here.grants.repin(tx, { path, from, to }, call))
    expect(await born()).toBe(to.born)
    expect(await here.check(path, here.sales)).toMatchObject({ has_access: true })
    // On a disk whose births say nothing, that of the next says no more.
    await remember('NULL')
    await here.db.transact((tx) => here.grants.repin(tx, { path, from: to, to: from }, call))
    expect(await born()).toBeNull()
  })

  test('GR1 GR6 what kept an agent from reading is known when it has ended, too', async () => {
    const { start, docs, now } = await world()
    const here = await start()
    const work = join(docs, 'Work')
    const { request_id: id } = await here.ask(work, here.sales)
    await here.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
    const [denial] = await here.listed(anna)
    await here.revoke(denial?.['id'])
    const lifted = now()
    await here.add(docs)
    await here.add(docs, 'write', { agent: 'support' })
    await here.add(work, 'write')
    const blocking = await here.grants.listBlocking(here.sales)
    expect(blocking.toSorted((one) => (one.permission === 'deny' ? -1 : 1))).toMatchObject([
      { path: work, permission: 'deny', agent: 'sales', revokedAt: expect.any(Number) },
      { path: work, permission: 'write', agent: '*', revokedAt: null },
    ])
    expect(blocking.find(({ permission }) => permission === 'deny')?.revokedAt).toBeLessThanOrEqual(
      lifted,
    )
  })

  test('GR7 a lasting grant that nobody uses is offered for ending, once in sixty days', async () => {
    const { start, docs, move } = await world()
    const here = await start()
    const used = await here.add(join(docs, 'Work'))
    const unused = await here.add(docs)
    const waiting = async () =>
      (await here.governance.inbox.list(anna, { status: 'pending', kind: 'finding', limit: 10 }))
        .items
    await here.grants.cleanUp()
    expect(await waiting()).toEqual([])
    move(61 * day)
    here.grants.recordUse(String(used['id']))
    await here.grants.cleanUp()
    await here.grants.cleanUp()
    const items = await waiting()
    expect(items).toMatchObject([
      { summary: `Unused for 60 days: keep access to ${docs}?`, target: docs },
    ])
    expect(await here.decide(items[0]?.id)).toMatchObject({ status: 'approved' })
    await here.grants.cleanUp()
    expect(await waiting()).toEqual([])
    move(60 * day)
    here.grants.recordUse(String(used['id']))
    await here.grants.cleanUp()
    const [again] = await waiting()
    expect(await here.decide(again?.id, { decision: 'reject' })).toMatchObject({
      status: 'rejected',
    })
    await expect.poll(() => here.grants.listActive().map(({ id }) => id)).toEqual([used['id']])
    expect(await here.entries(['grant.revoked'])).toMatchObject([
      { ids: { grant: unused['id'] }, data: { reason: 'person' } },
    ])
  })

  test('GR5 GR9 grants of the configuration are for all, stay over a restart and go with it', async () => {
    const { start, docs, home } = await world()
    const entries = [
      { path: docs, permission: 'read' },
      { path: join(docs, 'Work'), permission: 'read-write', hard_links: true },
      { path: join(home, 'none'), permission: 'read' },
      { path: join(home, '.ssh'), permission: 'read' },
      // Would open nothing and, being nearer, close the file that the folder opens.
      { path: join(docs, 'Work', 'plan.md'), permission: 'write' },
    ]
    const first = await start({ grants: { entries } })
    const made = await first.listed(anna)
    expect(made).toMatchObject([
      { path: docs, agent: '*', granted_by: 'system_setup', scope: 'permanent' },
      { path: join(docs, 'Work'), permission: 'read-write', hard_links: true },
    ])
    expect(first.grants.listSkipped()).toMatchObject([
      { path: join(home, 'none'), reason: expect.stringContaining('not found') },
      { path: join(home, '.ssh'), reason: expect.stringContaining('protected path') },
      { path: join(docs, 'Work', 'plan.md'), reason: expect.stringContaining('Grant the folder') },
    ])
    await first.stop()
    const second = await start({ grants: { entries } })
    expect(await second.listed(anna)).toEqual(made)
    await second.stop()
    const third = await start({ grants: { entries: entries.slice(0, 1) } })
    expect(await third.listed(anna)).toEqual(made.slice(0, 1))
    expect(await third.entries(['grant.revoked'])).toMatchObject([
      { subject: join(docs, 'Work'), data: { reason: 'config' } },
    ])
  })
}
