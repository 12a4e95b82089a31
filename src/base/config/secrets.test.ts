import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempHome } from '../../../test/base/config/config.fixture.ts'
import { resolveReference } from './secret-sources.ts'
import { applySecrets, readSecrets, resolveEnvironment, resolveSecrets } from './secrets.ts'

test('I8 env: and file: references are resolved, and all secrets are listed for redaction', async () => {
  const { home, load } = tempHome({
    '.cowork/cowork.yaml': `agents:
  - {id: a, token: env:A_TOKEN}
  - {id: b, token: file:keys/b}
  - {id: c, token: plain-token}
storage: {url: "env:DB"}
work: {api_key: file:~/key}
`,
    '.cowork/keys/b': 'from file\n',
    key: 'work key\n\n',
  })
  for (const file of ['.cowork/keys/b', 'key']) chmodSync(join(home, file), 0o600)
  const env = { A_TOKEN: 'from env', DB: 'postgres://me:long%20password@db/x' }
  const { config, secrets, warnings } = await resolveSecrets(load().config, { env })
  expect(config.agents.map(({ token }) => token)).toEqual(['from env', 'from file', 'plain-token'])
  expect(config.storage.url).toBe('postgres://me:long%20password@db/x')
  expect(config.work.api_key).toBe('work key\n')
  expect(secrets).toEqual(
    expect.arrayContaining([
      'from env',
      'from file',
      'plain-token',
      'long%20password',
      'long password',
      'work key\n',
    ]),
  )
  expect(warnings).toEqual([])
  expect(Object.isFrozen(config.agents)).toBe(true)
})

test('I8, L13 secrets in a mapping with arbitrary keys are resolved', async () => {
  const yaml = 'server: {otlp_headers: {authorization: "env:OTLP", x-scope: team}}'
  const { load } = tempHome({ '.cowork/cowork.yaml': yaml })
  const { config, secrets } = await resolveSecrets(load().config, { env: { OTLP: 'Bearer abc' } })
  expect(config.server.otlp_headers).toEqual({ authorization: 'Bearer abc', 'x-scope': 'team' })
  expect(secrets).toEqual(expect.arrayContaining(['Bearer abc']))
})

test('I8 the daemon applies secrets that the terminal resolved', async () => {
  const { load } = tempHome({ '.cowork/cowork.yaml': 'agents: [{id: a, token: env:T}]' })
  const { config } = load()
  const { values } = await readSecrets(config, { env: { T: 'cmd:echo no' } })
  expect(values).toEqual({ 'env:T': 'cmd:echo no' })
  expect(applySecrets(config, JSON.parse(JSON.stringify(values))).config.agents[0]?.token).toBe(
    'cmd:echo no',
  )
})

test('I8 a secret file that other users can read causes a warning', async () => {
  const { home } = tempHome({ key: 'k' })
  chmodSync(join(home, 'key'), 0o644)
  const warnings: string[] = []
  expect(await resolveReference('file:key', 'work.api_key', { cwd: home }, warnings)).toBe('k')
  expect(warnings).toEqual([
    `work.api_key: other users can read ${join(home, 'key')}; run chmod 600 on it`,
  ])
})

test.each([
  ['env:NOT_SET', 'environment variable NOT_SET is not set'],
  ['env:EMPTY', 'is empty'],
  ['file:nowhere', 'cannot read '],
  ['file:.', 'not a file'],
])('I8 %s is refused with the setting and the reason', async (reference, reason) => {
  const { home } = tempHome()
  const refused = resolveReference(reference, 'agents[0].token', { env: { EMPTY: '' }, cwd: home })
  await expect(refused).rejects.toMatchObject({
    code: 'secret_unresolved',
    message: expect.stringContaining('Cannot resolve agents[0].token'),
  })
  await expect(refused).rejects.toThrow(reason)
})

test('I8 keychain:name uses the service cowork, keychain:service/name another service', async () => {
  const asked: string[][] = []
  class Entry {
    constructor(...names: string[]) {
      asked.push(names)
    }
    getPassword = () => 'kept'
  }
  const loadKeyring = () => Promise.resolve({ Entry })
  expect(await resolveReference('keychain:sales', 'x', { loadKeyring })).toBe('kept')
  expect(await resolveReference('keychain:other/name', 'x', { loadKeyring })).toBe('kept')
  expect(asked).toEqual([
    ['cowork', 'sales'],
    ['other', 'name'],
  ])
})

test('I8 the error for a missing keychain package contains the next step', async () => {
  const loadKeyring = () => Promise.reject(new Error('Cannot find module'))
  await expect(resolveReference('keychain:sales', 'x', { loadKeyring })).rejects.toMatchObject({
    message: expect.stringContaining('@napi-rs/keyring is not installed'),
    hint: expect.stringContaining('file: or env:'),
  })
})

test('I8 a resolved database URL that is invalid is refused and not shown', async () => {
  const { load } = tempHome({ '.cowork/cowork.yaml': 'storage: {url: env:DB}' })
  const refused = resolveSecrets(load().config, { env: { DB: 'mysql://me:hunter22@db' } })
  await expect(refused).rejects.toThrow('does not resolve to a postgres:// URL')
  await expect(refused).rejects.not.toThrow('hunter22')
})

test('I8 a short database password is redacted only inside the URL', async () => {
  const { load } = tempHome({
    '.cowork/cowork.yaml': 'storage: {url: "postgres://cowork:cowork@db/x"}',
  })
  const { secrets } = await resolveSecrets(load().config, {})
  expect(secrets).toEqual(['postgres://cowork:cowork@db/x'])
})

test('I8 the values of an env file may be references', async () => {
  const resolved = await resolveEnvironment(
    { KEY: 'env:REAL', PLAIN: 'x' },
    { env: { REAL: 'secret value' } },
  )
  expect(resolved).toEqual({
    env: { KEY: 'secret value', PLAIN: 'x' },
    secrets: ['secret value'],
    warnings: [],
  })
})
