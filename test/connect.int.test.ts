import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPlace, testPlace } from './cli.ts'

type Place = ReturnType<typeof testPlace>
type Agents = { agents: { id: string; status: string; tools?: string[] }[] }

const jsonOf = <T = Record<string, unknown>>(text: string) => JSON.parse(text) as T

const files = {
  'claude-code': '.claude.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
}

async function running(): Promise<Place> {
  const place = testPlace()
  await place.cowork(['start'])
  return place
}

function write({ state }: Place, name: string, text: string): string {
  const file = join(state, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

async function activeAgents({ cowork }: Place): Promise<string[]> {
  const { stdout } = await cowork(['agents', 'ls', '--json'])
  const { agents } = jsonOf<Agents>(stdout)
  return agents.filter(({ status }) => status === 'active').map(({ id }) => id)
}

/** Shared by tests that work with authentication off and with other agents. */
const shared = newPlace()
beforeAll(() => shared.cowork(['start']))
afterAll(shared.end)

test('K4, I13 connects every client by its own file and agent, and disconnects without a trace', async () => {
  const place = await running()
  const { cowork, paths } = place
  for (const [client, name] of Object.entries(files)) {
    const before = name.endsWith('.toml')
      ? 'model = "x" # mine'
      : '{\r\n  // mine\r\n  "a": 1,\r\n}'
    const file = write(place, name, before)
    const connected = await cowork(['connect', client, '--yes', '--json'])
    expect(connected, connected.stderr).toMatchObject({ code: 0 })
    expect(jsonOf(connected.stdout)).toMatchObject({
      schemaVersion: 1,
      client,
      agent: client,
      via: 'stdio',
      file,
      check: { server: expect.stringMatching(/^cowork /), tools: expect.any(Number) },
      undo: `cowork disconnect ${client}`,
    })
    const after = readFileSync(file, 'utf8')
    const token = readFileSync(paths.agentToken(client), 'utf8').trim()
    expect(after).toContain(before.slice(1, 8))
    expect(after).toMatch(/"--",\s*"[^"]+cowork\.mjs"/)
    expect(after).not.toContain(token)
    expect(statSync(paths.agentToken(client)).mode & 0o777).toBe(0o600)
    const { backup } = jsonOf<{ backup: string }>(connected.stdout)
    expect(readFileSync(backup, 'utf8')).toBe(before)
  }
  expect(await activeAgents(place)).toEqual(Object.keys(files).toSorted())

  for (const [client, name] of Object.entries(files)) {
    const { code } = await cowork(['disconnect', client, '--yes'])
    expect(code).toBe(0)
    const file = join(place.state, name)
    expect(readFileSync(file, 'utf8')).toMatch(/mine/)
    expect(readFileSync(file, 'utf8')).not.toContain('cowork')
    expect(readdirSync(dirname(file)).filter((one) => one.endsWith('.bak'))).toEqual([])
    expect(existsSync(paths.agentToken(client))).toBe(false)
  }
  expect(await activeAgents(place)).toEqual([])
})

test('K4 creates a missing file and removes it again', async () => {
  const place = shared
  const file = join(place.state, files.cursor)
  expect(await place.cowork(['connect', 'cur', '--yes'])).toMatchObject({ code: 0 })
  expect(jsonOf(readFileSync(file, 'utf8'))).toMatchObject({ mcpServers: { cowork: {} } })
  const again = await place.cowork(['connect', 'cursor'])
  expect(again, again.stderr).toMatchObject({ code: 0 })
  await place.cowork(['disconnect', 'cursor', '--yes'])
  expect(existsSync(file)).toBe(false)
})

test('I13, K2 the first client turns on authentication only after a confirmation', async () => {
  const place = await running()
  const refused = await place.cowork(['connect', 'codex'])
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('Adding codex turns on authentication')
  expect(refused.stderr).toContain('+ [mcp_servers.cowork]')
  expect(refused.stderr).toContain('--yes')
  expect(await activeAgents(place)).toEqual([])
  expect(existsSync(join(place.state, files.codex))).toBe(false)
  const dry = await place.cowork(['connect', 'codex', '--dry-run', '--json'])
  expect(jsonOf(dry.stdout)).toMatchObject({ changed: true })
  expect(existsSync(join(place.state, files.codex))).toBe(false)
})

test('K4 refuses a broken or read-only file with a hint, without adding an agent', async () => {
  const place = await running()
  const broken = write(place, files.gemini, '{"mcpServers": {"a": 1,,}}')
  const refused = await place.cowork(['connect', 'gemini', '--yes'])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`${broken}:1:24: `)
  expect(refused.stderr).toContain('Correct the file in an editor')
  const locked = write(place, files.codex, 'a = 1\n')
  chmodSync(locked, 0o444)
  const readOnly = await place.cowork(['connect', 'codex', '--yes', '--json'])
  expect(readOnly.code).toBe(1)
  expect(jsonOf(readOnly.stderr)).toMatchObject({
    error: { code: 'client_config_unusable', hint: expect.stringContaining('chmod u+w') },
  })
  expect(readFileSync(broken, 'utf8')).toBe('{"mcpServers": {"a": 1,,}}')
  expect(readFileSync(locked, 'utf8')).toBe('a = 1\n')
  expect(await activeAgents(place)).toEqual([])
})

test('K4, K11 over HTTP the token stays in its file, and `run` puts it into the variable', async () => {
  const place = shared
  const { cowork, paths, state } = place
  const connected = await cowork(['connect', 'codex', '--http', '--yes'])
  expect(connected, connected.stderr).toMatchObject({ code: 0 })
  const text = readFileSync(join(state, files.codex), 'utf8')
  expect(text).toMatch(/^url = "http:\/\/localhost:\d+\/mcp"$/m)
  expect(text).toContain('bearer_token_env_var = "COWORK_TOKEN_CODEX"')
  const reference = `COWORK_TOKEN_CODEX=file:${paths.agentToken('codex')}`
  expect(connected.stderr).toContain(reference)
  const envFile = write(place, 'codex.env', `${reference}\n`)
  const output = await cowork([
    'run',
    '--env-file',
    envFile,
    '--',
    'sh',
    '-c',
    'echo $COWORK_TOKEN_CODEX',
  ])
  expect(output.stdout).toBe(readFileSync(paths.agentToken('codex'), 'utf8'))
})

test('K4 the token is in the client’s file only with --inline, and never in the output', async () => {
  const place = shared
  const { stdout, stderr } = await place.cowork(['connect', 'gemini', '--inline', '--yes'])
  const [token = ''] =
    /sk-cowork-[0-9a-f]{48}/.exec(readFileSync(join(place.state, files.gemini), 'utf8')) ?? []
  expect(token).not.toBe('')
  expect(stdout + stderr).not.toContain(token)
  expect(readFileSync(join(place.state, 'connections.json'), 'utf8')).not.toContain(token)
  expect(existsSync(place.paths.agentToken('gemini'))).toBe(false)
})

test('K4 connecting again keeps the token, or replaces a lost one', async () => {
  const { cowork, paths } = shared
  await cowork(['connect', 'claude-code', '--yes'])
  const first = readFileSync(paths.agentToken('claude-code'), 'utf8')
  await cowork(['connect', 'claude-code', '--yes'])
  expect(readFileSync(paths.agentToken('claude-code'), 'utf8')).toBe(first)
  rmSync(paths.agentToken('claude-code'))
  const again = await cowork(['connect', 'claude-code', '--yes'])
  expect(again.stderr).toContain('a new one is issued')
  expect(again.code).toBe(0)
  expect(readFileSync(paths.agentToken('claude-code'), 'utf8')).not.toBe(first)
})

test('K4 changing the transport removes the old entry', async () => {
  const place = shared
  const before = '{\n  "servers": {}\n}\n'
  const file = write(place, files.vscode, before)
  await place.cowork(['connect', 'vscode', '--http', '--yes'])
  expect(readFileSync(file, 'utf8')).toContain('cowork-token')
  await place.cowork(['connect', 'vscode', '--yes'])
  expect(readFileSync(file, 'utf8')).not.toContain('cowork-token')
  await place.cowork(['disconnect', 'vscode', '--yes'])
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('K4 finds and removes an entry without stored connections, and keeps the others', async () => {
  const place = shared
  const before = '{"mcpServers": {"a": 1, "cowork": {"command": "node"}}}'
  const file = write(place, 'elsewhere.json', before)
  const args = ['disconnect', 'cursor', '--config-file', file, '--yes']
  expect(await place.cowork(args)).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe('{"mcpServers": {"a": 1}}')
  expect(await place.cowork(args)).toMatchObject({ code: 3 })
})

test('K4 --keep-agent keeps the agent and its token', async () => {
  const place = shared
  await place.cowork(['connect', 'claude-desktop', '--agent', 'desk', '--yes'])
  await place.cowork(['disconnect', 'claude-desktop', '--keep-agent', '--yes'])
  expect(await activeAgents(place)).toContain('desk')
  expect(existsSync(place.paths.agentToken('desk'))).toBe(true)
})

test('RA8 SV18 stores the tools of a client with its agent, and shows them first', async () => {
  const place = shared
  const { cowork } = place
  const file = join(place.state, files.codex)
  const chosen = ['--tools', 'files,work', '--exclude', 'delete_file', '--read-only']
  const connect = ['connect', 'codex', '--agent', 'chooser', ...chosen]
  const selection = { tools: ['files', 'work'], exclude: ['delete_file'], read_only: true }
  const line = 'Tools of the agent chooser: files, work; without delete_file; read only'
  const dry = await cowork([...connect, '--dry-run'])
  expect(dry, dry.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(line) })
  const refused = await cowork(connect)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(line) })
  const wrong = await cowork(['connect', 'codex', '--agent', 'chooser', '--tools', 'fils', '--yes'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean files?') })
  expect(await activeAgents(place)).not.toContain('chooser')

  const done = await cowork([...connect, '--yes', '--json'])
  expect(done, done.stderr).toMatchObject({ code: 0 })
  expect(jsonOf(done.stdout)).toMatchObject({ agent: 'chooser', selection })
  expect(readFileSync(file, 'utf8')).not.toContain('--tools')
  const chooser = async () => {
    const { stdout } = await cowork(['agents', 'ls', '--json'])
    return jsonOf<Agents>(stdout).agents.find(({ id }) => id === 'chooser')
  }
  expect(await chooser()).toMatchObject(selection)

  // The agent exists and its entry is unchanged, so only its tools change.
  const again = ['connect', 'codex', '--agent', 'chooser']
  expect(await cowork([...again, '--tools', 'all'])).toMatchObject({ code: 2 })
  expect(await cowork([...again, '--tools', 'all', '--yes'])).toMatchObject({ code: 0 })
  expect(await chooser()).toMatchObject({ ...selection, tools: ['all'] })
  expect(await cowork(again)).toMatchObject({ code: 0 })
  expect(await chooser()).toMatchObject({ ...selection, tools: ['all'] })
})

test('RA8 SV18 writes the tools of an agent of cowork.yaml into the client’s entry', async () => {
  const config = 'agents: [{ id: fixed, token: t, exclude: [delete_file] }]\n'
  const place = testPlace(config)
  await place.cowork(['start'])
  write(place, 'agents/fixed.token', 't\n')
  const chosen = ['--agent', 'fixed', '--tools', 'files', '--exclude', 'move_file', '--read-only']
  const dry = await place.cowork(['connect', 'cursor', ...chosen, '--dry-run'])
  expect(dry, dry.stderr).toMatchObject({ code: 0 })
  for (const word of ['--tools', 'files', '--exclude', 'move_file', '--read-only'])
    expect(dry.stdout).toContain(`"${word}"`)
  expect(dry.stdout).toContain(
    'Tools of this connection: files; without delete_file, move_file; read only',
  )
  const http = ['connect', 'cursor', '--http', ...chosen, '--results', 'structured', '--yes']
  const done = await place.cowork(http)
  expect(done, done.stderr).toMatchObject({ code: 0 })
  expect(readFileSync(join(place.state, files.cursor), 'utf8')).toMatch(
    /mcp\?tools=files&exclude=move_file&read_only=true&results=structured"/,
  )
})

test('SV19 the form of results is only in the entry', async () => {
  const { stdout } = await shared.cowork([
    'connect',
    'gemini',
    '--results',
    'structured',
    '--dry-run',
  ])
  expect(stdout).toMatch(/"--results",\s*\+?\s*"structured"/)
  const wrong = await shared.cowork(['connect', 'gemini', '--results', 'xml', '--dry-run'])
  expect(wrong).toMatchObject({ code: 2 })
})

test('K3 without a daemon the exit code is 8, and nothing changes', async () => {
  const place = testPlace()
  expect(await place.cowork(['connect', 'codex', '--yes'])).toMatchObject({ code: 8 })
  expect(existsSync(join(place.state, files.codex))).toBe(false)
})
