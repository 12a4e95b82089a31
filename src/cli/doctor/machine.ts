import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { StatePaths } from '#base/state.ts'
import { createClient } from '../client.ts'
import { connectionsFile } from '../connections.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'
import { isUpToDate, isInstalled, getServiceManager } from '../service.ts'
import type { Settings } from '../settings.ts'
import { version } from '../launcher.ts'
import {
  about,
  fail,
  ok,
  nearestExistingFolder,
  describeFolderIssue,
  warn,
} from './check-result.ts'
import type { CheckResult } from './check-result.ts'

const neededNode = 24

export function checkRuntime(): CheckResult {
  const { version, versions, platform, arch } = process
  const told = `Node ${version} on ${platform}-${arch}, SQLite ${versions['sqlite'] ?? 'missing'}`
  return Number(versions.node.split('.')[0]) >= neededNode
    ? ok(told)
    : fail(told, `Install Node ${neededNode} or newer.`)
}

/** Secrets must be readable by their owner alone. */
export function checkFiles(
  { paths }: Context,
  settings: Settings | undefined,
): CheckResult | CheckResult[] {
  const trouble = describeFolderIssue(paths.dir)
  if (trouble !== undefined)
    return fail(
      `${trouble}: nothing can be kept there.`,
      'Name another state folder with --state or COWORK_STATE_DIR.',
    )
  if (!existsSync(paths.dir))
    return warn(`There is no ${paths.dir} yet.`, '`cowork init` or `cowork up` makes it.')
  if (process.platform === 'win32') return ok(`${paths.dir} (modes are not a thing here)`)
  const agents = join(paths.dir, 'agents')
  const tokens = existsSync(agents) ? readdirSync(agents).map((name) => join(agents, name)) : []
  const secrets = [
    paths.ownerToken,
    settings?.config.ledger.key_path ?? paths.ledgerKey,
    settings?.config.storage.path ?? paths.store,
    connectionsFile(paths),
    ...tokens,
  ].filter((file) => existsSync(file))
  const open = [paths.dir, ...secrets].filter((file) => (statSync(file).mode & 0o077) !== 0)
  // Its folder guards it; outside of it only its own mode does. Every command looks at the mode of the owner's token.
  const exposed = open.filter(
    (file) => open.includes(paths.dir) || !file.startsWith(paths.dir) || file === paths.ownerToken,
  )
  if (exposed.length > 0)
    return exposed.map((file) =>
      fail(`Other users can read ${file}.`, `chmod ${file === paths.dir ? 700 : 600} ${file}`),
    )
  return ok(`${paths.dir} is closed to other users`)
}

const mebibyte = 1024 * 1024
const leastFree = 200
const littleFree = 2000

export function checkDisk(paths: StatePaths): CheckResult {
  const folder = nearestExistingFolder(paths.dir)
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / mebibyte)
  const told = `${free} MiB free at ${folder}`
  // Without room nothing can be recorded, and what cannot be recorded is not done.
  if (free < leastFree) return fail(told, 'Make room: cowork refuses calls that it cannot record.')
  return free < littleFree ? warn(told, 'Make room soon.') : ok(told)
}

export function checkService(context: Context): CheckResult | CheckResult[] {
  if (!isInstalled(context)) return []
  const { title, file } = getServiceManager(context)
  return isUpToDate(context)
    ? ok(`cowork starts at login through ${title}`)
    : warn(
        `${file} starts cowork otherwise than this program would.`,
        'Run `cowork service install` again.',
      )
}

export async function checkDaemon(context: Context): Promise<CheckResult | CheckResult[]> {
  const daemon = findRunningDaemon(context.paths)
  if (!daemon) return warn(`None runs on ${context.paths.dir}.`, 'Start one with `cowork up -d`.')
  const { auth, halts } = await createClient(context).call('cowork_status')
  const told = `cowork ${daemon.version} runs (process ${daemon.pid}, port ${daemon.port}, ${auth} mode)`
  return [
    daemon.version === version()
      ? ok(told)
      : warn(`${told}, this program is ${version()}`, 'Run `cowork restart`.'),
    ...halts.map(({ scope, by }) =>
      about('halt', warn(`${scope} is halted by ${by}.`, `\`cowork resume ${scope}\` lifts it.`)),
    ),
  ]
}

/** Ours when the daemon runs, else free: on both loopbacks, or a browser could end up at a stranger's (SV20). */
export async function checkPort({ paths }: Context, { config }: Settings): Promise<CheckResult> {
  const daemon = findRunningDaemon(paths)
  const { port, tls } = config.server
  if (daemon) {
    const url = `${tls ? 'https' : 'http'}://localhost:${daemon.port}/readyz`
    const answer = tls ? undefined : await fetch(url, { signal: AbortSignal.timeout(5000) })
    if (answer && !answer.ok)
      return fail(`${url} answers ${answer.status}.`, 'Look into `cowork logs`.')
    return port === daemon.port || port === 0
      ? ok(`${daemon.port} is the daemon's`)
      : warn(
          `The daemon is on ${daemon.port}, the configuration says ${port}.`,
          '`cowork restart` takes the configured one if it is free, unless PORT says otherwise.',
        )
  }
  const taken = []
  for (const address of ['127.0.0.1', '::1']) if (await isTaken(port, address)) taken.push(address)
  return taken.length === 0
    ? ok(`${port} is free`)
    : fail(
        `Another program listens on port ${port} of ${taken.join(' and ')}.`,
        'End it, or set another server.port.',
      )
}

function isTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error && error.code === 'EADDRINUSE'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)))
  })
}

export function checkBind({ config }: Settings): CheckResult {
  const { host, tls, insecure_bind: insecure } = config.server
  if (['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase()))
    return ok(`${host}: this machine only`)
  if (tls) return ok(`${host} with TLS`)
  return insecure
    ? warn(
        `${host} without TLS: whoever is on the way can read tokens.`,
        'Set server.tls, unless only a container’s network can reach it.',
      )
    : fail(
        `${host} is not this machine alone, and there is no server.tls: start is refused.`,
        'Set server.tls, or server.host to localhost.',
      )
}
