import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '../src/base/state.ts'
import { newPlace } from './cli.ts'

/**
 * The configurations that the seed documents print, byte for byte (003.env is its table). Seed 000 prints none. Ports
 * are chosen by flag, so that tests do not meet each other.
 */
const samples = join(import.meta.dirname, 'seed-configs')
const sample = (name: string) => readFileSync(join(samples, name), 'utf8')

/** The documents omit the tokens; each agent needs its own. */
function withTokens(text: string): string {
  let count = 0
  return text.replaceAll('..."', () => `${String(++count).repeat(48)}"`)
}

/** Creates a home and runs `cowork` in it. */
function newHome() {
  const home = mkdtempSync(join(tmpdir(), 'cowork-seed-'))
  const { cowork: run, end } = newPlace()
  const env = { HOME: home, COWORK_STATE_DIR: join(home, '.cowork') }
  const cowork = (args: string[], more: Record<string, string> = {}) =>
    run(args, { ...env, ...more })
  onTestFinished(async () => {
    await cowork(['down', '--timeout', '20'])
    await end()
    rmSync(home, { recursive: true, force: true })
  })
  /** Starts in the background and checks the health. */
  async function start(args: string[] = [], more: Record<string, string> = {}) {
    const started = await cowork(['start', '--port', '0', '--json', ...args], more)
    expect(started, started.stderr).toMatchObject({ code: 0 })
    const { port, warnings } = JSON.parse(started.stdout) as { port: number; warnings: string[] }
    const health = await fetch(`http://localhost:${port}/healthz`)
    expect(health.status).toBe(200)
    const log = readFileSync(statePaths(env.COWORK_STATE_DIR).log, 'utf8')
    for (const warning of warnings) expect(log).toContain(JSON.stringify(warning).slice(1, -1))
    return { port, warnings }
  }
  return { home, cowork, start }
}

const listKeys = (warnings: readonly string[]) => warnings.map((text) => text.split(' ', 1)[0])

const cleanup = ['cleanup.temp_retention_days', 'cleanup.run_schedule']

test.each([
  ['001-agents.yaml', 'cowork.config.yaml', []],
  ['001-policies.yaml', 'cowork.config.yaml', []],
  ['001-trust.yaml', 'cowork.config.yaml', []],
  ['001-agents-again.yaml', 'cowork.config.yaml', []],
  ['001-volume-cap.yaml', 'cowork.config.yaml', []],
  ['001-decay.yaml', 'cowork.config.yaml', []],
  ['004-restrictions.yaml', 'fileops-mcp.yaml', []],
  ['004-cleanup.yaml', 'fileops-mcp.yaml', [...cleanup, 'cleanup.notify_before_delete']],
  ['004-grants-config.yaml', 'grants-config.yaml', []],
])('SV5 RM4 %s starts unchanged, directly and imported', async (name, as, expected) => {
  const { home, cowork, start } = newHome()
  const file = join(home, as)
  writeFileSync(file, withTokens(sample(name)))
  const direct = await start(['--config', file])
  expect(listKeys(direct.warnings)).toEqual(expected)
  await cowork(['down'])
  const made = await cowork(['init', '--yes', '--json', '--import', file])
  expect(made, made.stderr).toMatchObject({ code: 0 })
  expect(listKeys((await start()).warnings)).toEqual(expected)
})

test('SV5 SV20 RM4 the File Ops server is imported with localhost, reported, and starts', async () => {
  const { home, cowork, start } = newHome()
  const file = join(home, 'fileops-mcp.yaml')
  writeFileSync(file, sample('004-fileops-mcp.yaml'))
  const refused = await cowork(['start', '--port', '0', '--config', file])
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('server.insecure_bind')
  // Found in the home without an option.
  const made = await cowork(['init', '--yes'])
  expect(made, made.stderr).toMatchObject({ code: 0 })
  expect(made.stderr).toContain(
    `server.host of ${file} is imported as localhost instead of 0.0.0.0`,
  )
  const config = join(home, '.cowork', 'cowork.yaml')
  for (const key of cleanup) expect(made.stderr).toMatch(new RegExp(`${key} \\(${config}:\\d+\\)`))
  const { warnings } = await start()
  expect(listKeys(warnings)).toEqual(cleanup)
  const doctor = await cowork(['doctor', '--json'])
  const { findings } = JSON.parse(doctor.stdout) as {
    findings: { state: string; message: string }[]
  }
  for (const message of warnings)
    expect(findings).toContainEqual(expect.objectContaining({ state: 'warn', message }))
})

