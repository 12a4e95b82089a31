// The contract of approved calls, for both stores.
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { actingTool, storingTool } from './acting.ts'
import { anna, ben, check, decide, getOutcomes, sales, support, trusted } from './acts.ts'
import { openGoverned } from './governed.ts'
import type { Governed, More, Settings, Store } from './governed.ts'

const minute = 60_000
const by = { id: 'call-1', caller: anna }

/** A tool whose calls end when the test says so. */
function slowTool() {
  const started: string[] = []
  const ends: (() => void)[] = []
  const tool = defineTool({
    name: 'crm_slow',
    title: 'Slow',
    description: 'For tests',
    toolset: 'crm',
    effect: 'write',
    by: 'agent',
    input: z.object({ path: z.string() }),
    output: z.object({ done: z.string() }),
    async run({ path }) {
      started.push(path)
      await new Promise<void>((resolve) => ends.push(resolve))
      return { output: { done: path } }
    },
  })
  return { tool, started, end: () => ends.splice(0).forEach((resolve) => resolve()) }
}

/** A row that others change while a person decides. */
function rowTool() {
  const row = { rev: 1 }
  const runs: unknown[] = []
  const tool = defineTool({
    name: 'crm_row',
    title: 'Change a row',
    description: 'For tests',
    toolset: 'crm',
    effect: 'write',
    by: 'agent',
    input: z.object({ id: z.string(), value: z.string() }),
    output: z.object({ rev: z.number() }),
    describeTarget: ({ id }) => ({ domain: 'crm', target: id }),
    fingerprint: async ({ id }) => ({ [id]: row.rev }),
    async run(input) {
      runs.push(input)
      return { output: { rev: (row.rev += 1) } }
    },
  })
  return { tool, row, runs }
}

