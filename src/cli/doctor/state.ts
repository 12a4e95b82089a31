import { existsSync, realpathSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { assertNotTruncated, verifyLedger, verifyTail } from '#ledger'
import { openStoredLedger } from '../audit-verify.ts'
import { createClient } from '../client.ts'
import { findClient } from '../clients/client-registry.ts'
import { readClientFile } from '../clients/client-file.ts'
import { getValue } from '../clients/edits.ts'
import { hashValue } from '../connect.ts'
import { readConnections } from '../connections.ts'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'
import { toProblem } from '../exit.ts'
import { isMissing, listActiveGrants } from '../grants.ts'
import type { Grant } from '../grants.ts'
import { realPathOf } from '../launcher.ts'
import { pluralize, sanitize } from '../output.ts'
import type { Settings } from '../settings.ts'
import { readProjects } from '../work/requests.ts'
import type { ProjectBrief } from '../work/wire.ts'
import { formatUsage } from '../workspace.ts'
import type { WorkspaceInfo } from '../workspace.ts'
import { about, fail, ok, describeFolderIssue, warn } from './check-result.ts'
import type { CheckResult } from './check-result.ts'

/** Whether each client's file still says what we wrote, and whether that still works. */
export async function checkConnections(context: Context): Promise<CheckResult[]> {
  const connections = readConnections(context.paths)
  const daemon = findRunningDaemon(context.paths)
  const active = connections.length > 0 && daemon ? await activeAgents(context) : undefined
  return connections.map((one) => {
    try {
      const wrong = drift(one) ?? stale(one, context, active, daemon?.port)
      return wrong ?? ok(`${one.client} as ${one.agent} over ${one.via} (${one.file})`)
    } catch (error) {
      const { message, hint = '' } = toProblem(error)
      return warn(message, hint)
    }
  })
}

function drift({ client: id, file, entries }: Connection): CheckResult | undefined {
  const client = findClient(id)
  const again = `Write it anew with \`cowork connect ${id}\`, or undo it with \`cowork disconnect ${id}\`.`
  const source = readClientFile(file)
  for (const { place, digest } of entries) {
    const value = getValue(client.format, source, place)
    if (value === undefined) return warn(`Our entry is gone from ${file}.`, again)
    const { command, args = [] } = value as { command?: string; args?: string[] }
    const missing = [command, args.find((word) => word !== '--')].find(
      (path) => path !== undefined && !existsSync(path),
    )
    if (missing !== undefined) return fail(`${file} starts ${missing}, which is not there.`, again)
    if (hashValue(value) !== digest) return warn(`Our entry in ${file} was changed since.`, again)
  }
  return undefined
}

function stale(
  { client, agent, via, file, entries }: Connection,
  { paths }: Context,
  active: ReadonlySet<string> | undefined,
  port: number | undefined,
): CheckResult | undefined {
  const again = `Give it a new one with \`cowork connect ${client}\`.`
  if (active && !active.has(agent))
    return fail(`${client} speaks for the agent ${agent}, which is revoked.`, again)
  const { format, places } = findClient(client)
  const entry = getValue(format, readClientFile(file), places[0]) as { url?: string; env?: object }
  const isInline = entry.env !== undefined && 'COWORK_TOKEN' in entry.env
  if (via === 'stdio' && !isInline && entries.length > 0 && !existsSync(paths.agentToken(agent)))
    return fail(`The token of ${agent} is not in ${paths.agentToken(agent)}.`, again)
  if (entry.url !== undefined && port !== undefined && new URL(entry.url).port !== String(port))
    return fail(`${client} calls ${entry.url}, the daemon is on port ${port}.`, again)
  return undefined
}

async function activeAgents(context: Context): Promise<ReadonlySet<string>> {
  const { agents } = await createClient(context).call('cowork_list_agents')
  return new Set(agents.filter(({ status }) => status === 'active').map(({ id }) => id))
}

const minute = 60_000

/** Whether the store can be read, its clock is ours, and the ledger is whole: its end, or with `deep` all of it. */
export async function checkStore(
  context: Context,
  settings: Settings,
  deep: boolean,
): Promise<CheckResult[]> {
  const { storage, ledger: kept } = settings.config
  const { url, path } = storage
  const copies = kept.checkpoint_copies
  if (!url && !existsSync(path)) {
    const cut = cutAt(copies, 0)
    return cut.length > 0
      ? cut
      : [warn(`There is no ${path} yet.`, 'The first `cowork up` makes it.')]
  }
  await using ledger = await openStoredLedger(context, settings)
  const findings = [ok(url ? 'PostgreSQL answers' : path)]
  if (!existsSync(kept.key_path))
    findings.push(
      fail(
        `It is signed by ${ledger.vkey}, but ${kept.key_path} is not there: start is refused.`,
        'Copy the key from a backup, or from the daemon that began this store.',
      ),
    )
  const tail = await verifyTail(ledger.db, ledger.vkey, { mac: ledger.mac })
  // A daemon that runs may have signed more since we looked.
  if (!findRunningDaemon(context.paths)) findings.push(...cutAt(copies, tail.size))
  const ahead = (tail.newestAt ?? 0) - systemClock()
  findings.push(
    about(
      'clock',
      ahead > minute
        ? fail(
            `The newest entry is ${Math.ceil(ahead / minute)} minutes ahead of this machine's clock.`,
            'Set the clock right: new entries would seem older than those before them.',
          )
        : ok('not behind the newest entry'),
    ),
  )
  return [...findings, about('ledger', await checkLedger(context, ledger, tail, deep))]
}

type Stored = Awaited<ReturnType<typeof openStoredLedger>>
type Tail = Awaited<ReturnType<typeof verifyTail>>

async function checkLedger({ out }: Context, ledger: Stored, tail: Tail, deep: boolean) {
  const { source, vkey, mac, replays } = ledger
  if (!deep && !tail.problem)
    return ok(
      `the newest of ${tail.size} entries are in order, signed up to ${tail.signed} (--deep checks all)`,
    )
  const onProgress = (entries: number) => out.progress(`${entries} entries checked…`)
  const whole = deep
    ? await verifyLedger(source, vkey, { mac, deep, onProgress, replays })
    : undefined
  const problem = whole?.firstBad ?? whole?.findings[0] ?? tail.problem
  return problem
    ? fail(
        `Entry ${problem.seq}: ${problem.why}.`,
        '`cowork audit verify` tells all; keep the store as it is and compare it with a backup.',
      )
    : ok(`all ${whole?.entries ?? tail.size} entries are as they were written`)
}

/** Entries that were signed and are gone: the next start is refused for them. */
function cutAt(copies: readonly string[], size: number): CheckResult[] {
  try {
    assertNotTruncated(copies, size)
    return []
  } catch (error) {
    const { message, hint = '' } = toProblem(error)
    return [fail(message, hint)]
  }
}

/** Why a plan of work cannot be read, or does not say what was acknowledged. */
function faultsOf({ project, broken = [], unwritten }: ProjectBrief): CheckResult[] {
  const name = sanitize(project)
  const [first] = broken
  const findings: CheckResult[] = []
  if (first)
    findings.push(
      fail(
        `The plan of ${name} cannot be read at ${first.line}:${first.column}: ${sanitize(first.message)}`,
        `Mend the file; \`cowork work projects ${name}\` says in which folder it is.`,
      ),
    )
  if (unwritten)
    findings.push(
      fail(
        `The files of ${name} lack what changed since ${unwritten.since}: ${sanitize(unwritten.message)}`,
        'Take away what is in the way. Nothing is lost, and it is tried again every two seconds.',
      ),
    )
  return findings
}

/** Where agents keep their files, how well the disk is guarded from them, and what they may see of ours. */
export async function checkWorkspace(context: Context, settings: Settings): Promise<CheckResult[]> {
  const folder = workspaceFolder(settings)
  if (!findRunningDaemon(context.paths)) return [folder]
  const client = createClient(context)
  const info = await client.call('get_workspace_info')
  const grants = await listActiveGrants(client)
  const dead = [
    ...grants.filter(({ replaced }) => replaced).map(deadGrant),
    ...leftOut(settings, grants),
  ]
  const told = dead.length > 0 ? dead : [ok(pluralize(grants.length, 'grant'))]
  return [
    folder.state === 'ok' ? inUse(settings, info) : folder,
    about('containment', containmentOf(info)),
    ...told.map((one) => about('grants', one)),
  ]
}

function deadGrant({ id, path }: Grant): CheckResult {
  const revoke = `\`cowork grants revoke ${id.replace(/^grant_/, '')}\``
  if (isMissing(path)) return warn(`${sanitize(path)} is granted and gone.`, `${revoke} closes it.`)
  return warn(
    `${sanitize(path)} is granted, but something else is there now: the grant does not open it.`,
    `Grant it anew with \`cowork grants add ${sanitize(path)}\`, or close it with ${revoke}.`,
  )
}

/** What stands in the configuration and opens nothing: only the log told of it. */
function leftOut({ config }: Settings, grants: readonly Grant[]): CheckResult[] {
  const inForce = grants.filter(({ granted_by: by }) => by === 'system_setup')
  return config.grants.entries
    .filter(({ expires_at: until }) => until === undefined || Date.parse(until) > Date.now())
    .filter(({ path, permission }) => {
      const real = realPathOf(path)
      return !inForce.some((grant) => grant.path === real && grant.permission === permission)
    })
    .map(({ path }) =>
      warn(
        `The configuration grants ${sanitize(path)}, which is not in force${realPathOf(path) === undefined ? ': nothing is there' : ''}.`,
        '`cowork logs` says why it was left out; `cowork restart` reads it again.',
      ),
    )
}

/** The one that the daemon uses: another may have been chosen since it started. */
function inUse({ config }: Settings, info: WorkspaceInfo): CheckResult {
  const { workspace_path: used } = info
  const told = `${used}: ${formatUsage(info)}`
  return realpathSync(config.workspace.path) === used
    ? ok(told)
    : warn(
        `The daemon uses ${used}, the configuration says ${config.workspace.path}.`,
        '`cowork restart` takes the configured one, unless WORKSPACE_PATH says otherwise.',
      )
}

function workspaceFolder({ config }: Settings): CheckResult {
  const { path, create_if_missing: isMade } = config.workspace
  if (!existsSync(path))
    return isMade
      ? warn(`There is no ${path} yet.`, 'The next `cowork up` makes it.')
      : fail(`There is no ${path}: start is refused.`, `Make it: mkdir -p ${path}`)
  const trouble = describeFolderIssue(path)
  return trouble === undefined
    ? ok(path)
    : fail(`${trouble}.`, 'Name another folder in workspace.path, or mend this one.')
}

/** Where the plan of work is kept: a daemon that cannot use it refuses every call about work. */
export async function checkWorkData(
  context: Context,
  { config }: Settings,
): Promise<CheckResult[]> {
  const { data_root: folder } = config.work
  if (findRunningDaemon(context.paths)) {
    const faults = (await readProjects(createClient(context))).flatMap(faultsOf)
    return faults.length > 0 ? faults : [ok(folder)]
  }
  const trouble = describeFolderIssue(folder)
  if (trouble !== undefined)
    return [
      fail(
        `${trouble}: calls about work are refused.`,
        'Name another folder in work.data_root or WORKSYNC_DATA_ROOT.',
      ),
    ]
  return [ok(existsSync(folder) ? folder : `${folder}, made at the first start`)]
}

function containmentOf({ containment }: WorkspaceInfo): CheckResult {
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
