// K4 with the real clients: Claude Code and Codex come from npm into a folder of their own, `cowork connect`
// writes them, and each is watched until its call is in the ledger. A stand-in is their model, so neither
// an account nor the internet is needed once they are installed.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { startModel } from './stand-in-model.mjs'

const launcher = fileURLToPath(new URL('../bin/cowork.mjs', import.meta.url))
const tool = 'cowork_status'
const versions = { '@anthropic-ai/claude-code': '2.1.325', '@openai/codex': '0.166.0' }

const clients = [
  {
    id: 'claude-code',
    calls: 'claude-code',
    list: ['claude', 'mcp', 'list'],
    connected: /^cowork: .* Connected$/m,
    use: () => ['claude', '-p', 'Look.', '--allowedTools', `mcp__cowork__${tool}`],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    id: 'codex',
    calls: 'codex-mcp-client',
    list: ['codex', 'mcp', 'list'],
    connected: /^cowork .* enabled /m,
    use: (model) => {
      const provider = `{name="stand-in",base_url="${model}/v1",wire_api="responses",env_key="STAND_IN_KEY"}`
      const settings = ['model_provider=stand_in', `model_providers.stand_in=${provider}`]
      const options = settings.flatMap((one) => ['-c', one])
      return ['codex', 'exec', '--skip-git-repo-check', '-m', 'stand-in', ...options, 'Look.']
    },
    env: () => ({ STAND_IN_KEY: 'none' }),
  },
]

/** Gives {ok, result} for the table of `npm run proof`. */
export async function proveClients() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-proof-clients-'))
  const model = await startModel(tool)
  const place = placeIn(folder)
  try {
    await install(folder)
    await place.cowork('start', '--port', '0')
    const found = []
    for (const client of clients)
      for (const way of ['stdio', 'http']) found.push(await proveOne(place, client, way, model.url))
    return { ok: true, result: found.join('; ') }
  } finally {
    model.close()
    await place.cowork('down').catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function install(folder) {
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  process.stderr.write(`  installing ${packages.join(' and ')}\n`)
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund']
  const { env } = process
  await run(['npm', 'install', '--prefix', folder, ...quiet, ...packages], { env })
  // Whether npm runs it by itself depends on its settings; Claude Code is not whole without it.
  const script = join(folder, 'node_modules', '@anthropic-ai', 'claude-code', 'install.cjs')
  await run([process.execPath, script], { env })
}

/** A home of its own: nothing of this machine's user is read or written. */
function placeIn(folder) {
  const home = join(folder, 'home')
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  const path = [join(folder, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH]
  const env = { PATH: path.join(delimiter), HOME: home, USERPROFILE: home }
  const cowork = (...args) => run([process.execPath, launcher, ...args], { env, cwd: work })
  return { home, work, env, cowork }
}

async function proveOne({ home, work, env, cowork }, client, way, model) {
  const { id, list, connected, calls } = client
  process.stderr.write(`  ${id} over ${way}\n`)
  const before = await run(list, { env, cwd: work })
  if (connected.test(before)) throw new Error(`${id} knew cowork before it was connected`)
  await cowork('connect', id, '--yes', ...(way === 'http' ? ['--http'] : []))

  // Over HTTP the token comes by a variable, as `cowork connect` says to pass it.
  const variable = `COWORK_TOKEN_${id.toUpperCase().replace('-', '_')}`
  const envFile = join(home, `${id}.env`)
  writeFileSync(envFile, `${variable}=file:${join(home, '.cowork', 'agents', `${id}.token`)}\n`)
  const withToken = [process.execPath, launcher, 'run', '--env-file', envFile, '--']
  const options = { env: { ...env, ...client.env(model) }, cwd: work }
  const listed = await run([...withToken, ...list], options)
  if (!connected.test(listed)) throw new Error(`${id} does not list cowork over ${way}: ${listed}`)

  const [last] = await entries(cowork, ['-n', '1'])
  const said = await run([...withToken, ...client.use(model)], options)
  const made = (await entries(cowork, ['-n', '50', '--actor', id, '--type', 'call.done'])).find(
    ({ seq, actor, data }) => seq > last.seq && actor.client?.name === calls && data.tool === tool,
  )
  if (!made) throw new Error(`${id} over ${way} did not call ${tool}: ${said}`)
  if (!made.actor.verified) throw new Error(`${id} over ${way} called without its token`)

  await cowork('disconnect', id, '--yes')
  const after = await run(list, { env, cwd: work })
  if (connected.test(after)) throw new Error(`${id} still lists cowork after disconnect: ${after}`)
  const { name, version, transport } = made.actor.client
  return `${name} ${version} (${transport}) lists our tools and called ${tool}, entry ${made.seq}`
}

const entries = async (cowork, options) =>
  (await cowork('audit', 'tail', '--json', ...options))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** What a program printed; fails with it when the program does. */
async function run([command, ...args], options) {
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
    shell: process.platform === 'win32',
  })
  const closed = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return stdout
}
