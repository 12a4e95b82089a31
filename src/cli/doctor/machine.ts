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
  withCheckName,
  fail,
  ok,
  nearestExistingFolder,
  describeFolderIssue,
  warn,
} from './check-result.ts'
import type { CheckResult } from './check-result.ts'

const minNodeMajor = 24

export function checkRuntime(): CheckResult {
  const { version, versions, platform, arch } = process
  const message = `Node ${version} on ${platform}-${arch}, SQLite ${versions['sqlite'] ?? 'missing'}`
  return Number(versions.node.split('.')[0]) >= minNodeMajor
    ? ok(message)
    : fail(message, `Install Node ${minNodeMajor} or newer.`)
}

/** Checks that only their owner can read secrets. */
export function checkFiles(
  { paths }: Context,
  settings: Settings | undefined,
): CheckResult | CheckResult[] {
  const issue = describeFolderIssue(paths.dir)
  if (issue !== undefined)
    return fail(
      `The state directory cannot be used: ${issue}.`,
      'Name another state directory with --state or COWORK_STATE_DIR.',
    )
  if (!existsSync(paths.dir))
    return warn(
      `${paths.dir} does not exist yet.`,
      'Run `cowork init` or `cowork up` to create it.',
    )
  if (process.platform === 'win32') return ok(`${paths.dir} (no file modes on Windows)`)
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
  // A private folder protects its files; other files need a private mode. Commands check the mode of the owner's token.
  const exposed = open.filter(
    (file) => open.includes(paths.dir) || !file.startsWith(paths.dir) || file === paths.ownerToken,
  )
  if (exposed.length > 0)
    return exposed.map((file) =>
      fail(`Other users can read ${file}.`, `chmod ${file === paths.dir ? 700 : 600} ${file}`),
    )
  return ok(`${paths.dir} is private`)
}

const bytesPerMiB = 1024 * 1024
const minFreeMiB = 200
const lowFreeMiB = 2000

export function checkDisk(paths: StatePaths): CheckResult {
  const folder = nearestExistingFolder(paths.dir)
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / bytesPerMiB)
  const message = `${free} MiB free at ${folder}`
  // A full disk prevents recording, so cowork refuses calls.
  if (free < minFreeMiB)
    return fail(message, 'Free disk space: cowork refuses calls that it cannot record.')
  return free < lowFreeMiB ? warn(message, 'Free disk space.') : ok(message)
}

export function checkService(context: Context): CheckResult | CheckResult[] {
  if (!isInstalled(context)) return []
  const { title, file } = getServiceManager(context)
  return isUpToDate(context)
    ? ok(`cowork starts at login through ${title}`)
    : warn(
        `${file} differs from the current service settings.`,
        'Run `cowork service install` again.',
      )
}

export async function checkDaemon(context: Context): Promise<CheckResult | CheckResult[]> {
  const daemon = findRunningDaemon(context.paths)
  if (!daemon)
    return warn(`The daemon is not running on ${context.paths.dir}.`, 'Run `cowork up -d`.')
  const { auth, halts } = await createClient(context).call('cowork_status')
  const message = `cowork ${daemon.version} is running (process ${daemon.pid}, port ${daemon.port}, ${auth} mode)`
  return [
    daemon.version === version()
      ? ok(message)
      : warn(`${message}, the command line is ${version()}`, 'Run `cowork restart`.'),
    ...halts.map(({ scope, by }) =>
      withCheckName(
        'halt',
        warn(`${scope} is halted by ${by}.`, `Run \`cowork resume ${scope}\`.`),
      ),
    ),
  ]
}

/** Checks the port on both loopback addresses: a browser could reach another program on one of them (SV20). */
export async function checkPort({ paths }: Context, { config }: Settings): Promise<CheckResult> {
  const daemon = findRunningDaemon(paths)
  const { port, tls } = config.server
  if (daemon) {
    const url = `${tls ? 'https' : 'http'}://localhost:${daemon.port}/readyz`
    const answer = tls ? undefined : await fetch(url, { signal: AbortSignal.timeout(5000) })
    if (answer && !answer.ok) return fail(`${url} returned ${answer.status}.`, 'Run `cowork logs`.')
    return port === daemon.port || port === 0
      ? ok(`${daemon.port} is used by the daemon`)
      : warn(
          `The daemon uses port ${daemon.port}, but the configuration has ${port}.`,
          'Run `cowork restart` to use the configured port, unless PORT overrides it.',
        )
  }
  const usedAddresses = []
  for (const address of ['127.0.0.1', '::1'])
    if (await isPortInUse(port, address)) usedAddresses.push(address)
  return usedAddresses.length === 0
    ? ok(`${port} is free`)
    : fail(
        `Another program uses port ${port} on ${usedAddresses.join(' and ')}.`,
        'Stop that program, or set another server.port.',
      )
}

function isPortInUse(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error && error.code === 'EADDRINUSE'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)))
  })
}

export function checkBind({ config }: Settings): CheckResult {
  const { host, tls, insecure_bind: insecure } = config.server
  if (['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase()))
    return ok(`${host}: local connections only`)
  if (tls) return ok(`${host} with TLS`)
  return insecure
    ? warn(
        `${host} without TLS: the network can read tokens.`,
        'Set server.tls, unless only a container network reaches it.',
      )
    : fail(
        `${host} accepts remote connections without server.tls: the daemon refuses to start.`,
        'Set server.tls, or server.host to localhost.',
      )
}
