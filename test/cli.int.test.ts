import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { isLocked } from '../src/base/state.ts'
import { verifyCheckpoint } from '../src/ledger/checkpoint.ts'
import { verifyInclusion } from '../src/ledger/proof.ts'
import type { EntryProof } from '../src/ledger/service.ts'
import { leafHash } from '../src/ledger/tree.ts'
import { ended, lineReader, newPlace, testPlace } from './cli.ts'
import { createTestDatabase } from './databases.ts'

const jsonOf = (text: string) => JSON.parse(text) as Record<string, unknown>
const patiently = { timeout: 20_000 }
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('lifecycle', () => {
  test('SV2, SV3 up serves in the foreground; SIGTERM signs the ledger and releases the lock', async () => {
    const { paths, state, start, daemon, cowork } = testPlace()
    const child = start(['up'])
    const result = ended(child)
    await expect.poll(() => existsSync(paths.daemon), patiently).toBe(true)
    const { port, pid } = daemon()
    expect(pid).toBe(child.pid)
    expect(readFileSync(paths.pid, 'utf8')).toBe(`${pid}\n`)
    expect(isLocked(paths)).toBe(true)
    expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200)
    await expect.poll(() => readFileSync(paths.log, 'utf8'), patiently).toContain('cowork started')
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await result
    expect(code).toBe(0)
    expect(stdout).toContain(`http://localhost:${port}/mcp`)
    expect(stdout).toContain('Auth: open mode (demo) | Mode: suggest | Trust default: 0.3')
    expect(stdout).toContain(state)
    expect(stderr).toContain('cowork stopping')
    expect([paths.daemon, paths.pid, paths.socket].filter(existsSync)).toEqual([])
    expect(isLocked(paths)).toBe(false)
    const verified = jsonOf((await cowork(['audit', 'verify', '--json'])).stdout)
    expect(verified).toMatchObject({ ok: true, signed: verified['entries'] })
  })

  test('RA8 SV18 up refuses unknown tools in cowork.yaml and names the line', async () => {
    const cases = [
      ['exclude: [delete_files]', 'agents[0].exclude: Unknown tools: "delete_files". Did you mean'],
      ['tools: [files, cowork_decide]', 'agents[0].tools: Unknown tools: "cowork_decide".'],
      [
        'tools: [delete_file]\n    read_only: true',
        'agents[0].tools: The selection contains no tools.',
      ],
    ] as const
    for (const [more, message] of cases) {
      const { cowork, paths } = testPlace(`agents:\n  - id: dev\n    token: t\n    ${more}\n`)
      const { code, stderr } = await cowork(['up', '--json'])
      expect(code).toBe(2)
      const { error } = jsonOf(stderr.trimEnd().split('\n').at(-1) ?? '')
      expect(error).toMatchObject({ code: 'config_invalid' })
      expect(error).toHaveProperty('message', expect.stringContaining(`${paths.config}:5:`))
      expect(error).toHaveProperty('message', expect.stringContaining(message))
      expect(isLocked(paths)).toBe(false)
    }
  })

  test('SV2, SV3 up -d prints the banner and exits; the daemon runs until down', async () => {
    const { paths, cowork, daemon } = testPlace()
    const up = await cowork(['up', '-d'])
    expect(up).toMatchObject({ code: 0, stderr: '' })
    const first = daemon()
    expect(up.stdout).toContain(`http://localhost:${first.port}/mcp`)

    const again = await cowork(['start'])
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain(
      `cowork is already running on ${paths.dir} (process ${first.pid}`,
    )

    const restarted = await cowork(['restart', '--json'])
    expect(restarted.code).toBe(0)
    expect(jsonOf(restarted.stdout)).toMatchObject({ schemaVersion: 1, running: true })
    expect(daemon().pid).not.toBe(first.pid)

    expect(await cowork(['stop'])).toMatchObject({ code: 0 })
    expect(isLocked(paths)).toBe(false)
    expect(await cowork(['down'])).toMatchObject({ code: 0 })
    const log = await cowork(['logs'])
    expect(log.stdout.match(/info {2}cowork started/g)).toHaveLength(2)
    expect(log.stdout.match(/info {2}cowork stopping signal=SIGTERM/g)).toHaveLength(2)
  })

  test('SV3 down never signals the pid of a stopped daemon', async () => {
    const { paths, cowork } = testPlace()
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    onTestFinished(() => void bystander.kill('SIGKILL'))
    const left = { pid: bystander.pid, port: 1, version: '0', startedAt: '' }
    writeFileSync(paths.daemon, JSON.stringify(left))
    writeFileSync(paths.lock, '')
    expect(await cowork(['down'])).toMatchObject({ code: 0 })
    expect(await cowork(['status'])).toMatchObject({ code: 8 })
    expect(isAlive(bystander.pid ?? 0)).toBe(true)
    expect(bystander.signalCode).toBeNull()
  })

  test('SV4 kill -9 frees the lock, and the next daemon ignores the stale info', async () => {
    const { paths, cowork, daemon } = testPlace()
    await cowork(['up', '-d'])
    const { pid } = daemon()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isLocked(paths), patiently).toBe(false)
    expect(existsSync(paths.daemon)).toBe(true)
    expect(await cowork(['status'])).toMatchObject({ code: 8 })
    expect(await cowork(['up', '-d'])).toMatchObject({ code: 0 })
    expect(daemon().pid).not.toBe(pid)
  })

  test('SV4 a second daemon on the same state is refused with the owner of the lock', async () => {
    const { cowork, daemon } = testPlace()
    await cowork(['up', '-d'])
    const second = await cowork(['up'])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(`process ${daemon().pid}, port ${daemon().port}`)
    expect(second.stderr).toContain('cowork down')
  })

  test('SV5 reports a configuration error with its line before anything starts', async () => {
    const { paths, cowork } = testPlace('server_name: x\n')
    for (const args of [['up'], ['up', '-d']]) {
      const { code, stderr } = await cowork(args)
      expect(code).toBe(2)
      expect(stderr).toContain(`${paths.config}:2:1`)
    }
    expect(existsSync(paths.lock)).toBe(false)
  })

  test('SV3 restart keeps the daemon running if it could not start again', async () => {
    const { paths, cowork, daemon } = testPlace()
    await cowork(['up', '-d'])
    const { pid } = daemon()
    const config = readFileSync(paths.config, 'utf8')
    writeFileSync(paths.config, 'nonsense: 1\n')
    expect(await cowork(['restart'])).toMatchObject({ code: 2 })
    writeFileSync(paths.config, config)
    expect(daemon().pid).toBe(pid)
    expect(await cowork(['status'])).toMatchObject({ code: 0 })
  })

  test('SV8 refuses the state of a newer cowork in the terminal', async () => {
    const { paths, cowork } = testPlace()
    await cowork(['up', '-d'])
    await cowork(['down'])
    const db = new DatabaseSync(paths.store)
    db.exec(`INSERT INTO migration (name, at) VALUES ('ledger-999', 0)`)
    db.close()
    const { code, stderr } = await cowork(['up', '-d'])
    expect(code).toBe(1)
    expect(stderr).toContain('ledger-999')
    expect(isLocked(paths)).toBe(false)
  })

  test('SV3 shows in the terminal why the daemon could not start', async () => {
    const holder = testPlace()
    await holder.cowork(['up', '-d'])
    const { port } = holder.daemon()
    const { paths, cowork } = testPlace()
    const { code, stderr } = await cowork(['up', '-d', '--port', String(port)])
    expect(code).toBe(1)
    expect(stderr).toContain(`Port ${port}`)
    expect(stderr).toContain('PORT')
    expect(isLocked(paths)).toBe(false)
  })

  test('I8 secrets of an env file reach the daemon, but neither its arguments nor its log', async () => {
    const { state, paths, cowork, daemon } = testPlace('work: { api_key: env:SHARED_KEY }\n')
    writeFileSync(join(state, 'key'), 'a-very-secret-key')
    writeFileSync(join(state, 'first.env'), 'SHARED_KEY=something-else\n')
    writeFileSync(join(state, 'second.env'), `SHARED_KEY=file:${join(state, 'key')}\n`)
    const files = ['--env-file', 'first.env', '--env-file', 'second.env']
    expect(await cowork(['up', '-d', ...files])).toMatchObject({ code: 0 })
    const { pid, port } = daemon()
    const listed = (token: string) =>
      fetch(`http://localhost:${port}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: initialize(),
      })
    expect((await listed('something-else')).status).toBe(401)
    expect((await listed('a-very-secret-key')).status).toBe(200)
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('secret')
    expect(readFileSync(paths.log, 'utf8')).not.toContain('a-very-secret-key')
  })
})

const initialize = (id = 1) =>
  `${JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  })}\n`

const call = (id: number, name: string, args: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`

type Answer = {
  id: number
  result: {
    serverInfo?: object
    isError?: boolean
    structuredContent?: { caller: { id: string; verified: boolean } } & Record<string, unknown>
    content?: unknown
  }
}

describe('the stdio bridge', () => {
  /** A minimal client that sends one request after the other over a bridge. */
  function client(place: ReturnType<typeof newPlace>, args = ['mcp'], env = {}) {
    const child = place.start(args, env)
    const nextLine = lineReader(child)
    const ask = async (message: string) => {
      child.stdin.write(message)
      return JSON.parse(await nextLine()) as Answer
    }
    const leave = async () => {
      child.stdin.end()
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    }
    return { child, ask, leave }
  }

  test('SV4 mcp starts the daemon, writes only JSON-RPC, and leaves the daemon running', async () => {
    const place = testPlace()
    const { ask, leave } = client(place)
    expect((await ask(initialize())).result.serverInfo).toMatchObject({ name: 'cowork' })
    const { result } = await ask(call(2, 'cowork_status'))
    expect(result.structuredContent?.caller).toMatchObject({ id: 'main', verified: false })
    expect(await leave()).toBe(0)
    expect(isLocked(place.paths)).toBe(true)
  })

  test('SV4 clients that start together share one daemon', async () => {
    const place = testPlace()
    const clients = [1, 2, 3].map(() => client(place))
    const answers = await Promise.all(clients.map(({ ask }) => ask(initialize())))
    expect(answers.map(({ id }) => id)).toEqual([1, 1, 1])
    expect(await Promise.all(clients.map(({ leave }) => leave()))).toEqual([0, 0, 0])
    const { stdout } = await place.cowork(['audit', 'tail', '--type', 'daemon.started', '--json'])
    expect(stdout.trim().split('\n')).toHaveLength(1)
  })

  test('SV4 the bridge keeps every byte, even for a slow reader, and ends with the client', async () => {
    const place = testPlace()
    const { child, ask } = client(place)
    await ask(initialize())
    const count = 200
    const details = { text: '✓'.repeat(20_000) }
    const messages = Array.from({ length: count }, (_, at) =>
      call(at + 2, 'cowork_log', { domain: 'd', action: 'a', target: `t${at}`, details }),
    )
    const nextLine = lineReader(child)
    child.stdin.write(messages.join(''))
    const ids = new Set<number>()
    while (ids.size < count) {
      const { id, result } = JSON.parse(await nextLine()) as Answer
      expect(result.isError ?? false).toBe(false)
      ids.add(id)
    }
    expect(await place.cowork(['down'])).toMatchObject({ code: 0 })
    // Also without a daemon.
    const exited = once(child, 'exit')
    child.stdin.end()
    expect(await exited).toEqual([0, null])
  })

  test("SV6 the client's variables shape the bridge, not the daemon it starts", async () => {
    const place = testPlace()
    const env = { TRANSPORT: 'stdio', PORT: '1', LOG_LEVEL: 'nonsense', AGENT_ID: 'desk' }
    const { ask, leave } = client(place, [], env)
    await ask(initialize())
    const { result } = await ask(call(2, 'cowork_status'))
    expect(result.structuredContent?.caller.id).toBe('desk')
    expect(place.daemon().port).not.toBe(1)
    await leave()
  })

  test('I13 with authentication on, the bridge needs a token from the environment or of --agent', async () => {
    const place = testPlace()
    await place.cowork(['up', '-d'])
    const { stdout } = await place.cowork(['agents', 'add', 'sales', '--json'])
    const token = String(jsonOf(stdout)['token'])

    const given = client(place, ['mcp'], { COWORK_TOKEN: token, AGENT_ID: 'other' })
    await given.ask(initialize())
    const { result } = await given.ask(call(2, 'cowork_status'))
    expect(result.structuredContent?.caller).toMatchObject({ id: 'sales', verified: true })

    writeFileSync(place.paths.agentToken('sales'), `${token}\n`, { mode: 0o600 })
    const kept = client(place, ['mcp', '--agent', 'sales'])
    await kept.ask(initialize())
    const again = await kept.ask(call(2, 'cowork_status'))
    expect(again.result.structuredContent?.caller.id).toBe('sales')

    const none = client(place)
    await none.ask(initialize())
    const refused = await none.ask(call(2, 'cowork_status'))
    expect(JSON.stringify(refused)).toContain('cowork agents add')
    for (const one of [given, kept, none]) await one.leave()
  })

  test('SV4 reports a failed daemon start only on stderr', async () => {
    const { cowork } = testPlace('nonsense: 1\n')
    const { code, stdout, stderr } = await cowork(['mcp'], {}, initialize())
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('cowork.yaml:2:1')
  })
})

describe('without a command', () => {
  test('SV6 TRANSPORT=http runs up; without it the help is shown', async () => {
    const { paths, cowork, start } = testPlace()
    const help = await cowork([])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('Commands:')
    const child = start([], { TRANSPORT: 'http' })
    const result = ended(child)
    await expect.poll(() => existsSync(paths.daemon), patiently).toBe(true)
    child.kill('SIGINT')
    expect(await result).toMatchObject({ code: 0 })
  })
})

describe('commands on a running daemon', () => {
  const place = newPlace()
  beforeAll(async () => {
    await place.cowork(['up', '-d'])
  })
  afterAll(place.end)
  const { cowork, paths, start } = place

  test('RC3 halt refuses an unknown agent and prints a resume command that works', async () => {
    const unknown = await cowork(['halt', 'agent:nobdy'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain('Unknown agent')
    expect(unknown.stderr).toContain('--force')
    const { stdout } = await cowork(['halt', 'agent:bad one', '--force'])
    expect(stdout).toContain("Resume with: cowork resume 'agent:bad one'")
    expect(await cowork(['resume', 'agent:bad one'])).toMatchObject({ code: 0 })
  })

  test('K2 status, agents, audit and halt print JSON with a schema version', async () => {
    const reads = [
      ['status', '--json'],
      ['--json', 'agents', 'ls'],
      ['audit', 'prove', '1', '--json'],
      ['halt', 'agent:nobody', '--force', '--json'],
      ['resume', 'agent:no', '--json'],
      ['audit', 'verify', '--json'],
      ['logs', '-n', '1', '--json'],
    ]
    for (const args of reads) {
      const { code, stdout, stderr } = await cowork(args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(jsonOf(stdout)).toMatchObject({ schemaVersion: 1 })
    }
  })

  test('K10 agents add prints the token once, only on stdout; nothing stores it', async () => {
    const { code, stdout, stderr } = await cowork(['agents', 'add', 'sales', '--scope', 'read:*'])
    expect(code).toBe(0)
    const [, token = ''] = /^token: (sk-cowork-[0-9a-f]{48})$/m.exec(stdout) ?? []
    expect(token).not.toBe('')
    expect(stderr).toMatch(/Authentication\sis\snow\son/)
    expect(stderr.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(stderr).not.toContain(token)
    const { stdout: listed } = await cowork(['agents', 'ls'])
    expect(listed).toMatch(/^sales +active +store +read:\*/m)
    const files = [paths.store, `${paths.store}-wal`, paths.log].filter(existsSync)
    for (const file of files) expect(readFileSync(file, 'latin1')).not.toContain(token)
  })

  test('K2, K10 rotates and revokes agents by a unique id prefix', async () => {
    await cowork(['agents', 'add', 'support-one'])
    await cowork(['agents', 'add', 'support-two'])
    expect(await cowork(['agents', 'rotate', 'support'])).toMatchObject({ code: 2, stdout: '' })
    const rotated = await cowork(['agents', 'rotate', 'support-o', '--overlap', '0', '--json'])
    expect(jsonOf(rotated.stdout)).toMatchObject({ id: 'support-one' })
    expect(await cowork(['agents', 'revoke', 'support-t'])).toMatchObject({ code: 0 })
    expect(await cowork(['agents', 'revoke', 'support-t'])).toMatchObject({ code: 3 })
  })

  test('RA8 SV18 agents add and set select the tools of an agent, and ls shows them', async () => {
    const chosen = ['--tools', 'files,worksync_get', '--exclude', 'delete_file', '--read-only']
    expect(await cowork(['agents', 'add', 'reader', ...chosen])).toMatchObject({ code: 0 })
    const shown = async () => {
      const { stdout } = await cowork(['agents', 'ls'])
      return /^reader +active +store +\* +(.+?) {2,}/m.exec(stdout)?.[1]
    }
    expect(await shown()).toBe('files, worksync_get; without delete_file; read only')
    const set = await cowork(['agents', 'set', 'read', '--no-exclude', '--no-read-only'])
    expect(set).toMatchObject({
      code: 0,
      stdout: 'Set the tools of reader: files, worksync_get.\n',
    })
    expect(await cowork(['agents', 'set', 'reader', '--tools', 'core'])).toMatchObject({ code: 0 })
    expect(await shown()).toBe('core')

    const refused = async (...args: string[]) => (await cowork(['agents', ...args])).stderr
    expect(await cowork(['agents', 'set', 'reader'])).toMatchObject({ code: 2 })
    expect(await cowork(['agents', 'add', 'y', '--tools', 'fles'])).toMatchObject({ code: 2 })
    expect(await refused('add', 'y', '--exclude', 'fles')).toMatch(/Did you mean\sfiles\?/)
    expect(await refused('set', 'reader', '--tools', 'qqqqqqq')).toMatch(
      /Use\score,\sall,\scowork,\sfiles,\swork\sor\stool\snames/,
    )
    expect(await refused('set', 'reader', '--exclude', 'all')).toContain('contains no tools')
    expect(await shown()).toBe('core')
  })

  test('K3, I13 errors of agents, grants and permissions name the next step', async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await cowork(args)
      expect(stderr.split('\n').filter((line) => line.length > 80)).toEqual([])
      return { code, stderr }
    }
    const next = (code: number, step: string) => ({ code, stderr: expect.stringContaining(step) })
    for (const act of ['rotate', 'revoke'])
      expect(await run('agents', act, 'nobody')).toEqual(next(3, '`cowork agents add <id>`'))
    for (const name of ['', 'grant_', 'nothing'])
      expect(await run('grants', 'show', name)).toEqual(next(3, '`cowork grants add <path>`'))
    expect(await run('grants', 'revoke', '')).toEqual(next(3, 'Empty name of grant.'))
    expect(await run('permissions', 'revoke', 'x')).toEqual(next(3, '`cowork approve <id> --allow'))
    for (const name of ['', 'a/../b', '.hidden'])
      expect(await run('agents', 'add', name)).toEqual(next(2, 'without slashes'))
    const { stderr } = await cowork(['agents', 'add', 'x', '--scope', ''])
    expect(stderr).toContain('`cowork agents add --help`')
  })

  test('K3 the exit code shows the kind of failure', async () => {
    const codes = async (...args: string[]) => (await cowork(args)).code
    expect(await codes('nonsense')).toBe(2)
    expect(await codes('halt', 'nonsense scope')).toBe(2)
    expect(await codes('audit', 'prove', 'x')).toBe(2)
    expect(await codes('audit', 'prove', '999999')).toBe(3)
    expect(await codes('resume')).toBe(3)
    expect(await codes('status', '--state', join(paths.dir, 'elsewhere'))).toBe(8)
    expect(await codes('agents', 'ls', '--state', join(paths.dir, 'elsewhere'))).toBe(8)
    const { code, stderr } = await cowork(['agents', 'ls', '--json', '--state', 'elsewhere'])
    expect(code).toBe(8)
    expect(jsonOf(stderr)).toMatchObject({
      schemaVersion: 1,
      error: { code: 'daemon_not_running' },
    })
  })

  test("I10, K3 reads the owner's token only from a private file", async () => {
    chmodSync(paths.ownerToken, 0o644)
    const open = await cowork(['agents', 'ls'])
    chmodSync(paths.ownerToken, 0o600)
    expect(open).toMatchObject({ code: 4, stdout: '' })
    expect(open.stderr).toContain('chmod 600')
  })

  test('K2 audit tail follows new entries, and ends without error with its reader', async () => {
    const child = start(['audit', 'tail', '-f', '-n', '0', '--type', 'halt.set'])
    const nextLine = lineReader(child)
    // The start of the follower is unknown, so entries are added until it has printed one.
    let hasSeen = false
    const seen = nextLine().finally(() => (hasSeen = true))
    for (let i = 0; !hasSeen; i++)
      await cowork(['halt', `agent:a${i}`, '--force', '--reason', 'to be seen'])
    const [first, second] = [await seen, nextLine()]
    expect(first).toMatch(/halt\.set +owner +agent:a\d+/)
    await cowork(['halt', 'agent:later', '--force'])
    expect(await second).not.toBe(first)
    const exited = once(child, 'exit')
    child.stdout.destroy()
    await cowork(['halt', 'agent:last', '--force'])
    expect(await exited).toEqual([0, null])
  })

  test('L6 proves an entry with only the public key', async () => {
    const { stdout } = await cowork(['audit', 'prove', '2', '--json'])
    const proof = JSON.parse(stdout) as EntryProof
    const tree = verifyCheckpoint(proof.checkpoint, proof.vkey)
    const path = proof.path.map((hash) => Buffer.from(hash, 'base64'))
    const leaf = leafHash(proof.entry)
    expect(verifyInclusion(leaf, proof.index, tree.size, path, tree.root)).toBe(true)
    expect(proof.vkey).toBe(readFileSync(paths.ledgerPublicKey, 'utf8').trim())
  })

  test('L6 verifies an export without daemon and store, and finds a changed byte', async () => {
    const folder = join(paths.dir, 'export')
    expect(await cowork(['audit', 'export', folder])).toMatchObject({ code: 0 })
    expect(await cowork(['audit', 'export', folder])).toMatchObject({ code: 2 })
    const elsewhere = ['--state', join(paths.dir, 'elsewhere')]
    const good = await cowork(['audit', 'verify', folder, '--deep', ...elsewhere])
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK: \d+ entries/) })
    const withKey = ['audit', 'verify', folder, '--key', paths.ledgerPublicKey, ...elsewhere]
    expect(await cowork(withKey)).toMatchObject({ code: 0 })

    const file = join(folder, 'entries.jsonl')
    const lines = readFileSync(file, 'utf8').split('\n')
    const at = lines.findIndex((line) => line.includes('"owner"'))
    lines[at] = lines[at]?.replace('"owner"', '"0wner"') ?? ''
    writeFileSync(file, lines.join('\n'))
    const bad = await cowork(['audit', 'verify', folder, ...elsewhere])
    expect(bad).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`BROKEN at entry ${at + 1}: `),
    })
  })
})

