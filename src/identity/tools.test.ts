import { expect, test } from 'vitest'
import { atMcp, call, refusal, setup } from '../../test/identity/identity.fixture.ts'
import { mintToken } from './token.ts'
import { identityTools } from './tools.ts'

const stored = 'select hash, agent from credential'

test('I4 a token is shown once and stored as a hash', async () => {
  const { add, db, entries, identity, list } = await setup()
  const added = await add('sales')
  expect(added.token).toMatch(/^sk-cowork-[0-9a-f]{48}$/)
  expect(await identity.identify({ ...atMcp, bearer: added.token })).toMatchObject({
    id: 'sales',
    verified: true,
  })
  expect(await db.all({ sql: stored, parameters: [] })).toEqual([
    { hash: added.hash, agent: 'sales' },
  ])
  expect(entries).toEqual([
    {
      type: 'agent.added',
      actor: { kind: 'human', id: 'owner', session: 's', verified: true },
      domain: 'cowork',
      subject: 'sales',
      ids: { call: call.id },
      data: { hash_prefix: added.hash.slice(0, 12) },
    },
  ])
  expect(JSON.stringify(await list())).not.toContain(added.token)
})

test('I13 adding the first agent turns on authentication and reports it', async () => {
  const { add, identity } = await setup()
  await identity.identify({ ...atMcp, agentId: 'anyone' })
  const first = await add('sales')
  expect(first).toMatchObject({ auth_enabled: true })
  expect(first.message).toMatch(/Authentication is now on/)
  expect(await refusal(identity.identify({ ...atMcp, agentId: 'anyone' }))).toMatchObject({
    code: 'auth_error',
  })
  expect(identity.banner()).toBe('Auth: closed mode (1 agents)')
  const second = await add('support')
  expect(second).toMatchObject({ auth_enabled: false })
  expect(second.message).not.toMatch(/Authentication/)
})

test('I13 a configured agent has already turned on authentication', async () => {
  const { add } = await setup({ agents: [{ id: 'dev', token: 't' }] })
  expect(await add('sales')).toMatchObject({ auth_enabled: false })
})

test('I13 mode and banner follow a change immediately', async () => {
  const { add, identity } = await setup()
  await add('sales')
  await expect.poll(() => identity.mode()).toBe('closed')
})

test('I13 an id is unique over config, environment and store', async () => {
  const { add, entries } = await setup({
    agents: [{ id: 'dev', token: 't' }],
    shared: { coworkToken: 'c', worksyncKey: 'w' },
  })
  await add('sales')
  for (const id of ['dev', 'main', 'worksync', 'sales', ' sales '])
    expect(await refusal(add(id))).toMatchObject({ code: 'agent_exists' })
  expect(await refusal(add('a\u0007b'))).toMatchObject({ code: 'invalid_agent_id' })
  expect(entries).toHaveLength(1)
})

test('I13 agents of config and environment are read-only', async () => {
  const { rotate, revoke, entries } = await setup({
    agents: [{ id: 'dev', token: 't' }],
    shared: { coworkToken: 'c' },
  })
  for (const act of [rotate, revoke]) {
    const { code, hint } = await refusal(act('dev'))
    expect([code, hint]).toEqual(['agent_read_only', expect.stringMatching(/cowork\.yaml/)])
    expect(await refusal(act('main'))).toMatchObject({ code: 'agent_read_only' })
    expect(await refusal(act('nobody'))).toMatchObject({ code: 'not_found' })
  }
  expect(entries).toEqual([])
})

test('I4 a rotated token stays valid for the overlap, the new token immediately', async () => {
  const { add, rotate, identity, time, entries } = await setup()
  const old = await add('sales')
  const fresh = await rotate('sales')
  expect(fresh.old_token_ends_at).toBe('2026-08-01T12:10:00.000Z')
  await time.pass(10 * 60_000 - 1)
  for (const { token } of [old, fresh])
    expect(await identity.identify({ ...atMcp, bearer: token })).toMatchObject({ id: 'sales' })
  await time.pass(1)
  expect(await refusal(identity.identify({ ...atMcp, bearer: old.token }))).toMatchObject({
    code: 'auth_error',
    message: expect.stringMatching(/rotated/),
  })
  expect(await identity.identify({ ...atMcp, bearer: fresh.token })).toMatchObject({ id: 'sales' })
  expect(entries.at(-1)).toMatchObject({
    type: 'agent.rotated',
    subject: 'sales',
    data: { hash_prefix: fresh.hash.slice(0, 12), overlap_minutes: 10 },
  })
})

