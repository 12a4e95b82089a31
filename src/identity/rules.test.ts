import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { parseAgentId, loadStaticCredentials, buildCredentialIndex } from './credentials.ts'
import type { IdentityConfig, SharedKeys } from './credentials.ts'
import { atMcp, defaults, owner } from '../../test/identity/identity.fixture.ts'
import { formatAuthBanner, authenticate } from './rules.ts'
import { mintToken } from './token.ts'

type Agents = IdentityConfig['agents']
const standing = (agents: Agents, shared: SharedKeys = {}) =>
  loadStaticCredentials({ ...defaults, agents }, owner, shared, ['*'])
const knowing = (agents: Agents, shared?: SharedKeys) =>
  buildCredentialIndex(standing(agents, shared), { agents: [], credentials: [] }, ['*'])
const refused = (what: RegExp) =>
  expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(what) })

test('I2 the banner without agents shows open mode', () => {
  expect(formatAuthBanner(knowing([]), defaults)).toBe(
    'Auth: open mode (demo) | Mode: suggest | Trust default: 0.3',
  )
})

test('I3 the banner counts the agents', () => {
  const agents = [
    { id: 'sales-agent', token: 'sk-cowork-abc123' },
    { id: 'support-agent', token: 'sk-cowork-xyz789' },
  ]
  expect(formatAuthBanner(knowing(agents), defaults)).toBe('Auth: closed mode (2 agents)')
})

test('I4 token_hash takes precedence over token', () => {
  const right = mintToken()
  const known = knowing([{ id: 'sales', token: 'old', token_hash: right.hash.toUpperCase() }])
  expect(authenticate(known, { ...atMcp, bearer: right.token }, 0)).toMatchObject({
    principal: 'agent:sales',
  })
  expect(authenticate(known, { ...atMcp, bearer: 'old' }, 0)).toMatchObject({
    fault: 'wrong_token',
  })
})

test('Y1 an agent id cannot contain a pattern', () => {
  const invalid = expect.objectContaining({ code: 'invalid_agent_id' })
  for (const id of ['*', 'fin*']) {
    expect(() => parseAgentId(id)).toThrow(invalid)
    expect(() => standing([{ id, token: 'x' }])).toThrow(invalid)
    expect(() => standing([], { coworkToken: 'x', agentId: id })).toThrow(invalid)
  }
})

test('I4 configured agents with duplicate ids or tokens, or without a token, are refused', () => {
  const read = (agents: Agents, shared?: SharedKeys) => () => standing(agents, shared)
  expect(read([{ id: 'a' }])).toThrow(refused(/agent a has neither/))
  expect(read([{ id: 'a', token: '' }])).toThrow(refused(/agent a has neither/))
  expect(read([{ id: 'a', token_hash: 'abc' }])).toThrow(refused(/not a SHA-256/))
  expect(
    read([
      { id: 'a', token: 'x' },
      { id: 'a', token: 'y' },
    ]),
  ).toThrow(refused(/duplicate agent id a/))
  expect(
    read([
      { id: 'a', token: 'x' },
      { id: 'b', token_hash: sha256Hex('x') },
    ]),
  ).toThrow(refused(/agent:a and agent:b have the same token/))
  expect(read([{ id: 'a', token: owner }])).toThrow(refused(/person:owner and agent:a/))
  expect(read([], { coworkToken: owner })).toThrow(refused(/person:owner and agent:main/))
})

test('I7 COWORK_TOKEN equal to a configured token does not add an agent', () => {
  const known = knowing([{ id: 'sales', token: 'x' }], { coworkToken: 'x', agentId: 'other' })
  expect([...known.holders.keys()]).toEqual(['agent:sales', 'person:owner'])
})

test('I7 COWORK_TOKEN for a configured agent is another token with the same scopes', () => {
  const known = knowing([{ id: 'sales', token: 'x', scopes: ['read:*'] }], {
    coworkToken: 'y',
    agentId: 'sales',
  })
  for (const bearer of ['x', 'y'])
    expect(authenticate(known, { ...atMcp, bearer }, 0)).toMatchObject({
      caller: { id: 'sales', scopes: ['read:*'] },
    })
})

test('I4 the error for an ended token says how to get a new one', () => {
  const { token, hash } = mintToken()
  const hintOf = (agent: object) => {
    const agents = [{ id: 'sales', createdAt: 0, ...agent }]
    const credentials = [{ hash, agent: 'sales', createdAt: 0, expiresAt: 5 }]
    const known = buildCredentialIndex(standing([]), { agents, credentials }, ['*'])
    const outcome = authenticate(known, { ...atMcp, bearer: token }, 9)
    return 'fault' in outcome ? outcome.hint : undefined
  }
  expect(hintOf({})).toContain('cowork agents rotate')
  expect(hintOf({ revokedAt: 5 })).toContain('cowork agents add')
  expect(hintOf({ revokedAt: 5 })).not.toContain('rotate')
})

test('I7 a revoked token stays revoked even if COWORK_TOKEN contains it', () => {
  const { token, hash } = mintToken()
  const known = buildCredentialIndex(
    standing([], { coworkToken: token }),
    {
      agents: [{ id: 'sales', createdAt: 0, revokedAt: 5 }],
      credentials: [{ hash, agent: 'sales', createdAt: 0, expiresAt: 5 }],
    },
    ['*'],
  )
  expect(authenticate(known, { ...atMcp, bearer: token }, 9)).toMatchObject({
    fault: 'ended_token',
  })
})

test('I7 COWORK_TOKEN does not reactivate a revoked agent', () => {
  const known = buildCredentialIndex(
    standing([], { coworkToken: 'c', agentId: 'sales' }),
    { agents: [{ id: 'sales', createdAt: 0, revokedAt: 5 }], credentials: [] },
    ['*'],
  )
  expect(authenticate(known, { ...atMcp, bearer: 'c' }, 9)).toMatchObject({ fault: 'ended_token' })
})

test('I13 config takes precedence for an agent that is also in the store', () => {
  const { token, hash } = mintToken()
  const known = buildCredentialIndex(
    standing([{ id: 'sales', token: 'x' }]),
    {
      agents: [{ id: 'sales', createdAt: 0, scopes: ['*'] }],
      credentials: [{ hash, agent: 'sales', createdAt: 0 }],
    },
    ['*'],
  )
  expect(authenticate(known, { ...atMcp, bearer: token }, 9)).toMatchObject({
    fault: 'wrong_token',
  })
  expect(known.holders.get('agent:sales')).toMatchObject({ source: 'config' })
})

test('I3 with authentication on only a valid token is accepted', () => {
  const known = knowing([{ id: 'sales', token_hash: mintToken().hash }])
  const close = fc
    .uint8Array({ minLength: 24, maxLength: 24 })
    .map((bytes) => `sk-cowork-${Buffer.from(bytes).toString('hex')}`)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), close), (text) => {
      expect(authenticate(known, { ...atMcp, bearer: text }, 0)).toHaveProperty('fault')
      expect(authenticate(known, { ...atMcp, agentToken: text }, 0)).toHaveProperty('fault')
    }),
  )
})

test('I3 a token of megabytes is refused without hashing', () => {
  const long = 'x'.repeat(5000)
  const known = knowing([{ id: 'sales', token: long }])
  expect(authenticate(known, { ...atMcp, bearer: long }, 0)).toMatchObject({ fault: 'wrong_token' })
})
