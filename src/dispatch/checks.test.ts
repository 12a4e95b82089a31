import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Approval } from '#approvals'
import type { Caller, Role } from '#base/caller.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { checkPasskey, checkRole, requiredRole } from './checks.ts'

const tool = (more: Partial<Tool>): Tool => ({
  ...defineTool({
    name: 'act',
    title: 'Act',
    description: 'For tests',
    toolset: 'cowork',
    effect: 'read',
    by: 'anyone',
    input: z.object({}),
    output: z.object({}),
    read: async () => ({}),
  }),
  ...(more as object),
})

const agent: Caller = { kind: 'agent', id: 'sales', session: 's', verified: true, scopes: ['*'] }
const person = (more: Partial<Caller>): Caller => ({ ...agent, kind: 'human', id: 'anna', ...more })
const attempt = (tested: Tool, caller: Caller) => ({
  tool: tested,
  caller,
  input: {},
  touch: { domain: 'cowork' },
})

const roles: Role[] = ['viewer', 'reviewer', 'owner']

test.each([
  ['a read', { effect: 'read' }, ['viewer', 'reviewer', 'owner']],
  ['a write', { effect: 'write' }, ['reviewer', 'owner']],
  ['a destructive act', { effect: 'destructive' }, ['reviewer', 'owner']],
  ['administration', { effect: 'write', role: 'owner' }, ['owner']],
  ['a read for owners', { effect: 'read', role: 'owner' }, ['owner']],
  ["one's own matter", { effect: 'write', role: 'viewer' }, ['viewer', 'reviewer', 'owner']],
] as const)('I6 %s requires its role', async (_, more, may) => {
  const tested = tool(more)
  for (const role of roles)
    expect(await checkRole(attempt(tested, person({ role }))), role).toMatchObject(
      (may as readonly Role[]).includes(role)
        ? { mode: 'act' }
        : { mode: 'refuse', code: 'role_required', details: { role: requiredRole(tested) } },
    )
})

test('I6 a person without a role cannot read, and agents need no role', async () => {
  expect(await checkRole(attempt(tool({}), person({})))).toMatchObject({ code: 'role_required' })
  const owners = tool({ role: 'owner' })
  expect(await checkRole(attempt(owners, agent))).toEqual({ mode: 'act' })
})

/** `confirmed` contains the decisions confirmed with a passkey. */
const having = (people: readonly string[], confirmed = new Set<string>()) =>
  checkPasskey(
    {
      has: async (id) => people.includes(id),
      takeConfirmed: (_, decision) => confirmed.delete(decision),
    },
    {
      get: async (id) =>
        ({ risk: id === 'risky' ? 'high' : 'normal', kind: id, digest: id }) as Approval,
    },
  )
const risky = tool({ requiresPasskey: true })

test('I6 high risk requires the passkey of a person who has one', async () => {
  const check = having(['anna'])
  expect(await check(attempt(risky, person({ assured: true })))).toEqual({ mode: 'act' })
  for (const caller of [person({}), person({ assured: false }), person({ role: 'owner' })])
    expect(await check(attempt(risky, caller))).toMatchObject({
      code: 'passkey_required',
      hint: expect.stringContaining('cowork open'),
    })
})

test('I6 approving high-risk or unknown approvals requires the passkey', async () => {
  const approving = (ids: readonly string[] | 'unknown') => tool({ approves: () => ids })
  const check = having(['anna'])
  const asks = { code: 'passkey_required' }
  expect(await check(attempt(approving(['risky']), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving(['plain', 'risky']), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving('unknown'), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving(['plain']), person({})))).toEqual({ mode: 'act' })
  expect(await having([])(attempt(approving(['risky']), person({})))).toEqual({ mode: 'act' })
})

test('I6 without a passkey, without risk and for agents nothing is required', async () => {
  expect(await having([])(attempt(risky, person({})))).toEqual({ mode: 'act' })
  expect(await having(['anna'])(attempt(tool({}), person({})))).toEqual({ mode: 'act' })
  expect(await having(['sales'])(attempt(risky, agent))).toEqual({ mode: 'act' })
})

test('I6 RS10 a passkey confirmation covers one decision, once', async () => {
  const approving = tool({ approves: () => ['risky'] })
  const confirmed = new Set<string>()
  const check = having(['anna'], confirmed)
  const asked = (input: object) =>
    check({ ...attempt(approving, person({ assured: true })), input: { ...input } })
  const refused = await asked({ decision: 'approve' })
  expect(refused).toMatchObject({ code: 'passkey_required' })
  const decision = String('details' in refused && refused.details?.['decision'])
  confirmed.add(decision)
  expect(await asked({ decision: 'approve', reason: 'other' })).toMatchObject({ mode: 'refuse' })
  expect(await asked({ decision: 'approve' })).toEqual({ mode: 'act' })
  expect(await asked({ decision: 'approve' })).toMatchObject({ mode: 'refuse' })
})

test('I6 RS10 a confirmation is void when the approved request changes', async () => {
  const confirmed = new Set<string>()
  let digest = 'as read'
  const check = checkPasskey(
    { has: async () => true, takeConfirmed: (_, decision) => confirmed.delete(decision) },
    { get: async () => ({ risk: 'high', kind: 'call', digest }) as Approval },
  )
  const decide = () => check(attempt(tool({ approves: () => ['risky'] }), person({})))
  const refused = await decide()
  confirmed.add(String('details' in refused && refused.details?.['decision']))
  digest = 'edited'
  expect(await decide()).toMatchObject({ code: 'passkey_required' })
  digest = 'as read'
  expect(await decide()).toEqual({ mode: 'act' })
})

test('I6 RS10 approving a new domain requires the passkey', async () => {
  const approving = tool({ approves: () => ['permission'] })
  expect(await having(['anna'])(attempt(approving, person({})))).toMatchObject({
    code: 'passkey_required',
  })
})
