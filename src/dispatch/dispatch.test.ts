import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { createLog } from '#base/log.ts'
import { defineTool } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import { governanceSchema, testGovernance } from '../../test/governance.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createToolRegistry } from './tool-registry.ts'
import { checkCallerKind, checkScope } from './checks.ts'
import type { Check } from './checks.ts'
import { createDispatch } from './dispatch.ts'

const agent: Caller = { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] }
const person: Caller = { ...agent, kind: 'human', id: 'owner', role: 'owner' }

const base = {
  title: 'A tool',
  description: 'For tests',
  toolset: 'cowork',
  by: 'anyone',
  input: z.object({ text: z.string().max(10) }),
  output: z.object({ reply: z.string() }),
} as const

const say = (more: Partial<Tool> = {}): Tool => {
  const { read, ...tool } = defineTool({
    ...base,
    name: 'say',
    effect: 'read',
    read: async ({ text }) => ({ reply: text }),
  })
  return { ...tool, ...(!more.run && { read }), ...(more as object) } as Tool
}

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

async function setup(tools: Tool[], checks: Check[] = [checkCallerKind(() => 'here'), checkScope]) {
  open = await openTestLedger(governanceSchema)
  const { approvals } = testGovernance(open.db)
  const logged: string[] = []
  const log = createLog({ level: 'error', json: true, write: (line) => logged.push(line) })
  const dispatch = createDispatch({
    registry: createToolRegistry(tools),
    checks,
    approvals,
    isOpen: () => false,
    ledger: open.ledger,
    now: Date.now,
    log,
  })
  return { dispatch, logged, ...open }
}

const call = (args: unknown = { text: 'hi' }, caller = agent) => ({
  tool: 'say',
  arguments: args,
  caller,
})

test('L12 a read returns before it is recorded', async () => {
  const { dispatch, entries } = await setup([say()])
  expect(await dispatch(call())).toMatchObject({ status: 'done', output: { reply: 'hi' } })
  await expect.poll(async () => (await entries()).map((e) => e.type)).toEqual(['call.done'])
})

test('L1 a write is recorded before and after its run', async () => {
  const seen: string[] = []
  const { dispatch, entries } = await setup([
    say({
      effect: 'write',
      run: async () => (
        seen.push(...(await entries()).map((e) => e.type)),
        { output: { reply: '' } }
      ),
    }),
  ])
  await dispatch(call())
  expect(seen).toEqual(['call.started'])
  const [started, done] = await entries()
  expect(started).toMatchObject({ type: 'call.started', data: { decision: { mode: 'act' } } })
  expect(done).toMatchObject({ type: 'call.done', ids: { call: started?.ids?.call } })
})

test('L1 a tool that starts early has no visible effect before its call is recorded', async () => {
  const seen: string[][] = []
  const types = async () => ((await open?.entries()) ?? []).map((e) => e.type)
  const { dispatch, entries } = await setup([
    say({
      effect: 'write',
      startsBeforeRecord: true,
      async run(_, { recordStart, addDetails }: Call) {
        addDetails({ data: { size: 3 } })
        seen.push(await types())
        await recordStart?.()
        seen.push(await types())
        return { output: { reply: '' } }
      },
    }),
  ])
  expect(await dispatch(call())).toMatchObject({ status: 'done' })
  expect(seen).toEqual([[], ['call.started']])
  const [started, done] = await entries()
  // Details belong to the final entry, even if the tool adds them early.
  expect(started?.data).not.toHaveProperty('size')
  expect(done).toMatchObject({ type: 'call.done', data: { size: 3 } })
})

test('L1 a commit waits for a queued commit, but not for a failed one', async () => {
  const inLine = new Map<string, Promise<void> | undefined>()
  const ends: string[] = []
  const { dispatch } = await setup([
    say({
      effect: 'write',
      async run({ text }, call) {
        inLine.set(String(text), call.commitQueued)
        if (text === 'first') await sleep(20)
        if (text === 'fails') throw new CoworkError('not_found', 'No.')
        if (text === 'last') await Promise.all([inLine.get('first'), inLine.get('fails')])
        return { output: { reply: text }, finalize: async () => void ends.push(String(text)) }
      },
    }),
  ])
  await Promise.all(['first', 'fails', 'last'].map((text) => dispatch(call({ text }))))
  expect(ends).toEqual(['first', 'last'])
})

