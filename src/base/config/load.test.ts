import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import {
  loadYaml,
  listProblems,
  captureError,
  tempHome,
} from '../../../test/base/config/config.fixture.ts'

test('SV5 defaults apply without a file', () => {
  const { home, load } = tempHome()
  const { config, paths, sources } = load()
  expect(config.server).toMatchObject({ host: 'localhost', port: 8765, insecure_bind: false })
  expect(config.storage).toEqual({ path: join(home, '.cowork/cowork.db') })
  expect(config.audit.log_path).toBe(join(home, '.cowork/logs/audit.jsonl'))
  expect(config.workspace.path).toBe(join(home, 'Downloads/AI-Workspace'))
  expect(config.approvals).toMatchObject({
    ttl: 604_800_000,
    token_ttl: 600_000,
    call_ttl: 3_600_000,
  })
  expect(paths.config).toBe(join(home, '.cowork/cowork.yaml'))
  expect(sources).toEqual([])
})

test('SV5 flags override the environment, the environment the file, and the file the defaults', () => {
  const yaml =
    'server: {port: 1001, host: "127.0.0.1"}\ncleanup: {temp_retention_days: 3}\naudit: {payload_days: 5}\n'
  const { config, sources } = loadYaml(yaml, {
    env: { PORT: '1002', TEMP_CLEANUP_DAYS: '4' },
    forUp: true,
    flags: [
      { path: ['server', 'port'], value: '1003', origin: '--port' },
      { path: ['server', 'host'], value: undefined, origin: '--host' },
    ],
  })
  expect(config.server.port).toBe(1003)
  expect(config.cleanup.temp_retention_days).toBe(4)
  expect(config.server.host).toBe('127.0.0.1')
  expect(config.audit.payload_days).toBe(5)
  expect(config.audit.max_log_size_mb).toBe(100)
  expect(sources.slice(1)).toEqual([
    'environment variable PORT',
    'environment variable TEMP_CLEANUP_DAYS',
    '--port',
  ])
})

test('SV5 the configuration is deeply frozen', () => {
  const { config } = loadYaml('authority: {high_risk_fields: [owner]}')
  expect(Object.isFrozen(config)).toBe(true)
  expect(Object.isFrozen(config.authority.high_risk_fields)).toBe(true)
  expect(Object.isFrozen(config.server.limits)).toBe(true)
})

test('SV5 an unknown key is refused at its line with the closest key', () => {
  expect(listProblems('server:\n  host: localhost\n  prot: 1\n')).toEqual([
    '3:3 server.prot: unknown key; did you mean port?',
  ])
  expect(listProblems('polices: []\n')).toEqual([
    '1:1 polices: unknown key; did you mean policies?',
  ])
  expect(listProblems('trash: {zzzzzz: 1}')).toEqual([
    '1:9 trash.zzzzzz: unknown key; expected one of retention',
  ])
})

test('SV5 an invalid value is refused at its line with the expected and the actual value', () => {
  expect(
    listProblems(`server:
  port: abc
  transport: htp
  allowed_hosts: desk
trust:
  default_level: 1.5
approvals:
  ttl: soon
jobs: no
policies:
  - id: p
    rules:
      - {field: amount, constraint: value_rang}
      - {field: amount, constraint: enum, values: []}
`),
  ).toEqual([
    '2:9 server.port: expected an integer from 0 to 65535, found "abc"',
    '3:14 server.transport: expected one of http, sse, stdio, found "htp"; did you mean http?',
    '4:18 server.allowed_hosts: expected a list, found "desk"',
    '6:18 trust.default_level: expected a number from 0 to 1, found 1.5',
    '8:8 approvals.ttl: expected a duration such as 500ms, 30s, 10m, 1h or 7d (a bare number is seconds), found "soon"',
    '9:7 jobs: expected a mapping, found "no"',
    '13:37 policies[0].rules[0].constraint: expected one of high_risk, readonly, value_range, enum, regex, found "value_rang"',
    '14:51 policies[0].rules[1].values: expected at least 1 item, found a list',
  ])
})

