// K4 and SV19 with real clients: installed from npm into a separate folder, connected to a separate daemon, and run
// through scenes with a stand-in as their model. After the installation no account and no internet is needed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { readOrCreateOwnerToken, statePaths } from '../src/base/state.ts'
import { clients, packages } from './clients.mjs'
import { scenes, writeFixtures } from './proof-scenes.mjs'
import { startModel } from './stand-in-model.mjs'

const launcher = fileURLToPath(new URL('../bin/cowork.mjs', import.meta.url))
const transports = ['stdio', 'http']

/** K4: each client lists the tools of cowork, and its call is in the ledger. Returns {ok, result} for the table. */
export const proveClients = () =>
  withPlace(async (place, model) => {
    const found = []
    for (const { client, transport } of sessions()) {
      const before = await runAll(client.list, place)
      if (client.connected.test(before))
        throw new Error(`${client.id} knew cowork before it was connected`)
      await withConnection(place, client, transport, async (start) => {
        const listed = await start(client.list)
        if (!client.connected.test(listed))
          throw new Error(`${client.id} does not list cowork over ${transport}: ${listed}`)
        found.push(await proveCall(place, client, transport, model, start))
      })
      const after = await runAll(client.list, place)
      if (client.connected.test(after))
        throw new Error(`${client.id} still lists cowork after it was disconnected: ${after}`)
    }
    return { ok: true, result: found.join('; ') }
  })

async function proveCall(place, client, transport, model, start) {
  const tool = 'cowork_status'
  const [last] = await listEntries(place, ['-n', '1'])
  model.play(
    (async function* () {
      yield { tool, input: {} }
    })(),
  )
  const output = await start(client.use(model.url))
  const filter = ['-n', '50', '--actor', client.id, '--type', 'call.done']
  const made = (await listEntries(place, filter)).find(
    ({ seq, actor, data }) =>
      seq > last.seq && actor.client?.name === client.calls && data.tool === tool,
  )
  if (!made) throw new Error(`${client.id} over ${transport} did not call ${tool}: ${output}`)
  if (!made.actor.verified)
    throw new Error(`${client.id} over ${transport} called without its token`)
  const { name, version } = made.actor.client
  return `${name} ${version} (${made.actor.client.transport}) lists our tools and called ${tool}, entry ${made.seq}`
}

/** K9: the real Inspector, started with the command of `cowork inspect`, lists every tool and calls one. */
export const proveInspector = () =>
  withDaemon(async ({ cowork, home, cwd, launch }) => {
    const { token } = JSON.parse(await cowork('agents', 'add', 'inspector', '--json'))
    const { agentToken } = statePaths(join(home, '.cowork'))
    mkdirSync(dirname(agentToken('inspector')), { recursive: true, mode: 0o700 })
    writeFileSync(agentToken('inspector'), token, { mode: 0o600 })
    // npx needs the npm settings of this machine, so it uses their home and gets the state directory as a variable.
    const options = { env: { ...process.env, COWORK_STATE_DIR: join(home, '.cowork') }, cwd }
    const print = [...launch, 'inspect', '--print', '--json']
    const { command } = JSON.parse(await run(print, options))
    const at = command.indexOf('--web')
    // The same package and server, with its command line in place of its page.
    const inspect = async (...words) =>
      JSON.parse(
        await run([...command.slice(0, at), '--cli', ...words, ...command.slice(at + 1)], options),
      )
    const { tools } = await inspect('--method', 'tools/list')
    const names = tools.map(({ name }) => name)
    const missing = ['cowork_propose', 'read_file', 'worksync_add_story'].filter(
      (name) => !names.includes(name),
    )
    if (missing.length > 0) throw new Error(`the Inspector does not list ${missing.join(', ')}`)
    await inspect('--method', 'tools/call', '--tool-name', 'cowork_status')
    const filter = ['-n', '1', '--actor', 'inspector', '--type', 'call.done']
    const [made] = await listEntries({ cowork }, filter)
    if (made?.data.tool !== 'cowork_status' || !made.actor.verified)
      throw new Error('the call of the Inspector is not in the ledger under its agent')
    const { name, version } = made.actor.client
    const result = `${name} ${version} lists ${names.length} tools and called cowork_status, entry ${made.seq}`
    return { ok: true, result }
  })

/** SV19: what the model of each client received in each scene. */
export const proveScenes = () =>
  withPlace(async (place, model) => {
    writeFixtures(place)
    const found = []
    let failures = 0
    for (const { client, transport } of sessions()) {
      const results = await playScenes(place, client, transport, model)
      for (const { name, isPassed, finding } of results) {
        process.stderr.write(`    ${isPassed ? 'holds' : 'FAILS'} ${name}: ${finding}\n`)
        if (!isPassed) failures++
      }
      const findings = results.map(({ name, isPassed, finding }) =>
        isPassed ? finding : `${name} FAILS: ${finding}`,
      )
      found.push(`${client.id} over ${transport}: ${findings.join(', ')}`)
    }
    return { ok: failures === 0, result: found.join('; ') }
  })