test('A11 a tool that starts early is stopped when its call cannot be recorded', async () => {
  let heard: unknown
  const { dispatch, db } = await setup([
    say({
      effect: 'write',
      startsBeforeRecord: true,
      run: async (_, { recordStart }: Call) => {
        await recordStart?.().catch((error: unknown) => {
          heard = error
          throw error
        })
        return { output: { reply: 'done' } }
      },
    }),
  ])
  await db.transact((tx) => tx.run({ sql: 'DROP TABLE ledger_head', parameters: [] }))
  expect(await dispatch(call())).toMatchObject({ status: 'failed' })
  expect(heard).toMatchObject({ code: 'store_unavailable' })
})

test('A11 L12 a run whose end cannot be recorded does not report that nothing was saved', async () => {
  const loseHead = { sql: 'DROP TABLE ledger_head', parameters: [] }
  const { dispatch, db } = await setup([
    say({
      effect: 'write',
      run: async () => {
        await db.transact((tx) => tx.run(loseHead))
        return { output: { reply: 'done' } }
      },
    }),
  ])
  expect(await dispatch(call())).toMatchObject({
    status: 'failed',
    code: 'outcome_unknown',
    message: expect.stringContaining('say ran') as string,
    hint: expect.stringContaining('before you try again') as string,
  })
})

test('L1 an early failure is recorded after its start', async () => {
  const { dispatch, entries } = await setup([
    say({
      effect: 'write',
      startsBeforeRecord: true,
      run: async () => Promise.reject(new CoworkError('exists', 'It is there.')),
    }),
  ])
  expect(await dispatch(call())).toMatchObject({ status: 'failed', code: 'exists' })
  expect((await entries()).map((e) => e.type)).toEqual(['call.started', 'call.failed'])
})

test('L1 a change of the store and its entry are one transaction', async () => {
  const change = (fail: boolean) =>
    defineTool({
      ...base,
      name: 'say',
      effect: 'write',
      async transact(tx) {
        tx.append({ type: 'thing.changed', actor: { kind: 'system', id: 'test' } })
        if (fail) throw new CoworkError('conflict', 'No.')
        return { reply: 'done' }
      },
    })
  const good = await setup([change(false)])
  expect(await good.dispatch(call())).toMatchObject({ status: 'done' })
  expect((await good.entries()).map((e) => e.type)).toEqual(['thing.changed', 'call.done'])
  await open?.close()
  const bad = await setup([change(true)])
  expect(await bad.dispatch(call())).toMatchObject({ status: 'failed', code: 'conflict' })
  await expect.poll(async () => (await bad.entries()).map((e) => e.type)).toEqual(['call.failed'])
})

test('L2 a call whose own entry records it has one entry', async () => {
  const thing = {
    type: 'thing.opened',
    actor: { kind: 'agent', id: 'sales' },
    subject: 'thing-1',
    ids: { approval: 'a1' },
    outcome: 'open',
    data: { size: 3 },
    isCall: true,
  } as const
  const { dispatch, entries, ledger } = await setup([
    defineTool({
      ...base,
      name: 'say',
      effect: 'write',
      async transact(tx) {
        tx.append({ type: 'thing.seen', actor: thing.actor })
        tx.append(thing)
        return { reply: '' }
      },
    }),
  ])
  const answer = await dispatch(call())
  const [seen, opened, ...more] = await entries()
  expect([seen?.type, more]).toEqual(['thing.seen', []])
  expect(opened).toMatchObject({
    type: 'thing.opened',
    subject: 'thing-1',
    ids: { approval: 'a1', call: answer.call },
    outcome: 'open',
    data: { size: 3, tool: 'say', effect: 'write', ms: expect.any(Number) },
  })
  expect(await ledger.entry(2)).toMatchObject({ payload: { text: 'hi' } })
})

