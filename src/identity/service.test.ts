import { expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { atApi, atMcp, owner, refusal, setup } from '../../test/identity/identity.fixture.ts'
import { mintToken } from './token.ts'

const sales = mintToken()
const support = mintToken()
const agents = [
  { id: 'sales', token: sales.token, scopes: ['read:*', 'write:cowork'] },
  { id: 'support', token_hash: support.hash },
]
const client = { name: 'claude-code', version: '2.0', transport: 'http' } as const

test('I1 every credential authenticates one caller', async () => {
  const { identity } = await setup({ agents })
  expect(await identity.identify({ ...atMcp, bearer: sales.token, client })).toEqual({
    kind: 'agent',
    id: 'sales',
    verified: true,
    scopes: ['read:*', 'write:cowork'],
    session: expect.stringMatching(/./),
    client,
  })
  expect(await identity.identify({ ...atApi, bearer: owner })).toEqual({
    channel: 'api',
    kind: 'human',
    id: 'owner',
    role: 'owner',
    verified: true,
    scopes: ['*'],
    session: expect.stringMatching(/./),
  })
  expect(await identity.identify({ ...atApi, bearer: sales.token })).toMatchObject({
    kind: 'agent',
    id: 'sales',
  })
})

test('I4 an agent added under a revoked id is a different agent', async () => {
  const { identity, db, time } = await setup({ agents })
  const by = { id: 'c', caller: await identity.identify({ ...atApi, bearer: owner }) }
  const add = () => db.transact((tx) => identity.addAgent(tx, { id: 'bot' }, by))
  const isStill = (id: string, at = time.now()) => identity.isSameAgent(db, id, at)
  expect(await isStill('bot')).toBe(false)
  const { token } = await add()
  const first = time.now()
  expect(await identity.identify({ ...atMcp, bearer: token })).toMatchObject({ since: first })
  expect(await isStill('bot')).toBe(true)
  expect(await isStill('bot', first - 1)).toBe(false)
  await time.pass(1000)
  await db.transact((tx) => identity.revokeAgent(tx, { id: 'bot' }, by))
  expect(await isStill('bot')).toBe(false)
  await add()
  expect(await isStill('bot', first)).toBe(false)
  expect(await isStill('bot')).toBe(true)
  // A configured agent exists from the start.
  expect(await isStill('sales', 0)).toBe(true)
  const open = await setup()
  expect(await open.identity.isSameAgent(open.db, 'anyone', 0)).toBe(true)
})

test('I1 a credential has one principal for any claimed name', async () => {
  const closed = await setup({ agents, shared: { worksyncKey: 'wk' } })
  const { getPrincipal } = closed.identity
  expect(await getPrincipal({ ...atMcp, bearer: sales.token })).toBe('agent:sales')
  expect(await getPrincipal({ ...atMcp, agentToken: support.token })).toBe('agent:support')
  expect(await getPrincipal({ ...atApi, bearer: owner })).toBe('person:owner')
  expect(await getPrincipal({ ...atMcp, bearer: 'wk', agentId: 'codex' })).toBe('agent:worksync')
  expect(await refusal(getPrincipal(atMcp))).toMatchObject({ code: 'auth_error' })
  const open = await setup()
  expect(await open.identity.getPrincipal({ ...atMcp, agentId: 'any' })).toBe('open')
})

test('I2 with authentication off MCP accepts any agent without a token, the API none', async () => {
  const { identity } = await setup()
  expect(identity.mode()).toBe('open')
  expect(await identity.identify({ ...atMcp, agentId: 'whoever' })).toMatchObject({
    kind: 'agent',
    id: 'whoever',
    verified: false,
    scopes: ['*'],
  })
  const { code, details, hint } = await refusal(identity.identify(atApi))
  expect(code).toBe('auth_error')
  expect(details).toMatchObject({ error: true, auth_error: true })
  expect(hint).toMatch(/Bearer/)
})

test('SV21 a wrong bearer token is always refused, agent_token with authentication on', async () => {
  const wrong = { bearer: mintToken().token }
  for (const given of [{}, { agents }]) {
    const { identity } = await setup(given)
    for (const credential of 'agents' in given ? [wrong, { agentToken: 'x' }] : [wrong])
      for (const door of [atMcp, atApi])
        expect(await refusal(identity.identify({ ...door, ...credential }))).toMatchObject({
          code: 'auth_error',
        })
  }
})

test('SV21 RA7 with authentication off an unknown agent_token is ignored', async () => {
  const { identity } = await setup()
  for (const agentToken of ['x', mintToken().token])
    expect(await identity.identify({ ...atMcp, agentId: 'sales', agentToken })).toMatchObject({
      id: 'sales',
      verified: false,
    })
})

test('I3 with authentication on every call requires a token, and the error has the next step', async () => {
  const { identity } = await setup({ agents })
  expect(identity.mode()).toBe('closed')
  expect(identity.banner()).toBe('Auth: closed mode (2 agents)')
  const { code, message, hint, details } = await refusal(
    identity.identify({ ...atMcp, agentId: 'sales' }),
  )
  expect(code).toBe('auth_error')
  expect(details).toEqual({ error: true, auth_error: true, message })
  expect(hint).toMatch(/cowork agents add/)
  expect(hint).toMatch(/COWORK_TOKEN/)
})

test('I3 a token is accepted as Bearer or agent_token, and an empty one counts as absent', async () => {
  const { identity } = await setup({ agents })
  for (const given of [
    { bearer: sales.token },
    { agentToken: sales.token, agentId: 'sales' },
    { bearer: sales.token, agentToken: sales.token },
    { bearer: sales.token, agentToken: '', agentId: '' },
  ])
    expect(await identity.identify({ ...atMcp, ...given })).toMatchObject({ id: 'sales' })
  const empty = identity.identify({ ...atMcp, bearer: '', agentToken: '' })
  expect(await refusal(empty)).toMatchObject({ message: expect.stringMatching(/Token required/) })
})

test('I3 two tokens of different agents are refused', async () => {
  const { identity } = await setup({ agents })
  const both = identity.identify({ ...atMcp, bearer: sales.token, agentToken: support.token })
  expect(await refusal(both)).toMatchObject({ code: 'auth_error' })
  const half = identity.identify({ ...atMcp, bearer: sales.token, agentToken: 'x' })
  expect(await refusal(half)).toMatchObject({ code: 'auth_error' })
})

test('I5 with authentication on the token determines the agent, and another agent_id is an error', async () => {
  const { identity } = await setup({ agents })
  const { code, message } = await refusal(
    identity.identify({ ...atMcp, bearer: sales.token, agentId: 'support' }),
  )
  expect(code).toBe('auth_error')
  expect(message).toBe('The token belongs to sales, but the call names support.')
  const fallback = { ...atMcp, bearer: sales.token, fallbackId: 'support', client }
  expect(await identity.identify(fallback)).toMatchObject({ id: 'sales' })
})

test('RS10 an unverified caller cannot use a reserved name', async () => {
  const { identity } = await setup()
  for (const name of ['trust', 'System', 's y s t e m', 'cowork.', 'unver1fied'])
    for (const given of [{ agentId: name }, { fallbackId: name }])
      expect((await refusal(identity.identify({ ...atMcp, ...given }))).message).toMatch(
        /Reserved name/,
      )
  const called = { ...atMcp, client: { ...client, name: 'cowork' } }
  expect(await identity.identify(called)).toMatchObject({ id: 'anonymous' })
  expect(await identity.identify({ ...atMcp, agentId: 'anonymous' })).toMatchObject({
    id: 'anonymous',
  })
})

test('I5 with authentication off the caller is the argument, AGENT_ID, the client or anonymous', async () => {
  const { identity } = await setup()
  const idOf = async (given: object) => (await identity.identify({ ...atMcp, ...given })).id
  expect(await idOf({ agentId: 'a', fallbackId: 'b', client })).toBe('a')
  // The argument takes precedence over the client name.
  const odd = { ...client, name: 'good\u202eagent' }
  expect(await idOf({ agentId: 'a', client: odd })).toBe('a')
  expect(await idOf({ fallbackId: 'b', client })).toBe('b')
  expect(await idOf({ client })).toBe('claude-code')
  expect(await idOf({})).toBe('anonymous')
  const bad = await refusal(identity.identify({ ...atMcp, agentId: 'a\u202eb' }))
  expect(bad).toMatchObject({ code: 'invalid_agent_id', hint: expect.stringMatching(/printable/) })
})

test("A3 a person's token on MCP is refused, as Bearer and as agent_token", async () => {
  const { identity, noted } = await setup({ agents })
  for (const given of [{ bearer: owner }, { agentToken: owner }])
    expect(await refusal(identity.identify({ ...atMcp, ...given }))).toMatchObject({
      code: 'person_token_on_mcp',
      details: { auth_error: true },
    })
  expect(noted[0]).toMatchObject({ type: 'auth.failed', outcome: 'person_on_mcp' })
})

test('I7 WORKSYNC_API_KEY allows only work tools and does not turn on authentication', async () => {
  const { identity } = await setup({ shared: { worksyncKey: 'wk-1' } })
  expect(identity.mode()).toBe('open')
  for (const door of [atMcp, atApi])
    expect(await identity.identify({ ...door, bearer: 'wk-1', agentId: 'codex' })).toMatchObject({
      kind: 'agent',
      id: 'worksync',
      claim: 'codex',
      scopes: ['*:work'],
      verified: true,
    })
  expect(await identity.identify({ ...atMcp, bearer: 'wk-1' })).not.toHaveProperty('claim')
})

test('I7 COWORK_TOKEN is the token of AGENT_ID or main and turns on authentication', async () => {
  const named = await setup({ shared: { coworkToken: 'ct-1', agentId: 'laptop' } })
  expect(named.identity.banner()).toBe('Auth: closed mode (1 agents)')
  expect(await named.identity.identify({ ...atMcp, bearer: 'ct-1' })).toMatchObject({
    id: 'laptop',
    verified: true,
  })
  const unnamed = await setup({ shared: { coworkToken: 'ct-1' } })
  expect(await unnamed.identity.identify({ ...atMcp, bearer: 'ct-1' })).toMatchObject({
    id: 'main',
  })
})

test('I7 no secret is written to the store, the ledger or the log', async () => {
  const secrets = { worksyncKey: 'worksync-secret', coworkToken: 'cowork-secret' }
  const own = await setup({ agents: [{ id: 'dev', token: 'weak-secret' }], shared: secrets })
  await own.identity.identify({ ...atMcp, bearer: 'worksync-secret' })
  await refusal(own.identity.identify({ ...atMcp, bearer: 'wrong-secret' }))
  await own.add('sales')
  const kept = JSON.stringify([
    own.entries,
    own.noted,
    own.logged,
    await own.db.all({ sql: 'select * from credential', parameters: [] }),
  ])
  expect(kept).toMatch(/weak agent token/)
  expect(kept).not.toMatch(/-secret/)
})

test("I9 wrong tokens are delayed and recorded, the owner's token is not delayed", async () => {
  const { identity, time, noted } = await setup({ agents })
  const guess = () => refusal(identity.identify({ ...atApi, bearer: 'x', agentId: 'sales' }))
  for (let i = 0; i < 4; i++) await guess()
  const fifth = guess()
  await expect.poll(() => time.asleep()).toBe(2)
  expect(time.slept).toEqual([1000, 1000])
  expect(await identity.identify({ ...atApi, bearer: owner })).toMatchObject({ id: 'owner' })
  await time.pass(1000)
  expect(await fifth).toMatchObject({ code: 'auth_error' })
  expect(noted.map(({ data }) => data?.['count'])).toEqual([1, 4])

  // The owner's success reset the address, but not the principal sales.
  void guess()
  await expect.poll(() => time.slept.at(-1)).toBe(2000)
  await identity.identify({ ...atMcp, bearer: sales.token })
  expect(await guess()).toMatchObject({ code: 'auth_error' })
})

test('I9 a request without a token is never delayed', async () => {
  const { identity, noted } = await setup({ agents })
  for (let i = 0; i < 20; i++) await refusal(identity.identify(atMcp))
  expect(noted).toMatchObject([{ type: 'auth.failed', outcome: 'no_token' }])
})

test('I9 calls without a token do not reset failures while authentication is off', async () => {
  const { identity, time } = await setup()
  for (let i = 0; i < 4; i++) {
    await refusal(identity.identify({ ...atMcp, bearer: 'x' }))
    await identity.identify(atMcp)
  }
  void refusal(identity.identify({ ...atMcp, bearer: 'x' }))
  // One second for the count window and one for the delay.
  await expect.poll(() => time.slept).toEqual([1000, 1000])
})

test('I11 scopes belong to the credential, with a default', async () => {
  const { identity, add } = await setup({ agents, defaultScopes: ['read:*'] })
  const given = await add('given', ['*:files'])
  const none = await add('none')
  const scopes = async (bearer: string) => (await identity.identify({ ...atMcp, bearer })).scopes
  expect(await scopes(sales.token)).toEqual(['read:*', 'write:cowork'])
  expect(await scopes(support.token)).toEqual(['read:*'])
  expect(await scopes(given.token)).toEqual(['*:files'])
  expect(await scopes(none.token)).toEqual(['read:*'])
})

test('I12 a session is per token, per agent id without authentication, or of the transport', async () => {
  const closed = await setup({ agents })
  const session = async (given: object) =>
    (await closed.identity.identify({ ...atMcp, ...given })).session
  const first = await session({ bearer: sales.token })
  expect(await session({ bearer: sales.token })).toBe(first)
  expect(await session({ bearer: support.token })).not.toBe(first)
  expect(await session({ bearer: sales.token, session: 'mcp-1' })).toBe('mcp-1')
  expect(await session({ bearer: sales.token, session: 'mcp-1', label: 'ci' })).toBe('ci~mcp-1')
  await closed.time.pass(30 * 60_000)
  expect(await session({ bearer: sales.token })).not.toBe(first)

  const open = await setup()
  const idle = async (agentId: string) =>
    (await open.identity.identify({ ...atMcp, agentId })).session
  expect(await idle('a')).toBe(await idle('a'))
  expect(await idle('a')).not.toBe(await idle('b'))
})

test('I4 configured agents are found by the SHA-256 of their token', async () => {
  expect(sha256Hex(support.token)).toBe(support.hash)
  const { identity } = await setup({ agents })
  expect(await identity.identify({ ...atMcp, bearer: support.token })).toMatchObject({
    id: 'support',
  })
  expect(await refusal(identity.identify({ ...atMcp, bearer: support.hash }))).toMatchObject({
    code: 'auth_error',
  })
})