test('SV5 a missing value is refused at the position of its parent', () => {
  expect(listProblems('mappings:\n  - agent_id: a\n    domain: d\n')).toEqual([
    '2:5 mappings[0].policy_id: expected a name without control characters or spaces at the start or end, found nothing',
  ])
})

test('SV5 duplicate keys, invalid YAML and a second document are refused with their line', () => {
  expect(listProblems('server:\n  port: 1\n  port: 2\n')).toEqual(['3:3 duplicate key: port'])
  expect(listProblems('server:\n  port: [1\naudit: {}\n')[0]).toMatch(/^3:\d+ not valid YAML: /)
  expect(listProblems('server: {}\n---\naudit: {}\n')[0]).toMatch(
    /^2:1 not valid YAML: .*multiple documents/,
  )
  expect(listProblems('server: !include x\n')[0]).toMatch(/^1:9 not valid YAML: Unresolved tag/)
  expect(listProblems('- a\n')).toEqual(['1:1 the file: expected a mapping, found a list'])
})

test('SV5 one error lists all invalid settings of file, variables and flags', () => {
  const problems = listProblems('audit:\n  payload_days: many\n', {
    env: { PORT: 'abc' },
    forUp: true,
    flags: [{ path: ['server', 'transport'], value: 'pigeon', origin: '--transport' }],
  })
  expect(problems).toEqual([
    '2:17 audit.payload_days: expected an integer of at least 0, found "many"',
    'environment variable PORT: server.port: expected an integer from 0 to 65535, found "abc"',
    '--transport: server.transport: expected one of http, sse, stdio, found "pigeon"',
  ])
})

test('SV5 the message contains file, line and column', () => {
  const { home, load } = tempHome({ 'other.yaml': 'a: 1\nserver: {port: -1}\n' })
  const error = captureError(() => load({ file: '~/other.yaml' }))
  expect(error.code).toBe('config_invalid')
  expect(error.message).toContain('The configuration has 2 errors.')
  expect(error.message).toContain(`${join(home, 'other.yaml')}:2:16: server.port: expected`)
})

test('SV5 a long list of errors is truncated', () => {
  const yaml = Array.from({ length: 50 }, (_, index) => `zz${index}: 1`).join('\n')
  const { message } = captureError(() => loadYaml(yaml))
  expect(message.split('\n')).toHaveLength(22)
  expect(message).toContain('and 30 more')
})

test('SV5 an empty section counts as missing', () => {
  const { config } = loadYaml('# a note\nagents:\n#  - id: x\nserver:\n')
  expect(config.agents).toEqual([])
  expect(config.server.port).toBe(8765)
})

test('SV5 --config accepts any file name, and a missing file is an error', () => {
  const { load, home } = tempHome({ 'conf/fileops-mcp.yaml': 'workspace: {path: here}\n' })
  expect(load({ file: 'conf/fileops-mcp.yaml' }).config.workspace.path).toBe(
    join(home, 'conf/here'),
  )
  expect(captureError(() => load({ file: 'nowhere.yaml' }))).toMatchObject({
    code: 'config_unreadable',
  })
})

test('SV5 an unreadable default file is an error', () => {
  const { home, load } = tempHome()
  mkdirSync(join(home, '.cowork/cowork.yaml'))
  expect(captureError(() => load())).toMatchObject({ code: 'config_unreadable' })
  const bytes = tempHome({ '.cowork/cowork.yaml': '#'.repeat(1024 * 1024 + 1) })
  expect(captureError(() => bytes.load()).message).toContain('larger than')
})

