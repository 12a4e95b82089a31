import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPlace, testPlace } from './cli.ts'

const jsonOf = (text: string) => JSON.parse(text) as Record<string, unknown>

/** A stand-in for a program of this machine: records its arguments and exits with the given code. */
function standIn(folder: string, name: string, script: string): Record<string, string> {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, name), 0o755)
  return { PATH: [bin, process.env['PATH']].join(delimiter) }
}

describe('with a daemon', () => {
  const place = newPlace()
  const { cowork, state, paths } = place
  beforeAll(() => cowork(['start']))
  afterAll(place.end)

  test('K1, I6 open prints a sign-in link to the requested screen without a display', async () => {
    const { code, stdout, stderr } = await cowork(['open', 'audit'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^http:\/\/localhost:\d+\/audit#code=[\w-]{43}\n$/)
    expect(stderr).toContain('works once')
  })

  test('K1 open passes the link to the browser, and prints it if that fails', async () => {
    const log = join(state, 'opened')
    const env = { ...standIn(state, 'xdg-open', `echo "$1" > ${log}`), DISPLAY: ':0' }
    const { stdout } = await cowork(['open', '--json'], env)
    expect(jsonOf(stdout)).toMatchObject({ opened: true })
    expect(readFileSync(log, 'utf8').trim()).toBe(jsonOf(stdout)['link'])
    const failing = { ...standIn(state, 'xdg-open', 'exit 3'), DISPLAY: ':0' }
    expect((await cowork(['open'], failing)).stdout).toMatch(/^http/)
    expect((await cowork(['open', '--print'], env)).stdout).toMatch(/^http/)
  })

  test('K9 starts the Inspector at a pinned version, on this daemon, with a token by reference', async () => {
    const env = standIn(state, 'npx', 'echo "$@"; exit 5')
    const open = await cowork(['inspect'], env)
    expect(open.code).toBe(5)
    expect(open.stdout).toMatch(
      /^--yes @modelcontextprotocol\/inspector@2\.12\.0 --web -- \S+ \S+cowork\.mjs mcp --agent inspector --tools all/,
    )
    // Authentication stays off.
    expect(existsSync(paths.agentToken('inspector'))).toBe(false)
    await cowork(['agents', 'add', 'first'])
    const closed = await cowork(['inspect'], env)
    const token = readFileSync(paths.agentToken('inspector'), 'utf8').trim()
    expect(closed.stdout + closed.stderr).not.toContain(token)
    expect(closed.stderr).toContain('as agent inspector')
    expect((await cowork(['inspect', '--print'])).stdout).toContain('@2.12.0 --web')
  })

  test('K1 a generated script completes commands, choices and options in a real bash', async () => {
    const script = join(state, 'cowork.bash')
    writeFileSync(script, (await cowork(['completion', 'bash'])).stdout)
    const complete = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cowork; echo "\${COMPREPLY[*]}"`,
          'bash',
          'cowork',
          ...words,
        ],
        { encoding: 'utf8' },
      ).trim()
    expect(complete('disc')).toBe('disconnect')
    expect(complete('connect', 'cu')).toBe('cursor')
    expect(complete('--state', '/x', 'audit', 'v')).toBe('verify')
    expect(complete('connect', 'codex', '--h')).toBe('--http')
    expect(complete('--config', '')).toBe('')
    expect(await cowork(['completion', 'tcsh'])).toMatchObject({ code: 2 })
  })
})

test('K11, K3 run passes secrets and signals only to the program, and returns its exit code', async () => {
  const { cowork, state } = testPlace()
  writeFileSync(join(state, 'secret'), 'hidden\n', { mode: 0o600 })
  writeFileSync(join(state, 'a.env'), `KEY=file:${join(state, 'secret')}\nPLAIN=first\n`)
  writeFileSync(join(state, 'b.env'), 'PLAIN=second\n')
  const files = ['--env-file', join(state, 'a.env'), '--env-file', join(state, 'b.env')]
  const ran = await cowork([
    'run',
    ...files,
    '--',
    'sh',
    '-c',
    'echo "$KEY $PLAIN $0"; exit 7',
    '--json',
  ])
  expect(ran).toMatchObject({ code: 7, stdout: 'hidden second --json\n' })
  expect(await cowork(['run', ...files, '--', 'sh', '-c', 'kill -9 $$'])).toMatchObject({
    code: 137,
  })
  expect(await cowork(['run', '--', 'no-such-program'])).toMatchObject({ code: 3 })
  expect(await cowork(['run'])).toMatchObject({ code: 2 })
  writeFileSync(join(state, 'b.env'), 'KEY=env:NOT_SET\n')
  const refused = await cowork(['run', ...files, '--', 'sh', '-c', 'echo ran'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('NOT_SET')
})

describe('init', () => {
  const grants = 'grants:\n  - path: docs/\n    permission: read\n'

  test('SV5, K1 init creates the state directory and a documented configuration, and imports existing files', async () => {
    const { cowork, state } = testPlace()
    const home = join(state, 'home')
    mkdirSync(home)
    writeFileSync(join(home, 'grants-config.yaml'), grants)
    const env = { HOME: home, COWORK_STATE_DIR: join(home, '.cowork') }
    const file = join(home, '.cowork', 'cowork.yaml')
    expect(await cowork(['init'], env)).toMatchObject({ code: 2 })
    expect(existsSync(file)).toBe(false)
    const made = await cowork(['init', '--yes', '--json'], env)
    expect(made, made.stderr).toMatchObject({ code: 0 })
    expect(jsonOf(made.stdout)).toMatchObject({
      config: file,
      changed: true,
      taken: [{ setting: 'grants', file: join(home, 'grants-config.yaml') }],
    })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(`path: ${join(home, 'docs')}`)
    expect(text).toMatch(/^# {3}port: 8765$/m)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(jsonOf((await cowork(['init', '--yes', '--json'], env)).stdout)).toMatchObject({
      changed: false,
    })
    expect((await cowork(['doctor', '--json'], env)).code).toBe(0)
  })

  test('SV5 merges a named file into the existing configuration, with a backup', async () => {
    const { cowork, state, paths } = testPlace('# mine\ntrust: { default_level: 0.4 }\n')
    const before = readFileSync(paths.config, 'utf8')
    writeFileSync(join(state, 'other.yaml'), grants)
    const { stdout, code } = await cowork(['init', '--yes', '--json', '--import', 'other.yaml'])
    expect(code).toBe(0)
    expect(readFileSync(String(jsonOf(stdout)['backup']), 'utf8')).toBe(before)
    expect(readFileSync(paths.config, 'utf8')).toContain('# mine')
    expect(readFileSync(paths.config, 'utf8')).toContain('permission: read')
  })

  test('SV5 refuses an invalid file at its line and writes nothing', async () => {
    const { cowork, state, paths } = testPlace()
    const before = readFileSync(paths.config, 'utf8')
    writeFileSync(join(state, 'cowork.config.yaml'), 'trust:\n  default_level: 7\n')
    const refused = await cowork(['init', '--yes'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(`${join(state, 'cowork.config.yaml')}:2:18: `)
    expect(readFileSync(paths.config, 'utf8')).toBe(before)
    writeFileSync(paths.config, 'server: {\n')
    const own = await cowork(['init', '--yes'])
    expect(own.code).toBe(2)
    expect(own.stderr).toContain(`${paths.config}:`)
  })

  test('K1, K4 init starts the daemon and connects the named clients', async () => {
    const { cowork, state } = testPlace()
    const made = await cowork(['init', '--yes', '--connect', 'codex', 'cursor'])
    expect(made, made.stderr).toMatchObject({ code: 0 })
    expect(readFileSync(join(state, '.codex', 'config.toml'), 'utf8')).toContain(
      'mcp_servers.cowork',
    )
    expect(readFileSync(join(state, '.cursor', 'mcp.json'), 'utf8')).toContain('"cowork"')
  })
})

describe.runIf(process.platform === 'linux')('service and uninstall', () => {
  test('K12 without systemd, the error says so and nothing is written', async () => {
    const { cowork, state } = testPlace()
    const env = standIn(state, 'systemctl', 'echo "Failed to connect to bus" >&2; exit 1')
    const refused = await cowork(['service', 'install', '--yes'], env)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('Failed to connect to bus')
    expect(refused.stderr).toContain('cowork up -d')
    expect(existsSync(join(state, '.config', 'systemd'))).toBe(false)
    const printed = await cowork(['service', 'install', '--print'])
    expect(printed.stdout).toMatch(
      /^\[Unit\]\n[\s\S]*ExecStart="\S+node" "--" "\S+cowork\.mjs" "up"/,
    )
  })

  test('K12 installs the service, shows it in doctor, and removes it', async () => {
    const { cowork, state } = testPlace()
    const log = join(state, 'asked')
    const env = standIn(state, 'systemctl', `echo "$@" >> ${log}`)
    expect(await cowork(['service', 'install'], env)).toMatchObject({ code: 2 })
    const installed = await cowork(['service', 'install', '--yes', '--json'], env)
    const { file } = jsonOf(installed.stdout) as { file: string }
    const name = /cowork-\w+\.service$/.exec(file)?.[0] ?? ''
    expect(readFileSync(log, 'utf8')).toContain(`--user enable ${name}\n--user start ${name}\n`)
    expect((await cowork(['doctor'])).stdout).toMatch(/^ok {4}service/m)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"up"', '"up" "--port" "1"'))
    expect((await cowork(['doctor'])).stdout).toMatch(/^warn {2}service/m)
    expect(await cowork(['service', 'remove', '--yes'], env)).toMatchObject({ code: 0 })
    expect(existsSync(file)).toBe(false)
    expect(readFileSync(log, 'utf8')).toContain(`--user disable ${name}`)
  })

  test('K12 uninstall removes connections and the service and stops the daemon; data stays until --purge', async () => {
    const { cowork, state, paths } = testPlace()
    const env = { ...standIn(state, 'systemctl', 'exit 0'), HOME: join(state, 'home') }
    mkdirSync(env.HOME)
    await cowork(['start'], env)
    const before = '{ "mcpServers": { "a": 1 } }'
    const file = join(env.HOME, '.claude.json')
    writeFileSync(file, before)
    await cowork(['connect', 'claude-code', '--yes'], env)
    await cowork(['connect', 'codex', '--yes'], env)
    await cowork(['service', 'install', '--yes'], env)
    expect(await cowork(['uninstall'], env)).toMatchObject({ code: 2 })
    expect(readFileSync(file, 'utf8')).not.toBe(before)

    const undone = await cowork(['uninstall', '--yes'], env)
    expect(undone, undone.stderr).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(existsSync(join(env.HOME, '.codex', 'config.toml'))).toBe(false)
    expect((await cowork(['status'], env)).code).toBe(8)
    expect(existsSync(paths.store)).toBe(true)
    expect((await cowork(['uninstall', '--yes'], env)).stdout).toContain('Nothing to uninstall')

    const purged = await cowork(['uninstall', '--purge', '--yes', '--json'], env)
    expect(jsonOf(purged.stdout)).toMatchObject({ purged: true, left: ['bin', 'home'] })
    expect(existsSync(paths.store)).toBe(false)
  })
})