export function approvedCallsContract(name: string, newStore: () => Promise<Store>) {
  async function open(settings: Settings = {}, more: More = {}, store?: Store) {
    const opened = await openGoverned(settings, more, store ?? (await newStore()))
    let isOpen = true
    const close = async () => {
      if (isOpen) await opened.close()
      isOpen = false
    }
    onTestFinished(close)
    return { ...opened, close }
  }

  async function withTool(settings: Settings = {}, more: More = {}, store?: Store) {
    const { tool, runs } = actingTool('crm', 'write')
    const tools = [tool, storingTool('crm')]
    const system = await open(settings, { tools, ...more }, store)
    const ask = async (path = '/a', caller: Caller = sales) =>
      String((await system.call('crm_write', { path }, caller))['approval_id'])
    return { ...system, runs, ask }
  }

  /** Waits for the decision and the run. */
  const ended = (to: Governed, id: string) => check(to, id, { wait_seconds: 25 })
  const halt = (to: Governed) => to.call('cowork_halt', {}, anna)
  const lift = (to: Governed) => to.call('cowork_resume', {}, anna)

  describe(`approved calls on ${name}`, () => {
    test('A15 RA5 an approved call runs once without a repeated or waiting call', async () => {
      const system = await withTool()
      const id = await system.ask()
      await decide(system, [id])
      await expect.poll(() => system.runs).toHaveLength(1)
      expect(await ended(system, id)).toMatchObject({
        status: 'consumed',
        result: { status: 'done', output: { done: '/a' } },
      })
      const [started] = await system.entries(['call.started'])
      expect(started).toMatchObject({
        actor: { kind: 'agent', id: 'sales', session: sales.session },
        ids: { approval: id },
        data: { tool: 'crm_write', decision: { by: 'anna' } },
      })
      expect(await system.verify()).toMatchObject({ ok: true, problems: [] })
    })

    test('A15 a tool that changes the store runs once, with its result in the same transaction', async () => {
      const system = await withTool()
      const reply = await system.call('crm_store', { path: '/s' })
      const id = String(reply['approval_id'])
      await decide(system, [id])
      expect(await ended(system, id)).toMatchObject({ result: { output: { stored: '/s' } } })
      expect(await system.entries(['thing.stored'])).toHaveLength(1)
    })

    test('A15 a call approved hours later runs, and its result is available for a day', async () => {
      const system = await withTool()
      const id = await system.ask()
      system.move(5 * 60 * minute)
      await decide(system, [id])
      expect(await ended(system, id)).toMatchObject({ status: 'consumed' })
      system.move(23 * 60 * minute)
      expect(await check(system, id)).toMatchObject({ result: { output: { done: '/a' } } })
      expect(system.runs).toHaveLength(1)
    })

    test('A15 a call approved while no daemon runs starts with the next daemon', async () => {
      const store = await newStore()
      const before = await withTool({}, { runs: false }, store)
      const id = await before.ask()
      await decide(before, [id])
      expect(await check(before, id)).toMatchObject({
        status: 'approved',
        message: expect.stringContaining('cowork runs crm_write itself. Do not call it again.'),
      })
      expect(await before.call('crm_write', { path: '/a' })).toMatchObject({
        fault: 'approval_running',
        approval_id: id,
      })
      await before.close()
      const after = await withTool({}, {}, store)
      expect(await ended(after, id)).toMatchObject({ status: 'consumed' })
      expect(before.runs).toEqual([])
      expect(after.runs).toHaveLength(1)
    })

    test('A15 A9 a halted call runs after the halt is removed', async () => {
      const system = await withTool()
      const id = await system.ask()
      const other = await system.ask('/b', support)
      const scope = 'agent:sales'
      const halted = await system.call('cowork_halt', { scope, force: true }, anna)
      expect(halted).toMatchObject({ scope })
      await decide(system, [id, other])
      expect(await check(system, other, { wait_seconds: 25 }, support)).toMatchObject({
        status: 'consumed',
      })
      expect(await system.governance.approvals.get(id)).toMatchObject({ status: 'approved' })
      expect(system.runs).toEqual([{ path: '/b', text: 'nothing' }])
      await system.call('cowork_resume', { scope }, anna)
      expect(await ended(system, id)).toMatchObject({ status: 'consumed' })
      expect(system.runs).toHaveLength(2)
    })

    test('A15 a call halted beyond its expiry does not run', async () => {
      const system = await withTool()
      const id = await system.ask()
      await halt(system)
      await decide(system, [id])
      system.move(60 * minute)
      await lift(system)
      const fresh = await system.ask('/b')
      await decide(system, [fresh])
      await ended(system, fresh)
      expect(await check(system, id)).toMatchObject({ status: 'approved' })
      expect(system.runs).toEqual([{ path: '/b', text: 'nothing' }])
    })

    test('A15 C2 a call runs after the undo window, and not if the decision is undone', async () => {
      const system = await withTool({ 'approvals.undo_hold': '500ms' })
      const [id, undone] = [await system.ask(), await system.ask('/b')]
      await decide(system, [id, undone], { hold: true })
      await system.call('cowork_undo', { approval_ids: [undone] }, anna)
      expect(await check(system, id)).toMatchObject({ status: 'pending' })
      expect(system.runs).toEqual([])
      expect(await ended(system, id)).toMatchObject({ status: 'consumed' })
      expect(await check(system, undone)).toMatchObject({ status: 'pending' })
      expect(system.runs).toEqual([{ path: '/a', text: 'nothing' }])
    })

    test('A15 A4 a call runs after the required approvals', async () => {
      const rules = [{ id: 'two', field: 'path', constraint: 'high_risk', approvers: 2 }]
      const system = await withTool({
        policies: [{ id: 'p', rules }],
        mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'p' }],
      })
      const id = await system.ask()
      expect(getOutcomes(await decide(system, [id]))).toMatchObject([{ status: 'voted' }])
      expect(await check(system, id, { wait_seconds: 0.1 })).toMatchObject({ status: 'pending' })
      expect(system.runs).toEqual([])
      await decide(system, [id], {}, ben)
      expect(await ended(system, id)).toMatchObject({ status: 'consumed' })
    })

    test('A15 B3 RA2 an edited call runs the edited arguments, and both calls get its result', async () => {
      const system = await withTool()
      const id = await system.ask()
      await decide(system, [id], { change: { path: '/b', text: 'x' } })
      const approved = { path: '/b', text: 'x' }
      expect(await ended(system, id)).toMatchObject({
        result: { output: { done: '/b' } },
        approved_change: approved,
        collaborative: true,
        edited_by: 'anna',
      })
      for (const args of [{ path: '/a' }, approved])
        expect(await system.answer('crm_write', args, sales)).toMatchObject({
          status: 'done',
          output: { done: '/b' },
          earlier: { approval_id: id, approved_change: approved, edited_by: 'anna' },
        })
      expect(system.runs).toEqual([approved])
    })

    test('A15 a call whose target changed is stale: not run, and both sides are informed', async () => {
      const { tool, row, runs } = rowTool()
      const system = await open({}, { tools: [tool] })
      const args = { id: 'row-1', value: 'x' }
      const id = String((await system.call('crm_row', args))['approval_id'])
      row.rev = 7
      await decide(system, [id])
      const stale = 'STALE: row-1 changed after your request; nothing was done.'
      expect(await ended(system, id)).toMatchObject({
        status: 'withdrawn',
        feedback: null,
        message: `${stale} Read its current state and call crm_row again.`,
      })
      expect(await system.entries(['approval.withdrawn'])).toMatchObject([
        { ids: { approval: id }, actor: { kind: 'system' }, data: { why: 'stale' } },
      ])
      expect(await system.governance.inbox.detail(anna, id)).toMatchObject({
        status: 'withdrawn',
        reason: 'stale',
      })
      const again = await system.call('crm_row', args)
      expect(again).toMatchObject({
        fault: 'approval_required',
        message: expect.stringMatching(/^STALE: row-1 changed after your request; .*Not failed:/),
      })
      expect(runs).toEqual([])
      await decide(system, [String(again['approval_id'])])
      expect(await ended(system, String(again['approval_id']))).toMatchObject({
        result: { output: { rev: 8 } },
      })
    })

    test('A15 B3 an original that trust now allows does not run in addition to its approved edit', async () => {
      const system = await withTool({}, { runs: false })
      const id = await system.ask()
      await decide(system, [id], { change: { path: '/b', text: 'x' } })
      await trusted(system, 0.9)
      expect(await system.call('crm_write', { path: '/a' })).toMatchObject({
        fault: 'approval_running',
        approval_id: id,
      })
      expect(system.runs).toEqual([])
    })

    test('A15 a pending call repeated after its target changed opens a new request', async () => {
      const { tool, row, runs } = rowTool()
      const system = await open({}, { tools: [tool] })
      const args = { id: 'row-1', value: 'x' }
      const id = String((await system.call('crm_row', args))['approval_id'])
      expect(await system.call('crm_row', args)).toMatchObject({ approval_id: id })
      row.rev = 7
      const again = await system.call('crm_row', args)
      const next = String(again['approval_id'])
      expect(next).not.toBe(id)
      expect(again).toMatchObject({
        fault: 'approval_required',
        message: expect.stringMatching(/^STALE: row-1 changed after your request; .*Not failed:/),
      })
      expect(await check(system, id)).toMatchObject({
        status: 'withdrawn',
        message: expect.stringMatching(/^STALE: row-1 changed after your request/),
      })
      expect(await system.entries(['approval.withdrawn'])).toMatchObject([
        { ids: { approval: id }, actor: { kind: 'system' }, data: { why: 'stale' } },
      ])
      await decide(system, [next])
      expect(await ended(system, next)).toMatchObject({ result: { output: { rev: 8 } } })
      expect(runs).toEqual([args])
    })

    test('A15 C2 a deferred decision stays valid if the call is repeated after its target changed', async () => {
      const { tool, row } = rowTool()
      const system = await open({}, { tools: [tool] })
      const args = { id: 'row-1', value: 'x' }
      const id = String((await system.call('crm_row', args))['approval_id'])
      await decide(system, [id], { hold: true })
      row.rev = 7
      expect(await system.call('crm_row', args)).toMatchObject({ approval_id: id })
    })

    test('A15 at most 8 calls of one agent run concurrently, without delaying other agents', async () => {
      const { tool, started, end } = slowTool()
      const system = await open({}, { tools: [tool] })
      const ask = async (path: string, caller: Caller) =>
        String((await system.call('crm_slow', { path }, caller))['approval_id'])
      const ids = []
      for (let n = 0; n < 11; n++) ids.push(await ask(`s${n}`, sales))
      const other = await ask('other', support)
      await decide(system, [...ids, other])
      await expect.poll(() => started).toContain('other')
      await expect.poll(() => started).toHaveLength(9)
      expect(await check(system, ids.at(-1))).toMatchObject({ status: 'approved' })
      expect(await check(system, ids[0])).toMatchObject({
        status: 'consumed',
        message: expect.stringContaining('crm_slow is running. Do not call it again.'),
      })
      end()
      await expect.poll(() => started).toHaveLength(12)
      end()
      for (const id of ids) expect(await ended(system, id)).toMatchObject({ status: 'consumed' })
    })

    test('A15 Y3 a call that a rule now forbids is withdrawn with the reason', async () => {
      const store = await newStore()
      const before = await withTool({}, { runs: false }, store)
      const id = await before.ask()
      await decide(before, [id])
      await before.close()
      const rules = [{ id: 'r', field: 'path', constraint: 'readonly', reason: 'Not any more' }]
      const after = await withTool(
        {
          policies: [{ id: 'p', rules }],
          mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'p' }],
        },
        {},
        store,
      )
      expect(await ended(after, id)).toMatchObject({
        status: 'withdrawn',
        feedback: null,
        message: expect.stringMatching(/^WITHDRAWN: .*Not any more.*nothing was done/),
      })
      expect(await after.entries(['approval.withdrawn'])).toMatchObject([
        { ids: { approval: id }, data: { why: expect.stringContaining('BLOCKED by p') } },
      ])
      expect(after.runs).toEqual([])
    })

    test('A15 I11 a call whose agent lost the scope is withdrawn', async () => {
      const store = await newStore()
      const agent = { id: 'sales', token: 'sk-cowork-sales' }
      const before = await withTool({ agents: [agent] }, { runs: false }, store)
      const id = await before.ask()
      await decide(before, [id])
      await before.close()
      const after = await withTool({ agents: [{ ...agent, scopes: ['read:*'] }] }, {}, store)
      const asker = { ...sales, scopes: ['*'] }
      expect(await check(after, id, { wait_seconds: 25 }, asker)).toMatchObject({
        status: 'withdrawn',
        message: expect.stringContaining('scope write:crm is required'),
      })
      expect(after.runs).toEqual([])
    })

    test('A15 I4 no call runs for a revoked agent, or for a new agent with its id', async () => {
      const system = await withTool()
      const { db, identity } = system
      const add = async () => {
        system.move(1)
        const { token } = await db.transact((tx) => identity.addAgent(tx, { id: 'seller' }, by))
        return identity.identify({ door: 'mcp', address: 'here', bearer: token })
      }
      const id = await system.ask('/a', await add())
      await halt(system)
      await decide(system, [id])
      await db.transact((tx) => identity.revokeAgent(tx, { id: 'seller' }, by))
      const next = await add()
      await lift(system)
      const own = await system.ask('/b', next)
      await decide(system, [own])
      expect(await check(system, own, { wait_seconds: 25 }, next)).toMatchObject({
        status: 'consumed',
      })
      expect(await system.governance.approvals.get(id)).toMatchObject({ status: 'withdrawn' })
      expect(system.runs).toEqual([{ path: '/b', text: 'nothing' }])
    })

    test('A15 I5 requests without a token end when authentication is turned on', async () => {
      const system = await withTool()
      const nobody = { ...sales, id: 'cursor', verified: false }
      const id = await system.ask('/a', nobody)
      const other = await system.ask('/b', nobody)
      await decide(system, [other])
      await expect.poll(() => system.runs).toEqual([{ path: '/b', text: 'nothing' }])
      await halt(system)
      await decide(system, [id])
      await system.db.transact((tx) => system.identity.addAgent(tx, { id: 'first' }, by))
      await lift(system)
      await expect
        .poll(() => system.governance.approvals.get(id))
        .toMatchObject(
          // Another daemon of the same database may know such an agent.
          name === 'postgres'
            ? { status: 'approved' }
            : { status: 'withdrawn', reason: 'cursor is no longer registered.' },
        )
      expect(system.runs).toHaveLength(1)
    })

    test.each([
      ['a standing permission', { allow: { for: 'always' } }],
      ['trust', {}],
    ])(
      'A15 Y8 the first repeated call gets the result even if %s now allows the call',
      async (way, more) => {
        const system = await withTool()
        const id = await system.ask()
        await decide(system, [id], more)
        await expect.poll(() => system.runs).toHaveLength(1)
        if (way === 'trust') await trusted(system, 0.9)
        expect(await system.answer('crm_write', { path: '/a' }, sales)).toMatchObject({
          status: 'done',
          earlier: { approval_id: id },
        })
        expect(system.runs).toHaveLength(1)
        // A caller that repeats the call after it has the result wants a second run.
        expect(await system.answer('crm_write', { path: '/a' }, sales)).not.toHaveProperty(
          'earlier',
        )
        expect(system.runs).toHaveLength(2)
      },
    )

    test('A15 a repeated call gets the stored result for an hour and does not run again', async () => {
      const system = await withTool()
      const id = await system.ask()
      await decide(system, [id])
      for (let n = 0; n < 3; n++)
        expect(await system.answer('crm_write', { path: '/a' }, sales)).toMatchObject({
          status: 'done',
          output: { done: '/a' },
          earlier: { approval_id: id },
        })
      expect(await system.ask('/b')).not.toBe(id)
      expect(system.runs).toHaveLength(1)
      system.move(60 * minute)
      expect(await system.ask()).not.toBe(id)
      expect(system.runs).toHaveLength(1)
    })
  })
}