test('SV5 paths resolve from home, the file or the working directory', () => {
  const { home, load } = tempHome({
    '.cowork/cowork.yaml':
      'storage: {path: sub/a.db}\nwork: {data_root: ~/w}\nsecurity: {forbidden_paths: [~/.ssh/]}\n',
  })
  const { config } = load({
    cwd: '/elsewhere',
    env: { WORKSPACE_PATH: 'ws', AUDIT_LOG_PATH: '~/a.log' },
  })
  expect(config.storage.path).toBe(join(home, '.cowork/sub/a.db'))
  expect(config.work.data_root).toBe(join(home, 'w'))
  expect(config.security.forbidden_paths).toEqual([join(home, '.ssh')])
  expect(config.workspace.path).toBe('/elsewhere/ws')
  expect(config.audit.log_path).toBe(join(home, 'a.log'))
  expect(listProblems('workspace: {path: ~bob/x}')[0]).toContain('another user')
})

test('SV5 an error does not show an invalid secret', () => {
  const { message } = captureError(() =>
    loadYaml('storage: {url: "mysql://me:hunter22@db/x"}\nagents: [{id: a, token: [hunter22]}]'),
  )
  expect(message).toContain('storage.url must be a postgres:// URL')
  expect(message).not.toContain('hunter22')
})

test('P7 implicit_approval_seconds is refused with the reason', () => {
  const [problem] = listProblems('feedback:\n  implicit_approval_seconds: 86400\n')
  expect(problem).toMatch(
    /^2:3 feedback\.implicit_approval_seconds: approval by timeout is not supported/,
  )
})

test('Y1 unknown policies, duplicate ids and duplicate mappings are refused', () => {
  expect(
    listProblems(`policies: [{id: p}, {id: p}]
mappings:
  - {agent_id: a, domain: d, policy_id: q}
  - {agent_id: a, domain: d, policy_id: p}
`),
  ).toEqual([
    '1:26 policies[1].id repeats id "p" of item 1: remove one',
    '3:41 mappings[0].policy_id refers to the undefined policy "q"',
    '4:16 mappings[1].agent_id repeats agent_id "a" and domain "d" of item 1: remove one',
  ])
})

test('Y2 a pattern the linear engine cannot run is refused at load', () => {
  expect(listProblems('audit:\n  redact: ["(?=a)b"]\n')).toEqual([
    '2:12 audit.redact[0] is not a regular expression in RE2 syntax (no lookaround, no backreferences)',
  ])
})

test('GR5 grants may be a list or an object, and a variable keeps the list', () => {
  const list =
    'grants:\n  - {path: /w, permission: read-write, scope: session}\n  - {path: /d, permission: read}\n'
  const { config } = loadYaml(list, { env: { GRANTS_DB_PATH: '/g.db' } })
  expect(config.grants).toEqual({
    database: '/g.db',
    default_scope: 'permanent',
    entries: [
      { path: '/w', permission: 'read-write', scope: 'session', hard_links: false },
      { path: '/d', permission: 'read', scope: 'permanent', hard_links: false },
    ],
  })
  expect(listProblems('grants:\n  - {path: /w, permission: all}\n')).toEqual([
    '2:28 grants[0].permission: expected one of read, read-write, write, found "all"',
  ])
  expect(listProblems('grants: {databse: x}')).toEqual([
    '1:10 grants.databse: unknown key; did you mean database?',
  ])
  expect(listProblems('grants: 7')).toEqual(['1:9 grants: expected a list or a mapping, found 7'])
})

test('N34 any file gives a configuration or an error', () => {
  const { load, home } = tempHome()
  const section = fc.constantFrom(
    'server',
    'grants',
    'agents',
    'policies',
    'trust',
    'notify',
    'storage',
    'x',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          ' ',
          '\n',
          '- ',
          ': ',
          '? ',
          '[',
          '{',
          ']',
          '}',
          '*a',
          '&a ',
          '"',
          '|',
          'a',
          '!t ',
          '#',
          ',',
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join('')),
    fc.dictionary(section, fc.jsonValue()).map((value) => JSON.stringify(value)),
    fc.tuple(section, fc.string()).map(([key, value]) => `${key}: ${value}`),
  )
  fc.assert(
    fc.property(text, (source) => {
      const file = join(home, 'fuzz.yaml')
      writeFileSync(file, source)
      try {
        expect(Object.isFrozen(load({ file }).config)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(CoworkError)
      }
    }),
    { numRuns: 200 },
  )
})