test('A3 tools for people refuse agents, and tools for agents refuse people', async () => {
  const { dispatch } = await setup([say({ by: 'human' }), say({ name: 'ask', by: 'agent' })])
  expect(await dispatch(call())).toMatchObject({ status: 'refused', code: 'human_required' })
  expect(await dispatch(call({ text: 'x' }, person))).toMatchObject({ status: 'done' })
  const asked = { tool: 'ask', arguments: { text: 'x' }, caller: person }
  expect(await dispatch(asked)).toMatchObject({ status: 'refused', code: 'agent_required' })
})

test('I11 a call outside the scopes of its credential is refused', async () => {
  const { dispatch } = await setup([say({ effect: 'write' })])
  const reader = { ...agent, scopes: ['read:*'] }
  expect(await dispatch(call({ text: 'x' }, reader))).toMatchObject({
    status: 'refused',
    code: 'scope_missing',
  })
})

test('A11 the first refusing check decides, and the tool does not run', async () => {
  let ran = false
  const no: Check = () => ({ mode: 'refuse', code: 'halted', message: 'No.' })
  const never: Check = () => {
    throw new Error('must not be asked')
  }
  const read = async () => ((ran = true), { reply: '' })
  const { dispatch, entries } = await setup([say({ read })], [no, never])
  expect(await dispatch(call())).toMatchObject({ status: 'refused', code: 'halted' })
  expect(ran).toBe(false)
  await expect.poll(async () => (await entries()).map((e) => e.outcome)).toEqual(['halted'])
})

test('SV12 unknown tools and invalid arguments are refused with a next step', async () => {
  const { dispatch } = await setup([say()])
  expect(await dispatch({ ...call(), tool: 'shout' })).toMatchObject({
    code: 'unknown_tool',
    hint: /tools\/list/,
  })
  const wrong = await dispatch(call({ text: 7 }))
  expect(wrong).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('text') })
})

test('SV12 any arguments produce a result', async () => {
  const { dispatch, ledger } = await setup([say()])
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (anything) => {
      const { status } = await dispatch(call(anything))
      expect(['done', 'refused']).toContain(status)
    }),
    { numRuns: 200 },
  )
  expect(ledger.outage()).toBeUndefined()
})

test('SV12 a bug returns internal and is logged with its stack', async () => {
  const read = async () => {
    throw new TypeError('secret detail')
  }
  const { dispatch, logged } = await setup([say({ read })])
  const answer = await dispatch(call())
  expect(answer).toMatchObject({ status: 'failed', code: 'internal' })
  expect(JSON.stringify(answer)).not.toContain('secret detail')
  expect(logged.join()).toContain('secret detail')
})

test('SV14 a cancelled call reports it, and does not run if cancelled before its start', async () => {
  let ran = 0
  const read = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    ran++
    await sleep(5000, undefined, { signal })
    return { reply: 'late' }
  }
  const { dispatch } = await setup([say({ read })])
  const stop = new AbortController()
  const answer = dispatch({ ...call(), signal: stop.signal })
  await expect.poll(() => ran).toBe(1)
  stop.abort()
  expect(await answer).toMatchObject({ status: 'failed', code: 'cancelled' })
  expect(await dispatch({ ...call(), signal: stop.signal })).toMatchObject({ code: 'cancelled' })
  expect(ran).toBe(1)
})

test("SV14 L12 the tool's own error counts even if the caller is gone", async () => {
  const stop = new AbortController()
  const run = async () => {
    stop.abort()
    throw new CoworkError('interrupted', 'It was ended while it did this.')
  }
  const { dispatch, entries } = await setup([say({ effect: 'write', run })])
  await dispatch({ ...call(), signal: stop.signal })
  expect((await entries()).at(-1)).toMatchObject({ type: 'call.failed', outcome: 'interrupted' })
})

test('SV11 tools are listed in a stable order, and duplicate names are refused', () => {
  const names = createToolRegistry([say({ name: 'b' }), say({ name: 'a' })])
    .list()
    .map((t) => t.name)
  expect(names).toEqual(['a', 'b'])
  expect(() => createToolRegistry([say(), say()])).toThrow(/duplicate tool: say/)
})