test('K10 agents token prints a token and its hash, and needs no daemon', async () => {
  const { paths, cowork } = testPlace()
  const { code, stdout } = await cowork(['agents', 'token'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^token: sk-cowork-[0-9a-f]{48}\nhash: {2}[0-9a-f]{64}\n$/)
  expect([paths.store, paths.lock].filter(existsSync)).toEqual([])
})

const changeOne = `UPDATE ledger_entry SET body = replace(body, '"owner"', '"0wner"')
  WHERE seq = (SELECT min(seq) FROM ledger_entry WHERE type = 'agent.added') RETURNING seq`

describe('L6 verify reads the store itself', () => {
  test('L6 on SQLite, finds a changed byte with and without the daemon', async () => {
    const { paths, cowork } = testPlace()
    expect(await cowork(['audit', 'verify'])).toMatchObject({ code: 3 })
    await cowork(['up', '-d'])
    for (const id of ['a', 'b', 'c']) await cowork(['agents', 'add', id])
    const running = await cowork(['audit', 'verify', '--deep'])
    expect(running).toMatchObject({ code: 0, stderr: '' })
    await cowork(['down'])
    const db = new DatabaseSync(paths.store)
    // An attacker who can write the file can remove its triggers.
    const guards = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all()
    for (const { name } of guards) db.exec(`DROP TRIGGER "${String(name)}"`)
    const changed = db.prepare(changeOne).get()
    db.close()
    const { code, stdout } = await cowork(['audit', 'verify', '--json'])
    expect(code).toBe(1)
    expect(jsonOf(stdout)).toMatchObject({ ok: false, first_bad: { seq: changed?.['seq'] } })
  })

  test('RS6 L20 on SQLite, finds an inserted trust row with and without the daemon', async () => {
    const { paths, cowork } = testPlace()
    await cowork(['up', '-d'])
    expect(await cowork(['audit', 'verify', '--deep'])).toMatchObject({ code: 0, stderr: '' })
    const db = new DatabaseSync(paths.store)
    const row = {
      agent: 'sales',
      domain: 'crm',
      score: 0.95,
      active_at: 1,
      promoted: 1,
      vouched: 1,
    }
    const zeros = ['approvals', 'overrides', 'streak', 'low_good', 'low_bad', 'normal_good']
    const rest = [...zeros, 'normal_bad', 'high_good', 'high_bad'].map((name) => [name, 0])
    const forged = { ...row, ...Object.fromEntries(rest) }
    const marks = Object.keys(forged).map((name) => `:${name}`)
    db.prepare(`INSERT INTO trust (${Object.keys(forged).join()}) VALUES (${marks.join()})`).run(
      forged,
    )
    db.close()
    const why = 'trust of agent "sales" in domain "crm": no entry records this row'
    for (const isRunning of [true, false]) {
      if (!isRunning) await cowork(['down'])
      const { code, stdout } = await cowork(['audit', 'verify'])
      expect(code).toBe(1)
      expect(stdout).toContain(why)
    }
  })

  test('L6 a foreign file is an error with a hint, not an internal error', async () => {
    const { paths, cowork } = testPlace()
    writeFileSync(paths.store, 'this is not a database, whatever its name says\n'.repeat(100))
    const { code, stdout, stderr } = await cowork(['audit', 'verify'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^cowork: Cannot open \S+: /)
  })

  test('L6 on PostgreSQL, finds a changed byte', async () => {
    const url = await createTestDatabase(inject('postgresUrl'))
    const { cowork } = testPlace(`storage: { url: env:DATABASE_URL }\n`)
    const env = { DATABASE_URL: url }
    expect(await cowork(['up', '-d'], env)).toMatchObject({ code: 0 })
    await cowork(['agents', 'add', 'a'])
    expect(await cowork(['audit', 'verify'], env)).toMatchObject({ code: 0, stderr: '' })
    await cowork(['down'])
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('ALTER TABLE ledger_entry DISABLE TRIGGER ALL')
    const { rows } = await client.query<{ seq: string }>(changeOne)
    await client.end()
    const { code, stdout } = await cowork(['audit', 'verify'], env)
    expect(code).toBe(1)
    expect(stdout).toContain(`BROKEN at entry ${rows[0]?.seq}: `)
  })
})
