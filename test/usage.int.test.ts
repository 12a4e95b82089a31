import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ended, launcher, testPlace } from './cli.ts'

const errorIn = (text: string) =>
  (JSON.parse(text) as { error: { code: string; message: string; hint?: string } }).error

test.each([
  ['audit', 'prove', 'x'],
  ['ledger', 'redact', '1.5', '--reason', 'r'],
])('K3 `%s %s %s` names the invalid number and the command that lists entries', async (...args) => {
  const { coworkProcess: cowork } = testPlace()
  const result = await cowork(args)
  expect(result).toMatchObject({ code: 2, stdout: '' })
  expect(result.stderr).toContain(`Invalid entry number: "${args[2]}".`)
  expect(result.stderr).toContain('`cowork audit tail`')
  const object = await cowork(['--json', ...args])
  expect(object).toMatchObject({ code: 2, stdout: '' })
  expect(errorIn(object.stderr)).toMatchObject({ code: 'usage' })
})

test('K2 with --json a usage error is an object too', async () => {
  const { coworkProcess: cowork } = testPlace()
  for (const args of [
    ['nosuch'],
    ['trust', 'set', 'a'],
    ['logs', '-n', 'x'],
    ['up', '--frob'],
    ['audit'],
  ]) {
    const { code, stdout, stderr } = await cowork([...args, '--json'])
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    const { code: kind, message, hint } = errorIn(stderr)
    expect(kind).toBe('usage')
    expect(message).not.toMatch(/^error|outputHelp/)
    expect(hint).toMatch(/cowork/)
  }
  expect(errorIn((await cowork(['--json', 'statsu'])).stderr)).toMatchObject({
    message: "unknown command 'statsu'\n(Did you mean status?)",
    hint: 'Run `cowork --help` for the list of commands.',
  })
})

/** Starts the launcher through its shebang line, with the `node` of the PATH. */
function startLauncher(args: string[], { state, env }: { state: string; env: object }) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  return spawn(launcher, args, { cwd: state, env: { ...env, PATH } })
}

test('K3, K11 Node neither reads nor applies an env file', async () => {
  const place = testPlace()
  const missing = await ended(startLauncher(['--json', '--env-file', 'nope.env', 'status'], place))
  expect(missing).toMatchObject({ code: 2, stdout: '' })
  expect(errorIn(missing.stderr)).toMatchObject({ code: 'env_file_unreadable' })
  writeFileSync(join(place.state, 'n.env'), 'NODE_OPTIONS=--no-such-flag\n')
  const ran = ['run', '--env-file', 'n.env', '--', 'sh', '-c', 'echo "$NODE_OPTIONS"']
  expect(await ended(startLauncher(ran, place))).toMatchObject({
    code: 0,
    stdout: '--no-such-flag\n',
  })
})

test.runIf(process.platform === 'linux')(
  'K11 values of an env file apply, but are in no environment of our own processes',
  async () => {
    const place = testPlace()
    const workspace = join(place.state, 'chosen')
    writeFileSync(
      join(place.state, 'own.env'),
      `NODE_OPTIONS=--no-such-flag\nPLAIN=a-plain-secret\nWORKSPACE_PATH=${workspace}\n`,
    )
    const environment = () => readFileSync(`/proc/${place.daemon().pid}/environ`, 'utf8')
    const info = async () => (await place.coworkProcess(['workspace', 'info', '--json'])).stdout
    const started = await ended(startLauncher(['up', '-d', '--env-file', 'own.env'], place))
    expect(started, started.stderr).toMatchObject({ code: 0 })
    expect(environment()).not.toContain('a-plain-secret')
    expect(await info()).toContain(workspace)
    await place.coworkProcess(['down'])
    // Also in a daemon that a bridge starts.
    const bridge = startLauncher(['mcp', '--env-file', 'own.env'], place)
    bridge.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    expect(await ended(bridge)).toMatchObject({ code: 0 })
    expect(environment()).not.toContain('a-plain-secret')
    expect(await info()).toContain(workspace)
  },
)

test('SV6 an env file can set TRANSPORT', async () => {
  const place = testPlace()
  writeFileSync(join(place.state, 't.env'), 'TRANSPORT=http\n')
  const child = startLauncher(['--env-file', 't.env'], place)
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect((await ended(child)).code).toBe(0)
})

test('K11 the npm scripts keep Node from parsing our options', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<'start' | 'dev', string>
  }
  for (const script of [scripts.start, scripts.dev])
    expect(script).toMatch(/^node -- scripts\/run\.mjs .* -- bin\/cowork\.mjs up$/)
  const output = execFileSync('node', [
    '--',
    'scripts/run.mjs',
    'node',
    '--',
    'bin/cowork.mjs',
    '--env-file',
    'x',
    '--version',
  ])
  expect(output.toString()).toMatch(/^\d+\.\d+/)
})

test('K3 errors of wrong arguments address a person at a terminal', async () => {
  const { coworkProcess: cowork } = testPlace()
  await cowork(['start'])
  const nothing = await cowork(['resume'])
  expect(nothing).toMatchObject({ code: 3, stderr: 'cowork: No halt is active.\n' })
  const scope = await cowork(['halt', 'foo'])
  expect(scope.code).toBe(2)
  expect(scope.stderr).toContain('Run the command with --help')
  expect(scope.stderr).not.toContain('tools/list')
  const file = await cowork(['policy', 'simulate', '--file', 'nope.yaml', '--proposal', '{}'])
  expect(file.code).toBe(2)
  expect(file.stderr).toContain('Check the path after --file.')
  expect((await cowork(['policy', 'diff', '1'])).stderr).toContain('`cowork policy diff 1 active`')
})
