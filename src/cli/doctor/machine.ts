import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StatePaths } from '#base/state.ts'
import { connectionsFile } from '../connections.ts'
import type { Context } from '../context.ts'
import { isCurrent, isInstalled, managerFor } from '../service.ts'
import type { Settings } from '../settings.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'
import { thereOf, troubleWith } from './folder.ts'

const neededNode = 24

export function checkRuntime(): Finding[] {
  const { version, versions, platform, arch } = process
  const told = `Node ${version} on ${platform}-${arch}, SQLite ${versions['sqlite'] ?? 'missing'}`
  return Number(versions.node.split('.')[0]) >= neededNode
    ? [ok('runtime', told)]
    : [fail('runtime', told, `Install Node ${neededNode} or newer.`)]
}

/** Secrets must be readable by their owner alone. */
export function checkFiles({ paths }: Context, settings: Settings | undefined): Finding[] {
  const trouble = troubleWith(paths.dir)
  if (trouble !== undefined)
    return [
      fail(
        'files',
        `${trouble}: nothing can be kept there.`,
        'Name another state folder with --state or COWORK_STATE_DIR.',
      ),
    ]
  if (!existsSync(paths.dir))
    return [
      warn('files', `There is no ${paths.dir} yet.`, '`cowork init` or `cowork up` makes it.'),
    ]
  if (process.platform === 'win32')
    return [ok('files', `${paths.dir} (modes are not a thing here)`)]
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
      fail('files', `Other users can read ${file}.`, `chmod ${modeFor(file, paths)} ${file}`),
    )
  return [ok('files', `${paths.dir} is closed to other users`)]
}

const modeFor = (file: string, paths: StatePaths) => (file === paths.dir ? '700' : '600')

const mebibyte = 1024 * 1024
const leastFree = 200
const littleFree = 2000

export function checkDisk(paths: StatePaths): Finding[] {
  const folder = thereOf(paths.dir)
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / mebibyte)
  const told = `${free} MiB free at ${folder}`
  // Without room nothing can be recorded, and what cannot be recorded is not done.
  if (free < leastFree)
    return [fail('disk', told, 'Make room: cowork refuses calls that it cannot record.')]
  return free < littleFree ? [warn('disk', told, 'Make room soon.')] : [ok('disk', told)]
}

export function checkService(context: Context): Finding[] {
  if (!isInstalled(context)) return []
  const { title, file } = managerFor(context)
  return isCurrent(context)
    ? [ok('service', `cowork starts at login through ${title}`)]
    : [
        warn(
          'service',
          `${file} starts cowork otherwise than this program would.`,
          'Run `cowork service install` again.',
        ),
      ]
}