test('I4 an overlap of 0 revokes the old token, and a later rotation never extends it', async () => {
  const { add, rotate, identity, time } = await setup()
  const first = await add('sales')
  const second = await rotate('sales', 0)
  expect(await refusal(identity.identify({ ...atMcp, bearer: first.token }))).toMatchObject({
    code: 'auth_error',
  })
  await rotate('sales', 5)
  await rotate('sales', 60)
  await time.pass(5 * 60_000)
  expect(await refusal(identity.identify({ ...atMcp, bearer: second.token }))).toMatchObject({
    code: 'auth_error',
  })
})

test('I4 a revoked agent is refused immediately, and authentication stays on', async () => {
  const { add, rotate, revoke, identity, entries } = await setup()
  const old = await add('sales')
  const fresh = await rotate('sales')
  await identity.identify({ ...atMcp, bearer: fresh.token })
  await revoke('sales')
  for (const { token } of [old, fresh])
    expect(await refusal(identity.identify({ ...atMcp, bearer: token }))).toMatchObject({
      code: 'auth_error',
      message: expect.stringMatching(/revoked/),
    })
  expect(identity.banner()).toBe('Auth: closed mode (0 agents)')
  expect(entries.at(-1)).toMatchObject({ type: 'agent.revoked', subject: 'sales' })
  const prefixes = entries.at(-1)?.data?.['hash_prefixes'] as string[]
  expect(prefixes.toSorted()).toEqual([old, fresh].map(({ hash }) => hash.slice(0, 12)).toSorted())
  expect(await refusal(revoke('sales'))).toMatchObject({ code: 'not_found' })
  expect(await refusal(rotate('sales'))).toMatchObject({ code: 'not_found' })
})

test('I12 an agent added again after revocation has a new token and session', async () => {
  const { add, revoke, identity, time } = await setup()
  const before = await add('sales', ['read:*'])
  const { session } = await identity.identify({ ...atMcp, bearer: before.token })
  await revoke('sales')
  await time.pass(1000)
  const again = await add('sales')
  const back = await identity.identify({ ...atMcp, bearer: again.token })
  expect(back).toMatchObject({ id: 'sales', scopes: ['*'], since: time.now() })
  expect(back.session).not.toBe(session)
  expect(await refusal(identity.identify({ ...atMcp, bearer: before.token }))).toMatchObject({
    code: 'auth_error',
  })
})

test('I4 a token issued during a revocation is not valid for an agent added later', async () => {
  const { add, revoke, db, identity } = await setup()
  await add('sales')
  await revoke('sales')
  const late = mintToken()
  // The state after another daemon rotated the token of an agent that it read before the revocation.
  const sql = "insert into credential (hash, agent, created_at) values (?, 'sales', 0)"
  await db.transact((tx) => tx.run({ sql, parameters: [late.hash] }))
  await add('sales')
  expect(await refusal(identity.identify({ ...atMcp, bearer: late.token }))).toMatchObject({
    code: 'auth_error',
  })
})

test('I13 the list has agents of all sources and only prefixes of credentials', async () => {
  const { add, rotate, revoke, identity, list, time } = await setup({
    agents: [{ id: 'dev', token: 't', scopes: ['read:*'] }],
    shared: { coworkToken: 'c' },
  })
  const old = await add('sales')
  await add('gone')
  await revoke('gone')
  await time.pass(60_000)
  const fresh = await rotate('sales', 1)
  await identity.identify({ ...atMcp, bearer: fresh.token })
  const agents = await list()
  expect(agents.map(({ id, source, status }) => [id, source, status])).toEqual([
    ['main', 'environment', 'active'],
    ['gone', 'store', 'revoked'],
    ['sales', 'store', 'active'],
    ['dev', 'config', 'active'],
  ])
  expect(agents[1]?.credentials).toEqual([])
  expect(agents[2]).toEqual({
    id: 'sales',
    source: 'store',
    status: 'active',
    scopes: ['*'],
    created_at: '2026-08-01T12:00:00.000Z',
    last_seen_at: '2026-08-01T12:01:00.000Z',
    credentials: [
      {
        hash_prefix: old.hash.slice(0, 12),
        created_at: '2026-08-01T12:00:00.000Z',
        expires_at: '2026-08-01T12:02:00.000Z',
      },
      { hash_prefix: fresh.hash.slice(0, 12), created_at: '2026-08-01T12:01:00.000Z' },
    ],
  })
  expect(agents[3]).toMatchObject({ scopes: ['read:*'] })
})

