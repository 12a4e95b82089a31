import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  readCallerEnvironment,
  readEnvironmentOverrides,
  mcpSettingsFile,
  stateDirectory,
} from './env.ts'
import { listProblems, tempHome } from '../../../test/base/config/config.fixture.ts'

const folders = { home: '/home/me', cwd: '/here' }

test('SV6 the variables of File Ops work', () => {
  const { home, load } = tempHome()
  const { config } = load({
    forUp: true,
    env: {
      TRANSPORT: 'SSE',
      PORT: '8003',
      WORKSPACE_PATH: '~/ws/',
      GRANTS_DB_PATH: '~/.annabelle/data/grants.db',
      AUDIT_LOG_PATH: '/tmp/audit.log',
      TEMP_CLEANUP_DAYS: '9',
      LOG_LEVEL: 'WARNING',
    },
  })
  expect(config.server).toMatchObject({ transport: 'sse', port: 8003, log_level: 'warn' })
  expect(config.workspace.path).toBe(join(home, 'ws'))
  expect(config.grants.database).toBe(join(home, '.annabelle/data/grants.db'))
  expect(config.audit.log_path).toBe('/tmp/audit.log')
  expect(config.cleanup.temp_retention_days).toBe(9)
})

test('SV6 the variables of WorkSync work, and a port enables the second listener', () => {
  const { home, load } = tempHome()
  const env = {
    WORKSYNC_DATA_ROOT: '~/.ws',
    WORKSYNC_HOST: '127.0.0.2',
    WORKSYNC_AUTO_SYNC: 'false',
    WORKSYNC_SYNC_DEBOUNCE: '2.5',
    WORKSYNC_API_KEY: 'op://AI/WORKSYNC_API_KEY/credential',
  }
  expect(load({ env }).config.work).toMatchObject({
    data_root: join(home, '.ws'),
    host: '127.0.0.2',
    port: 8321,
    listen: false,
    auto_sync: false,
    sync_debounce: 2500,
    api_key: 'op://AI/WORKSYNC_API_KEY/credential',
  })
  expect(load({ env: { WORKSYNC_PORT: '9000' } }).config.work).toMatchObject({
    port: 9000,
    listen: true,
  })
})

test('SV6 variables set the state directory and the MCP settings file', () => {
  expect(stateDirectory({}, folders)).toBe('/home/me/.cowork')
  expect(stateDirectory({ COWORK_STATE_DIR: '~/s' }, folders)).toBe('/home/me/s')
  expect(stateDirectory({ COWORK_STATE_DIR: 's' }, folders)).toBe('/here/s')
  expect(() => stateDirectory({ COWORK_STATE_DIR: '~bob/s' }, folders)).toThrow(
    'Only ~/ is expanded',
  )
  expect(mcpSettingsFile({ COWORK_STATE_DIR: '/s' }, folders)).toBe('/s/mcp-settings.json')
  expect(mcpSettingsFile({ COWORK_MCP_SETTINGS_PATH: '~/m.json' }, folders)).toBe('/home/me/m.json')
  const { load, home } = tempHome({ 'st/cowork.yaml': 'server: {port: 7}' })
  const loaded = load({ env: { COWORK_STATE_DIR: '~/st' } })
  expect(loaded.config.server.port).toBe(7)
  expect(loaded.paths.state).toBe(join(home, 'st'))
})

test('SV6 a daemon that a bridge starts ignores PORT, TRANSPORT and LOG_LEVEL', () => {
  const env = { PORT: '1', TRANSPORT: 'stdio', LOG_LEVEL: 'ERROR', TEMP_CLEANUP_DAYS: '2' }
  expect(readEnvironmentOverrides(env, { forUp: false }).map(({ origin }) => origin)).toEqual([
    'environment variable TEMP_CLEANUP_DAYS',
  ])
  expect(readEnvironmentOverrides(env, { forUp: true })).toHaveLength(4)
})

test('SV6 an empty variable counts as unset', () => {
  expect(readEnvironmentOverrides({ PORT: '', WORKSPACE_PATH: '' }, { forUp: true })).toEqual([])
})

test.each([
  ['PORT', 'abc', 'an integer from 0 to 65535, found "abc"'],
  ['PORT', '70000', 'an integer from 0 to 65535, found 70000'],
  ['TRANSPORT', 'pigeon', 'one of http, sse, stdio'],
  ['LOG_LEVEL', 'LOUD', 'one of debug, info, warn, error'],
  ['TEMP_CLEANUP_DAYS', '0', 'an integer of at least 1'],
  ['WORKSYNC_AUTO_SYNC', 'perhaps', 'true or false, found "perhaps"'],
  ['WORKSYNC_SYNC_DEBOUNCE', 'later', 'a duration'],
  ['WORKSPACE_PATH', '~bob/ws', 'a path'],
])('SV6 %s=%s is refused by its name', (name, value, expected) => {
  const [problem, ...others] = listProblems('', { env: { [name]: value }, forUp: true })
  expect(problem).toContain(`environment variable ${name}: `)
  expect(problem).toContain(`expected ${expected}`)
  expect(others).toEqual([])
})

test('I13 AGENT_ID, SESSION_ID and COWORK_TOKEN identify the caller and are not configuration', () => {
  const env = { AGENT_ID: 'main', SESSION_ID: 's1', COWORK_TOKEN: 'sk-cowork-1' }
  expect(readCallerEnvironment(env)).toEqual({
    agentId: 'main',
    sessionId: 's1',
    token: 'sk-cowork-1',
  })
  expect(readCallerEnvironment({ AGENT_ID: '' }).agentId).toBeUndefined()
  expect(JSON.stringify(tempHome().load({ env }).config)).not.toContain('sk-cowork-1')
})
