import { describe, expect, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import { anna, check, decide, getOutcomes, sales, support, trusted } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed, Said, Settings } from '../../test/governed.ts'

const waits = { fault: 'approval_required', status: 'pending' }
const hour = 60 * 60 * 1000

async function upstream(settings: Settings = {}) {
  const { tool, runs } = actingTool('crm', 'write')
  const other = actingTool('crm', 'write', 'crm_send')
  const system = await governed(settings, { tools: [tool, other.tool] })
  const write = (path = '/a', more: object = {}, by = sales) =>
    system.call('crm_write', { path, ...more }, by)
  /** A person grants a permission for a pending call, which runs. */
  async function allow(allowance: object, path = '/a', more: object = {}) {
    const id = String((await write(path, more))['approval_id'])
    const result = await decide(system, [id], { allow: allowance })
    expect(getOutcomes(result)).toMatchObject([{ status: 'approved' }])
    expect(await check(system, id, { wait_seconds: 25 })).toMatchObject({ status: 'consumed' })
    return id
  }
  /** Makes equal calls and returns how many ran; the others get the result of the approved call. */
  async function runsOf(most: number, path = '/a') {
    for (let count = 0; count < most; count++)
      expect(await write(path)).toMatchObject({ done: path })
    return runs.length
  }
  return { ...system, write, allow, runsOf, runs }
}

const listed = async (to: Governed) =>
  (await to.call('cowork_list_permissions', {}, anna))['permissions'] as Said[]

describe('duration', () => {
  test.each([
    [{ for: 'once' }, 1],
    [{ for: 'uses', uses: 1 }, 2],
    [{ for: 'uses', uses: 3 }, 4],
    [{ for: 'always' }, 9],
    [{ for: 'session' }, 9],
    [{ for: 'until', until: '2999-01-01T00:00:00Z' }, 9],
  ])('Y8 with %j the call runs, and further calls: %d', async (allowance, count) => {
    const system = await upstream()
    await system.allow(allowance)
    expect(await system.runsOf(8)).toBe(count)
    expect(await listed(system)).toHaveLength(count === 9 ? 1 : 0)
    const granted = await system.entries(['permission.granted'])
    expect(granted).toHaveLength(allowance.for === 'once' ? 0 : 1)
  })

  test('Y8 exactly the granted number of concurrent calls run', async () => {
    const system = await upstream()
    await system.allow({ for: 'uses', uses: 3 })
    const replies = await Promise.all(Array.from({ length: 9 }, () => system.write()))
    for (const { fault } of replies) expect([undefined, 'permission_ended']).toContain(fault)
    expect(system.runs).toHaveLength(4)
  })

  test('Y8 a permission until a time ends at that time', async () => {
    const system = await upstream()
    const until = new Date(system.now() + hour).toISOString()
    await system.allow({ for: 'until', until })
    expect(await system.runsOf(3)).toBe(4)
    system.move(hour)
    expect(await system.write()).toMatchObject(waits)
    expect(await listed(system)).toEqual([])
  })

  test('Y8 a session permission does not cover other sessions', async () => {
    const system = await upstream()
    await system.allow({ for: 'session' })
    expect(await system.write()).toEqual({ done: '/a' })
    const elsewhere = { ...sales, session: 'another' }
    system.move(hour)
    expect(await system.write('/a', {}, elsewhere)).toMatchObject(waits)
    expect(await system.write()).toEqual({ done: '/a' })
  })

  test.each([
    [{ for: 'until' }],
    [{ for: 'until', until: '2001-01-01T00:00:00Z' }],
    [{ for: 'uses' }],
  ])('Y8 %j cannot be granted, and nothing is decided', async (allowance) => {
    const system = await upstream()
    const id = String((await system.write())['approval_id'])
    const reply = await decide(system, [id], { allow: allowance })
    expect(getOutcomes(reply)).toMatchObject([
      { status: 'error', error: { code: 'invalid_input' } },
    ])
    expect(await check(system, id)).toMatchObject({ status: 'pending' })
  })

  test('B3 an edited call is allowed once', async () => {
    const system = await upstream()
    const id = String((await system.write())['approval_id'])
    const more = { allow: { for: 'always' }, change: { path: '/b' } }
    expect(getOutcomes(await decide(system, [id], more))).toMatchObject([
      { error: { code: 'invalid_input' } },
    ])
  })
})