/** Several daemons on one store, with the same tools. */
export function sharedRunsContract(newStore: () => Promise<Store>) {
  async function two(tools: readonly Tool[]) {
    const store = await newStore()
    const here = await openGoverned({}, { tools, node: 'here' }, store)
    onTestFinished(here.close)
    const there = await openGoverned({}, { tools, node: 'there' }, store)
    onTestFinished(there.close)
    return { here, there }
  }

  test('A15 one of two daemons runs an approved call', async () => {
    const { tool, runs } = actingTool('crm', 'write')
    const { here, there } = await two([tool])
    const paths = Array.from({ length: 12 }, (_, n) => `/${n}`)
    const ids = []
    for (const [n, path] of paths.entries()) {
      const reply = await (n % 2 === 0 ? here : there).call('crm_write', { path })
      ids.push(String(reply['approval_id']))
    }
    await Promise.all([decide(here, ids.slice(0, 6)), decide(there, ids.slice(6))])
    for (const id of ids)
      expect(await check(here, id, { wait_seconds: 25 })).toMatchObject({ status: 'consumed' })
    const ran = runs.map((one) => (one as { path: string }).path)
    expect(ran.toSorted()).toEqual(paths.toSorted())
  })

  test('A15 another daemon runs the calls of a stopped one, except file calls', async () => {
    const { tool, runs } = actingTool('crm', 'write')
    const file = actingTool('files', 'destructive')
    const { here, there } = await two([tool, file.tool])
    const id = String((await here.call('crm_write', { path: '/a' }))['approval_id'])
    const local = String((await here.call('files_destructive', { path: '/f' }))['approval_id'])
    await here.runner?.close()
    await decide(there, [id, local])
    expect(await check(there, id, { wait_seconds: 25 })).toMatchObject({ status: 'consumed' })
    expect(runs).toHaveLength(1)
    expect(await check(there, local)).toMatchObject({ status: 'approved' })
    expect(file.runs).toEqual([])
  })

  test('A15 a call running in another daemon is not treated as lost', async () => {
    const { tool, started, end } = slowTool()
    const { here, there } = await two([tool])
    const id = String((await here.call('crm_slow', { path: 'a' }))['approval_id'])
    await decide(there, [id])
    await expect.poll(() => started).toEqual(['a'])
    expect(await check(there, id)).toMatchObject({
      status: 'consumed',
      message: expect.stringContaining('is running'),
    })
    end()
    expect(await check(there, id, { wait_seconds: 25 })).toMatchObject({
      result: { status: 'done' },
    })
  })
}
