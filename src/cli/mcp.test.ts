import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import { daemonEnvironment, buildHello } from './mcp.ts'

function createState() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-state-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const paths = statePaths(folder)
  const file = paths.agentToken('sales')
  mkdirSync(dirname(file))
  writeFileSync(file, 'sk-cowork-stored\n')
  return paths
}

test('I13 COWORK_TOKEN comes first, then the file of --agent, then AGENT_ID, then main', () => {
  const paths = createState()
  const all = { COWORK_TOKEN: 'sk-cowork-given', AGENT_ID: 'desk', SESSION_ID: 's1' }
  expect(buildHello({ paths, env: all, agent: 'sales' })).toEqual({
    token: 'sk-cowork-given',
    session: 's1',
  })
  expect(buildHello({ paths, env: { AGENT_ID: 'desk' }, agent: 'sales' })).toEqual({
    token: 'sk-cowork-stored',
  })
  expect(buildHello({ paths, env: { AGENT_ID: 'desk' } })).toEqual({ agent: 'desk' })
  expect(buildHello({ paths, env: {} })).toEqual({ agent: 'main' })
})

test('I13 --agent without a token file is the agent name with authentication off', () => {
  expect(buildHello({ paths: createState(), env: {}, agent: 'nobody' })).toEqual({
    agent: 'nobody',
  })
})

test('SV18 RA8 the options select tools as comma-separated lists', () => {
  const options = { tools: 'files, work', exclude: 'delete_file', readOnly: true }
  expect(buildHello({ paths: createState(), env: {}, ...options, results: 'structured' })).toEqual({
    agent: 'main',
    tools: ['files', 'work'],
    exclude: ['delete_file'],
    read_only: true,
    results: 'structured',
  })
})

test.each(['../owner', '..', 'a/b', 'a\\b', '', '.hidden'])(
  'I13 --agent %j reads no other file',
  (agent) => {
    expect(() => buildHello({ paths: createState(), env: {}, agent })).toThrow('Invalid agent name')
  },
)

test('SV6 a daemon started by the bridge does not get variables of the client', () => {
  const env = {
    PORT: '1',
    TRANSPORT: 'stdio',
    LOG_LEVEL: 'debug',
    COWORK_TOKEN: 't',
    AGENT_ID: 'a',
    SESSION_ID: 's',
    WORKSPACE_PATH: '/w',
    PATH: '/bin',
  }
  expect(daemonEnvironment(env)).toEqual({ WORKSPACE_PATH: '/w', PATH: '/bin' })
})