describe('coverage', () => {
  test('Y8 without globs it covers exactly these arguments, this tool and this agent', async () => {
    const system = await upstream()
    await system.allow({ for: 'always' })
    await system.write()
    expect(await system.write()).toEqual({ done: '/a' })
    expect(await system.write('/a', { text: 'else' })).toMatchObject(waits)
    expect(await system.write('/b')).toMatchObject(waits)
    expect(await system.call('crm_send', { path: '/a' })).toMatchObject(waits)
    expect(await system.write('/a', {}, support)).toMatchObject(waits)
  })

  test.each([
    [{ path: '/a/*' }, { path: '/a/b', text: 'any' }, true],
    [{ path: '/a/*' }, { path: '/a/b/c' }, true],
    [{ path: '/a/*' }, { path: '/b' }, false],
    [{ path: '/a/*' }, { path: '/a/../b' }, false],
    [{ path: '/a/*' }, { path: '/a/..' }, false],
    [{ path: '/a/*' }, { path: '/a/..b' }, true],
    [{ path: '/a/*', text: 'x*' }, { path: '/a/b', text: 'xy' }, true],
    [{ path: '/a/*', text: 'x*' }, { path: '/a/b', text: 'y' }, false],
    [{ path: '/a/*', text: 'x' }, { path: '/a/b' }, false],
    [{ fail: 'false' }, { path: '/z', fail: false }, true],
    [{ fail: 'false' }, { path: '/z' }, false],
    [{}, { path: '/anything' }, true],
  ])('Y8 globs %j cover arguments %j: %s', async (globs, args, passes) => {
    const system = await upstream()
    const first = { text: 'x', fail: false }
    await system.allow({ for: 'always', arguments: globs }, '/a/first', first)
    const reply = await system.call('crm_write', args)
    expect(reply).toMatchObject(passes ? { done: args.path } : waits)
  })

  test('Y8 an allowed call is recorded with its permission', async () => {
    const system = await upstream()
    const id = await system.allow({ for: 'uses', uses: 2 })
    const [granted] = await system.entries(['permission.granted'])
    expect(granted).toMatchObject({
      actor: { id: 'anna' },
      subject: 'crm_write',
      ids: { approval: id },
      data: { agent_id: 'sales', lasts: 'uses', uses: 2 },
    })
    await system.write()
    const started = await system.entries(['call.started'])
    expect(started.map(({ ids }) => ids?.approval)).toEqual([id, id])
    expect(started[1]?.data?.['decision']).toMatchObject({ by: 'permission' })
    expect(await check(system, id)).toMatchObject({
      status: 'consumed',
      result: { status: 'done', output: { done: '/a' } },
    })
    expect(await listed(system)).toMatchObject([
      {
        agent_id: 'sales',
        tool: 'crm_write',
        arguments: null,
        for: 'uses',
        uses_left: 1,
        granted_by: 'anna',
        last_used_at: expect.any(String),
      },
    ])
  })
})

describe('revocation and release', () => {
  test('Y8 after revocation the next call needs approval', async () => {
    const system = await upstream()
    await system.allow({ for: 'always' })
    expect(await system.runsOf(2)).toBe(3)
    const [permission] = await listed(system)
    const revoke = () => system.call('cowork_revoke_permission', { id: permission?.['id'] }, anna)
    expect(await revoke()).toEqual({ id: permission?.['id'], revoked: true })
    system.move(hour)
    expect(await system.write()).toMatchObject(waits)
    expect(await listed(system)).toEqual([])
    expect(await revoke()).toMatchObject({ fault: 'not_found' })
    expect(await system.entries(['permission.revoked'])).toHaveLength(1)
  })

  test('Y8 granting releases equal pending calls, and only those', async () => {
    const system = await upstream()
    const ids: Record<string, string> = {}
    for (const path of ['/a/1', '/a/2', '/b'])
      ids[path] = String((await system.write(path))['approval_id'])
    const foreign = String((await system.write('/a/2', {}, support))['approval_id'])
    await system.allow({ for: 'always', arguments: { path: '/a/*' } }, '/a/1')
    expect(await check(system, ids['/a/2'], { wait_seconds: 25 })).toMatchObject({
      status: 'consumed',
      decided_by: 'anna',
    })
    expect(await check(system, ids['/b'])).toMatchObject({ status: 'pending' })
    expect(await check(system, foreign, {}, support)).toMatchObject({ status: 'pending' })
    expect(system.runs).toHaveLength(2)
  })

  test('Y8 releasing pending calls uses up the permission', async () => {
    const system = await upstream()
    const paths = ['/a/1', '/a/2', '/a/3', '/a/4']
    for (const path of paths) await system.write(path)
    await system.allow({ for: 'uses', uses: 2, arguments: { path: '/a/*' } }, '/a/1')
    await expect.poll(() => system.runs).toHaveLength(3)
    expect(await system.write('/a/2')).toMatchObject(waits)
    expect(await listed(system)).toEqual([])
  })

  test('Y8 it releases neither deferred nor expired calls', async () => {
    const system = await upstream({ 'authority.high_risk_fields': ['text'] })
    await system.governance.approvals.close()
    const expired = String((await system.write('/a/1'))['approval_id'])
    system.move(24 * hour)
    const held = String((await system.write('/a/2'))['approval_id'])
    await decide(system, [held], { decision: 'reject', hold: true })
    const other = String((await system.write('/a/3'))['approval_id'])
    const allowance = { for: 'always', arguments: { path: '/a/*' } }
    expect(await decide(system, [other], { allow: allowance })).toMatchObject({ errors: 0 })
    expect(await check(system, expired)).toMatchObject({ status: 'expired' })
    expect((await system.governance.approvals.get(held))?.deferred).toBeDefined()
  })

  test('Y8 a permission precedes trust: no approval is needed', async () => {
    const system = await upstream()
    await system.allow({ for: 'always' })
    await system.write()
    await trusted(system, 0.1)
    expect(await system.write()).toEqual({ done: '/a' })
  })
})
