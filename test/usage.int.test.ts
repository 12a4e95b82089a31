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
])('K3 `%s %s %s` says what is not a number, and what shows them', async (...args) => {
  const { coworkProcess: cowork } = testPlace()
  const told = await cowork(args)
  expect(told).toMatchObject({ code: 2, stdout: '' })
  expect(told.stderr).toContain(`"${args[2]}" is not the number of an entry.`)
  expect(told.stderr).toContain('`cowork audit tail`')
  const object = await cowork(['--json', ...args])
  expect(object).toMatchObject({ code: 2, stdout: '' })
  expect(errorIn(object.stderr)).toMatchObject({ code: 'usage' })
})

test('K2 with --json a fault in the usage is an object too', async () => {
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
    hint: '`cowork --help` lists the commands.',
  })
})

/** As a shell starts it: by its first line, with whatever `node` is found. */
function byItself(args: string[], { state, env }: { state: string; env: object }) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  return spawn(launcher, args, { cwd: state, env: { ...env, PATH } })
}

test('K3, K11 an env file is ours to read: Node neither looks for it nor obeys it', async () => {
  const place = testPlace()
  const missing = await ended(byItself(['--json', '--env-file', 'nope.env', 'status'], place))
  expect(missing).toMatchObject({ code: 2, stdout: '' })
  expect(errorIn(missing.stderr)).toMatchObject({ code: 'env_file_unreadable' })
  writeFileSync(join(place.state, 'n.env'), 'NODE_OPTIONS=--no-such-flag\n')
  const ran = ['run', '--env-file', 'n.env', '--', 'sh', '-c', 'echo "$NODE_OPTIONS"']
  expect(await ended(byItself(ran, place))).toMatchObject({ code: 0, stdout: '--no-such-flag\n' })
})

test.runIf(process.platform === 'linux')(
  'K11 what an env file says is in no environment of our own, and yet in force',
  async () => {
    const place = testPlace()
    const workspace = join(place.state, 'chosen')
    writeFileSync(
      join(place.state, 'own.env'),
      `NODE_OPTIONS=--no-such-flag\nPLAIN=a-plain-secret\nWORKSPACE_PATH=${workspace}\n`,
    )
    const environment = () => readFileSync(`/proc/${place.daemon().pid}/environ`, 'utf8')
    const info = async () => (await place.coworkProcess(['workspace', 'info', '--json'])).stdout
    const started = await ended(byItself(['up', '-d', '--env-file', 'own.env'], place))
    expect(started, started.stderr).toMatchObject({ code: 0 })
    expect(environment()).not.toContain('a-plain-secret')
    expect(await info()).toContain(workspace)
    await place.coworkProcess(['down'])
    // The daemon that a bridge starts, too.
    const bridge = byItself(['mcp', '--env-file', 'own.env'], place)
    bridge.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    expect(await ended(bridge)).toMatchObject({ code: 0 })
    expect(environment()).not.toContain('a-plain-secret')
    expect(await info()).toContain(workspace)
  },
)

test('SV6 TRANSPORT may stand in an env file', async () => {
  const place = testPlace()
  writeFileSync(join(place.state, 't.env'), 'TRANSPORT=http\n')
  const child = byItself(['--env-file', 't.env'], place)
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect((await ended(child)).code).toBe(0)
})

test('K11 the scripts of the package keep Node from our options as well', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<'start' | 'dev', string>
  }
  for (const script of [scripts.start, scripts.dev])
    expect(script).toMatch(/^node -- scripts\/run\.mjs .* -- bin\/cowork\.mjs up$/)
  const said = execFileSync('node', [
    '--',
    'scripts/run.mjs',
    'node',
    '--',
    'bin/cowork.mjs',
    '--env-file',
    'x',
    '--version',
  ])
  expect(said.toString()).toMatch(/^\d+\.\d+/)
})

test('K3 what is said of a wrong word is for a person at a terminal', async () => {
  const { coworkProcess: cowork } = testPlace()
  await cowork(['start'])
  const nothing = await cowork(['resume'])
  expect(nothing).toMatchObject({ code: 3, stderr: 'cowork: Nothing is halted.\n' })
  const scope = await cowork(['halt', 'foo'])
  expect(scope.code).toBe(2)
  expect(scope.stderr).toContain('`--help` after the command')
  expect(scope.stderr).not.toContain('tools/list')
  const file = await cowork(['policy', 'simulate', '--file', 'nope.yaml', '--proposal', '{}'])
  expect(file.code).toBe(2)
  expect(file.stderr).toContain('Check the path given with --file.')
  expect((await cowork(['policy', 'diff', '1'])).stderr).toContain('`cowork policy diff 1 active`')
})