test('I4 a change that is rolled back does not affect authentication', async () => {
  const { identity, db, add } = await setup()
  let token = ''
  let meanwhile: Promise<unknown> | undefined
  const failing = db.transact(async (tx) => {
    token = (await identity.addAgent(tx, { id: 'ghost' }, call)).token
    meanwhile = identity.identify({ ...atMcp, agentId: 'anyone' })
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(await meanwhile).toMatchObject({ id: 'anyone', verified: false })
  expect(await refusal(identity.identify({ ...atMcp, bearer: token }))).toMatchObject({
    code: 'auth_error',
  })
  expect(identity.mode()).toBe('open')
  expect(await add('ghost')).toMatchObject({ auth_enabled: true })
})

test('I4 authentication during a change waits for its result', async () => {
  const { identity, db } = await setup()
  let meanwhile: Promise<unknown> | undefined
  const { token } = await db.transact(async (tx) => {
    const added = await identity.addAgent(tx, { id: 'sales' }, call)
    meanwhile = identity.identify({ ...atMcp, bearer: added.token })
    return added
  })
  expect(await meanwhile).toMatchObject({ id: 'sales', verified: true })
  await db.transact(async (tx) => {
    await identity.revokeAgent(tx, { id: 'sales' }, call)
    meanwhile = refusal(identity.identify({ ...atMcp, bearer: token }))
  })
  expect(await meanwhile).toMatchObject({ code: 'auth_error' })
})

test('L1 an agent is not revoked when the ledger cannot record it', async () => {
  const { identity, db, add } = await setup()
  const { token } = await add('sales')
  await identity.refresh()
  let meanwhile: Promise<unknown> | undefined
  const failing = db.transact(async (tx) => {
    await identity.revokeAgent(tx, { id: 'sales' }, call)
    meanwhile = identity.identify({ ...atMcp, bearer: token })
    tx.append({ type: 'no.room', actor: call.caller })
  })
  await expect(failing).rejects.toThrow('no room')
  expect(await meanwhile).toMatchObject({ id: 'sales' })
})

test('A3 only owners manage agents and people', async () => {
  const { identity } = await setup()
  const tools = identityTools(identity, () => [])
  expect(tools.filter(({ by }) => by !== 'human')).toEqual([])
  const byRole = (role?: string) =>
    tools.filter((tool) => tool.role === role).map(({ name }) => name)
  expect(byRole('owner')).toEqual([
    'cowork_add_agent',
    'cowork_set_tools',
    'cowork_rotate_agent',
    'cowork_revoke_agent',
    'cowork_invite_person',
    'cowork_withdraw_invitation',
    'cowork_set_role',
    'cowork_remove_person',
  ])
  // These change only the caller's own records, which the service checks.
  expect(byRole('viewer')).toEqual([
    'cowork_open_link',
    'cowork_revoke_session',
    'cowork_remove_passkey',
  ])
  expect(tools.filter(({ role }) => !role).map(({ effect }) => effect)).toEqual(
    Array.from({ length: 4 }, () => 'read'),
  )
})

test('I6 high-risk tools require the passkey of a person who has one', async () => {
  const { identity } = await setup()
  const assured = identityTools(identity, () => []).filter((tool) => tool.requiresPasskey)
  expect(assured.map(({ name }) => name)).toEqual([
    'cowork_add_agent',
    'cowork_set_tools',
    'cowork_rotate_agent',
    'cowork_revoke_agent',
    'cowork_invite_person',
    'cowork_set_role',
    'cowork_remove_person',
    'cowork_remove_passkey',
  ])
})
