import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { isGone, liveGrants } from '../grants.ts'
import type { Grant } from '../grants.ts'
import { countText, plain } from '../output.ts'
import type { Settings } from '../settings.ts'
import { readProjects } from '../work/asking.ts'
import type { ProjectBrief } from '../work/wire.ts'
import { holdsText } from '../workspace.ts'
import type { WorkspaceInfo } from '../workspace.ts'
import { about, fail, ok, troubleWith, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Plans of work that cannot be read, or do not say what was acknowledged. */
const planFaults = async (client: Client): Promise<Finding[]> =>
  (await readProjects(client)).flatMap(faultsOf)

function faultsOf({ project, broken = [], unwritten }: ProjectBrief): Finding[] {
  const name = plain(project)
  const [first] = broken
  const findings: Finding[] = []
  if (first)
    findings.push(
      fail(
        `The plan of ${name} cannot be read at ${first.line}:${first.column}: ${plain(first.message)}`,
        `Mend the file; \`cowork work projects ${name}\` says in which folder it is.`,
      ),
    )
  if (unwritten)
    findings.push(
      fail(
        `The files of ${name} lack what changed since ${unwritten.since}: ${plain(unwritten.message)}`,
        'Take away what is in the way. Nothing is lost, and it is tried again every two seconds.',
      ),
    )
  return findings
}

/** Where agents keep their files, how well the disk is guarded from them, and what they may see of ours. */
export async function checkWorkspace(context: Context, settings: Settings): Promise<Finding[]> {
  const folder = workspaceFolder(settings)
  if (!runningDaemon(context.paths)) return [folder]
  const client = createClient(context)
  const info = await client.call('get_workspace_info')
  const grants = await liveGrants(client)
  const dead = [
    ...grants.filter(({ replaced }) => replaced).map(deadGrant),
    ...leftOut(settings, grants),
  ]
  const told = dead.length > 0 ? dead : [ok(countText(grants.length, 'grant'))]
  return [
    folder.state === 'ok' ? inUse(settings, info) : folder,
    about('containment', containmentOf(info)),
    ...told.map((one) => about('grants', one)),
  ]
}

function deadGrant({ id, path }: Grant): Finding {
  const revoke = `\`cowork grants revoke ${id.replace(/^grant_/, '')}\``
  if (isGone(path)) return warn(`${plain(path)} is granted and gone.`, `${revoke} closes it.`)
  return warn(
    `${plain(path)} is granted, but something else is there now: the grant does not open it.`,
    `Grant it anew with \`cowork grants add ${plain(path)}\`, or close it with ${revoke}.`,
  )
}

/** What stands in the configuration and opens nothing: only the log told of it. */
function leftOut({ config }: Settings, grants: readonly Grant[]): Finding[] {
  const inForce = grants.filter(({ granted_by: by }) => by === 'system_setup')
  return config.grants.entries
    .filter(({ expires_at: until }) => until === undefined || Date.parse(until) > Date.now())
    .filter(({ path, permission }) => {
      const real = realOf(path)
      return !inForce.some((grant) => grant.path === real && grant.permission === permission)
    })
    .map(({ path }) =>
      warn(
        `The configuration grants ${plain(path)}, which is not in force${realOf(path) === undefined ? ': nothing is there' : ''}.`,
        '`cowork logs` says why it was left out; `cowork restart` reads it again.',
      ),
    )
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** The one that the daemon uses: another may have been chosen since it started. */
function inUse({ config }: Settings, info: WorkspaceInfo): Finding {
  const { workspace_path: used } = info
  const told = `${used}: ${holdsText(info)}`
  return realpathSync(config.workspace.path) === used
    ? ok(told)
    : warn(
        `The daemon uses ${used}, the configuration says ${config.workspace.path}.`,
        '`cowork restart` takes the configured one, unless WORKSPACE_PATH says otherwise.',
      )
}

function workspaceFolder({ config }: Settings): Finding {
  const { path, create_if_missing: isMade } = config.workspace
  const found = statSync(path, { throwIfNoEntry: false })
  const remedy = 'Name another folder in workspace.path, or mend this one.'
  if (!found)
    return isMade
      ? warn(`There is no ${path} yet.`, 'The next `cowork up` makes it.')
      : fail(`There is no ${path}: start is refused.`, `Make it: mkdir -p ${path}`)
  if (!found.isDirectory()) return fail(`${path} is not a folder.`, remedy)
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail(`${path} cannot be written by this account.`, remedy)
  }
  return ok(path)
}

/** Where the plan of work is kept: a daemon that cannot use it refuses every call about work. */
export async function checkWorkData(context: Context, { config }: Settings): Promise<Finding[]> {
  const { data_root: folder } = config.work
  if (runningDaemon(context.paths)) {
    const faults = await planFaults(createClient(context))
    return faults.length > 0 ? faults : [ok(folder)]
  }
  const trouble = troubleWith(folder)
  if (trouble !== undefined)
    return [
      fail(
        `${trouble}: calls about work are refused.`,
        'Name another folder in work.data_root or WORKSYNC_DATA_ROOT.',
      ),
    ]
  return [ok(existsSync(folder) ? folder : `${folder}, made at the first start`)]
}

function containmentOf({ containment }: WorkspaceInfo): Finding {
  if (containment === 'landlock')
    return ok('the kernel keeps the file worker in granted folders (Landlock)')
  if (containment === 'walk')
    return warn(
      'Agents are kept in granted folders by cowork alone; the kernel does not help.',
      'Use Linux 5.13 or newer with Landlock enabled (lsm=…,landlock), not blocked by a container.',
    )
  if (containment === 'checked')
    return ok('paths are checked before and after each access: best effort here')
  return ok('the file worker is starting')
}