test('I4 the placeholder tokens of the COWORK protocol are not accepted as tokens', async () => {
  const { home, cowork } = newHome()
  const file = join(home, 'cowork.config.yaml')
  writeFileSync(file, sample('001-policies.yaml'))
  const refused = await cowork(['start', '--port', '0', '--config', file])
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('have the same token')
})

test('SV6 RM4 the File Ops environment takes effect, except for the cleanup', async () => {
  const { home, cowork, start } = newHome()
  const file = join(home, '004.env')
  writeFileSync(file, sample('004.env'))
  const { port, warnings } = await start(['--env-file', file])
  expect(listKeys(warnings)).toEqual(['cleanup.temp_retention_days'])
  expect(warnings[0]).toContain('(environment variable TEMP_CLEANUP_DAYS)')
  expect(port).not.toBe(8003)
  const made = await cowork(['--env-file', file, 'workspace', '--json'])
  expect(made.stdout).toContain(join(home, 'Downloads', 'AI-Workspace'))
  await cowork(['down'])
  expect(readFileSync(join(home, '.annabelle/logs/fileops-audit.log'), 'utf8')).toContain(
    '"operation"',
  )
})

test('SV6 RM4 the WorkSync environment opens its endpoint, and the vault needs a sync', async () => {
  const { home, start } = newHome()
  const file = join(home, '003.env')
  writeFileSync(file, sample('003.env').replace('8321', '0'))
  const { warnings } = await start(['--env-file', file])
  expect(listKeys(warnings)).toEqual(['work.auto_sync', 'work.sync_debounce'])
  const { workUrl } = JSON.parse(readFileSync(join(home, '.cowork', 'daemon.json'), 'utf8')) as {
    workUrl: string
  }
  expect(workUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
})

test('SV6 the WorkSync key is read from 1Password', async () => {
  const { home, start } = newHome()
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'op'), '#!/bin/sh\necho a-key-of-some-length-0123456789\n')
  chmodSync(join(bin, 'op'), 0o755)
  const file = join(home, '.env')
  writeFileSync(file, `${sample('003-api-key.env')}WORKSYNC_PORT=0\n`)
  const path = [bin, process.env['PATH']].join(delimiter)
  await start(['--env-file', file], { PATH: path })
  const { workUrl } = JSON.parse(readFileSync(join(home, '.cowork', 'daemon.json'), 'utf8')) as {
    workUrl: string
  }
  const ask = (headers: Record<string, string>) =>
    fetch(workUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
  expect((await ask({})).status).toBe(401)
  const bearer = { authorization: 'Bearer a-key-of-some-length-0123456789' }
  expect((await ask(bearer)).status).not.toBe(401)
})

test.each(['default place', 'COWORK_MCP_SETTINGS_PATH'])(
  'U1 SV6 the settings example of seed 002 configures a server: %s',
  async (where) => {
    const { home, start, cowork } = newHome()
    const isNamed = where !== 'default place'
    const file = join(home, isNamed ? 'servers.json' : '.cowork/mcp-settings.json')
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
    // A closed port of this machine instead of a host on the network.
    const text = sample('002-mcp-settings.json').replaceAll(
      /https:\/\/[^"]+/g,
      'http://127.0.0.1:9',
    )
    writeFileSync(file, text)
    const { warnings } = await start([], isNamed ? { COWORK_MCP_SETTINGS_PATH: file } : {})
    expect(warnings).toEqual([])
    const readServers = async () =>
      JSON.parse((await cowork(['servers', '--json'])).stdout) as object
    await expect.poll(readServers).toMatchObject({
      servers: [{ status: { state: 'failed', transport: 'streamableHttp' } }],
      settings_path: file,
      settings_error: null,
    })
  },
)