async function playScenes(place, client, transport, model) {
  const results = new Map()
  async function* playAll() {
    for (const { name, play } of scenes)
      try {
        results.set(name, { name, isPassed: true, finding: yield* play(place) })
      } catch (error) {
        results.set(name, { name, isPassed: false, finding: error.message })
      }
  }
  await withConnection(place, client, transport, async (start) => {
    model.play(playAll())
    await start(client.use(model.url))
  })
  const unplayed = { isPassed: false, finding: 'the client ended before' }
  return scenes.map(({ name }) => results.get(name) ?? { name, ...unplayed })
}

const sessions = () =>
  clients.flatMap((client) => transports.map((transport) => ({ client, transport })))

/** Connects the client while `act` runs; `act` gets a function that runs a client command with its token. */
async function withConnection(place, client, transport, act) {
  const { id } = client
  process.stderr.write(`  ${id} over ${transport}\n`)
  const isHttp = transport === 'http'
  const variable = `COWORK_TOKEN_${id.toUpperCase().replace('-', '_')}`
  await client.connect(place, { isHttp, variable })
  try {
    // Over HTTP the token is in a variable, as `cowork connect` recommends.
    const envFile = join(place.home, `${id}.env`)
    writeFileSync(
      envFile,
      `${variable}=file:${join(place.home, '.cowork', 'agents', `${id}.token`)}\n`,
    )
    const withToken = [...place.launch, 'run', '--env-file', envFile, '--']
    const env = { ...place.env, ...client.env(place.model) }
    await act((command) => runAll([...withToken, ...command], { env, cwd: place.cwd }))
  } finally {
    await client.disconnect(place)
  }
}

/** Installs the clients, starts a daemon and a model, and removes everything after `prove`. */
async function withPlace(prove) {
  const model = await startModel()
  try {
    return await withDaemon(async (daemon, folder) => {
      const place = { ...daemon, model: model.url, offered: model.offered }
      await install(folder)
      for (const client of clients) client.prepare?.(place)
      return prove(place, model)
    })
  } finally {
    model.close()
  }
}

/** Starts a daemon in a separate home, and removes both after `prove`. */
async function withDaemon(prove) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-proof-clients-'))
  const place = await createPlace(folder)
  try {
    await place.cowork('up', '-d')
    return await prove(place, folder)
  } finally {
    await place.cowork('down').catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function install(folder) {
  const names = packages.map(({ name, version }) => `${name}@${version}`)
  process.stderr.write(`  installing ${names.join(', ')}\n`)
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund']
  const { env } = process
  await run(['npm', 'install', '--prefix', folder, ...quiet, ...names], { env })
  for (const { name, script } of packages) {
    const cwd = join(folder, 'node_modules', name)
    if (script) await run([process.execPath, script], { env, cwd })
  }
}

/** Creates a separate home: files of this machine's user are neither read nor written. */
async function createPlace(folder) {
  const home = join(folder, 'home')
  const cwd = join(home, 'work')
  const workspace = join(home, 'workspace')
  const state = join(home, '.cowork')
  for (const folder of [cwd, state]) mkdirSync(folder, { recursive: true })
  // A fixed port: clients over HTTP must reach the daemon again after a restart. JSON is YAML.
  const port = await findPort()
  const settings = { server: { port }, workspace: { path: workspace } }
  writeFileSync(join(state, 'cowork.yaml'), JSON.stringify(settings))

  const path = [join(folder, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH]
  const env = { PATH: path.join(delimiter), HOME: home, USERPROFILE: home }
  const launch = [process.execPath, launcher]
  const url = `http://localhost:${port}`
  const cowork = (...args) => run([...launch, ...args], { env, cwd })

  /** Decides as a person in the console: the command line needs a terminal. */
  async function decide(input) {
    const reply = await fetch(`${url}/api/tools/cowork_decide/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readOrCreateOwnerToken(statePaths(state))}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ arguments: input }),
    })
    if (!reply.ok) throw new Error(`cowork_decide answered ${reply.status}: ${await reply.text()}`)
  }
  async function restart() {
    await cowork('down')
    await cowork('up', '-d')
  }
  return { home, cwd, workspace, url, env, launch, cowork, decide, restart }
}

async function findPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

const listEntries = async ({ cowork }, options) =>
  (await cowork('audit', 'tail', '--json', ...options))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Resolves to the standard output of a program; fails if the program fails. */
const run = async (command, options) => (await runProgram(command, options)).stdout

/** Includes the standard error, where Gemini CLI prints its list. */
async function runAll(command, options) {
  const { stdout, stderr } = await runProgram(command, options)
  return `${stdout}${stderr}`
}

async function runProgram([command, ...args], { env, cwd }) {
  const child = spawn(command, args, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
    shell: process.platform === 'win32',
  })
  const closed = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return { stdout, stderr }
}
