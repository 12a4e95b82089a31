import { expect, test } from 'vitest'
import { loadYaml, listProblems } from '../../../test/base/config/config.fixture.ts'
import { configJsonSchema, configSchema } from './schema.ts'

type Node = {
  description?: string
  properties?: Record<string, Node>
  items?: Node
  anyOf?: Node[]
  oneOf?: Node[]
  additionalProperties?: boolean | Node
}

/** Every key of the published schema with its node. */
function keys(node: Node, path = ''): [string, Node][] {
  const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.items ? [node.items] : [])]
  return [
    ...inner.flatMap((it) => keys(it, path)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, it]): [string, Node][] => [
      [`${path}.${key}`, it],
      ...keys(it, `${path}.${key}`),
    ]),
  ]
}

test('SV5 the published JSON Schema describes every key', () => {
  const schema = configJsonSchema()
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'cowork.yaml',
    additionalProperties: false,
  })
  const all = keys(schema)
  expect(all.length).toBeGreaterThan(150)
  expect(all.filter(([, node]) => !node.description?.endsWith('.')).map(([path]) => path)).toEqual(
    [],
  )
})

test('SV5 the published schema has the sections of the rule and strict mappings', () => {
  const schema: Node = configJsonSchema()
  const ofTheRule =
    'agents approvals audit authority cleanup feedback grants handoff jobs ledger mappings notify policies reasoning_schemas security sentry server storage trash trust versions work workspace'
  expect(Object.keys(schema.properties ?? {})).toEqual(expect.arrayContaining(ofTheRule.split(' ')))
  const open = keys(schema).filter(
    ([, node]) => node.properties && node.additionalProperties !== false,
  )
  expect(open.map(([path]) => path)).toEqual([])
})

test('SV5 the published schema is deterministic', () => {
  expect(configJsonSchema()).toEqual(configJsonSchema())
})

test('SV20 the default is loopback on 8765 and no other listener', () => {
  const { server } = configSchema.parse({})
  expect(server).toMatchObject({ host: 'localhost', port: 8765, insecure_bind: false })
  expect(server.tls).toBeUndefined()
})

test('SV25 the default limits match the rule', () => {
  expect(configSchema.parse({}).server.limits).toEqual({
    body_bytes: 4 * 1024 * 1024,
    file_body_bytes: 72 * 1024 * 1024,
    header_bytes: 16 * 1024,
    body_seconds: 30,
    calls_in_flight: 64,
    sessions: 256,
    session_idle_minutes: 30,
  })
})

test('I10 the environment markers of agents are configurable', () => {
  expect(configSchema.parse({}).server.agent_markers).toEqual([
    'CLAUDECODE',
    'CODEX_*',
    'CURSOR_AGENT',
    'GEMINI_CLI',
  ])
  expect(loadYaml('server: {agent_markers: [MY_AGENT]}').config.server.agent_markers).toEqual([
    'MY_AGENT',
  ])
})

test('SV7 storage.url selects PostgreSQL, and a conflicting driver is refused', () => {
  expect(loadYaml('storage: {url: postgres://db/x}').config.storage.url).toBe('postgres://db/x')
  expect(listProblems('storage: {driver: postgres}')).toEqual([
    '1:19 storage.driver is postgres, which requires storage.url',
  ])
  expect(listProblems('storage: {driver: sqlite, url: env:DB}')[0]).toContain(
    'remove one of the two',
  )
})

test('I4 an agent without a token or with an invalid hash is refused', () => {
  expect(listProblems('agents:\n  - id: a\n')[0]).toMatch(
    /^2:5 agents\[0] needs a token or a token_hash/,
  )
  expect(listProblems('agents: [{id: a, token_hash: abc}]')[0]).toContain('64 hexadecimal digits')
  const { config } = loadYaml(`agents: [{id: a, token_hash: ${'AB'.repeat(32)}}]`)
  expect(config.agents[0]?.token_hash).toBe('ab'.repeat(32))
})

test.each([
  ['90', 90_000],
  ['2.5', 2500],
  ['500ms', 500],
  ['30s', 30_000],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['7 d', 604_800_000],
  ['2w', 1_209_600_000],
])('P7 approvals.undo_hold: %s is %d milliseconds', (written, milliseconds) => {
  const { config } = loadYaml(`approvals: {undo_hold: ${written}}`)
  expect(config.approvals.undo_hold).toBe(milliseconds)
})

test.each(['ttl', 'call_ttl'] as const)(
  'P7 A2 approvals.%s of less than a minute is refused',
  (name) => {
    for (const written of ['0', '0s', '59s', '500ms'])
      expect(listProblems(`approvals: {${name}: ${written}}`)).toEqual([
        `1:${name.length + 15} approvals.${name} must be at least 1 minute, so that a person has time to decide`,
      ])
    expect(loadYaml(`approvals: {${name}: 1m}`).config.approvals[name]).toBe(60_000)
  },
)

test('A10 a channel accepts only keys of its type, and rules refer to existing channels', () => {
  const channel = '{id: hook, type: webhook, url: https://x.example/in, secret: env:HOOK}'
  const { config } = loadYaml(
    `notify: {channels: [${channel}], rules: [{channels: [hook], escalate_after: 5m}]}`,
  )
  expect(config.notify.rules[0]?.escalate_after).toBe(300_000)
  expect(listProblems(`notify: {channels: [${channel}], rules: [{channels: [hok]}]}`)[0]).toContain(
    'refers to the undefined channel "hok"',
  )
  expect(listProblems('notify: {channels: [{id: a, type: desktop, topic: x}]}')[0]).toContain(
    'unknown key',
  )
})

test('F1 a workspace structure outside of the workspace is refused', () => {
  for (const folder of ['/etc', '../up', 'a/../../b', '~/x'])
    expect(listProblems(`workspace: {structure: ["${folder}"]}`)[0]).toContain(
      'a folder inside the workspace',
    )
  expect(loadYaml('workspace: {structure: [a..b, c/..d]}').config.workspace.structure).toHaveLength(
    2,
  )
})

test('M2 an act threshold below the suggest threshold is refused', () => {
  expect(listProblems('authority: {thresholds: {suggest: 0.9}}')[0]).toContain('must not be below')
})

test('L13 telemetry is off by default, and an endpoint with a password is refused', () => {
  const { server } = configSchema.parse({})
  expect(server).toMatchObject({ otlp_headers: {}, otlp_service_name: 'cowork' })
  expect(server.otlp_endpoint).toBeUndefined()
  const otlp = (value: string) => `server: {otlp_endpoint: "${value}"}`
  expect(loadYaml(otlp('http://localhost:4318')).config.server.otlp_endpoint).toBe(
    'http://localhost:4318',
  )
  expect(listProblems(otlp('https://me:secret@otlp.example'))[0]).toContain('use otlp_headers')
  expect(listProblems(otlp('http://[half'))[0]).toContain('must be a URL')
  expect(listProblems(otlp('localhost:4318'))[0]).toContain('an http:// or https:// URL')
})
