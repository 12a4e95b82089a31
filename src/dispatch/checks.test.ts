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
] as const)('I6 %s is for the roles that may', async (_, more, may) => {
  const tested = tool(more)
  for (const role of roles)
    expect(await checkRole(attempt(tested, person({ role }))), role).toMatchObject(
      (may as readonly Role[]).includes(role)
        ? { mode: 'act' }
        : { mode: 'refuse', code: 'role_required', details: { role: requiredRole(tested) } },
    )
})

test('I6 a person without a role may not even read, and agents need none', async () => {
  expect(await checkRole(attempt(tool({}), person({})))).toMatchObject({ code: 'role_required' })
  const owners = tool({ role: 'owner' })
  expect(await checkRole(attempt(owners, agent))).toEqual({ mode: 'act' })
})

/** `confirmed` are the decisions for which the passkey was shown. */
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

test('I6 high risk asks a person who has a passkey to have shown it', async () => {
  const check = having(['anna'])
  expect(await check(attempt(risky, person({ assured: true })))).toEqual({ mode: 'act' })
  for (const caller of [person({}), person({ assured: false }), person({ role: 'owner' })])
    expect(await check(attempt(risky, caller))).toMatchObject({
      code: 'passkey_required',
      hint: expect.stringContaining('cowork open'),
    })
})

test('I6 approving what is of high risk asks for it, and what is not known beforehand', async () => {
  const approving = (ids: readonly string[] | 'unknown') => tool({ approves: () => ids })
  const check = having(['anna'])
  const asks = { code: 'passkey_required' }
  expect(await check(attempt(approving(['risky']), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving(['plain', 'risky']), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving('unknown'), person({})))).toMatchObject(asks)
  expect(await check(attempt(approving(['plain']), person({})))).toEqual({ mode: 'act' })
  expect(await having([])(attempt(approving(['risky']), person({})))).toEqual({ mode: 'act' })
})

test('I6 without a passkey, without risk and for agents nothing is asked', async () => {
  expect(await having([])(attempt(risky, person({})))).toEqual({ mode: 'act' })
  expect(await having(['anna'])(attempt(tool({}), person({})))).toEqual({ mode: 'act' })
  expect(await having(['sales'])(attempt(risky, agent))).toEqual({ mode: 'act' })
})

test('I6 RS10 the passkey confirms one decision, once, and not what else the session decides', async () => {
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

test('I6 RS10 a confirmation ends when what it approves changes', async () => {
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

test('I6 RS10 letting an agent into a new domain asks for the passkey', async () => {
  const approving = tool({ approves: () => ['permission'] })
  expect(await having(['anna'])(attempt(approving, person({})))).toMatchObject({
    code: 'passkey_required',
  })
})
