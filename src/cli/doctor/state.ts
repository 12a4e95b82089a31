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
import { resolveRealPath } from '../launcher.ts'
import { pluralize, sanitize } from '../output.ts'
import type { Settings } from '../settings.ts'
import { readProjects } from '../work/requests.ts'
import type { ProjectBrief } from '../work/wire.ts'
import { formatUsage } from '../workspace.ts'
import type { WorkspaceInfo } from '../workspace.ts'
import { withCheckName, fail, ok, describeFolderIssue, warn } from './check-result.ts'
import type { CheckResult } from './check-result.ts'

/** Checks that each client's file still has our entry and that the entry works. */
export async function checkConnections(context: Context): Promise<CheckResult[]> {
  const connections = readConnections(context.paths)
  const daemon = findRunningDaemon(context.paths)
  const active = connections.length > 0 && daemon ? await readActiveAgents(context) : undefined
  return connections.map((connection) => {
    try {
      const issue =
        checkEntries(connection) ?? checkAgentAccess(connection, context, active, daemon?.port)
      const { client, agent, via, file } = connection
      return issue ?? ok(`${client} as ${agent} over ${via} (${file})`)
    } catch (error) {
      const { message, hint = '' } = toProblem(error)
      return warn(message, hint)
    }
  })
}

function checkEntries({ client: id, file, entries }: Connection): CheckResult | undefined {
  const client = findClient(id)
  const remedy = `Run \`cowork connect ${id}\` to repair it, or \`cowork disconnect ${id}\`.`
  const source = readClientFile(file)
  for (const { place, digest } of entries) {
    const value = getValue(client.format, source, place)
    if (value === undefined) return warn(`The entry for cowork is missing in ${file}.`, remedy)
    const { command, args = [] } = value as { command?: string; args?: string[] }
    const missing = [command, args.find((word) => word !== '--')].find(
      (path) => path !== undefined && !existsSync(path),
    )
    if (missing !== undefined)
      return fail(`${file} starts ${missing}, which does not exist.`, remedy)
    if (hashValue(value) !== digest)
      return warn(`The entry for cowork in ${file} was changed.`, remedy)
  }
  return undefined
}

function checkAgentAccess(
  { client, agent, via, file, entries }: Connection,
  { paths }: Context,
  active: ReadonlySet<string> | undefined,
  port: number | undefined,
): CheckResult | undefined {
  const remedy = `Run \`cowork connect ${client}\` for a new token.`
  if (active && !active.has(agent))
    return fail(`${client} uses agent ${agent}, which is revoked.`, remedy)
  const { format, places } = findClient(client)
  const entry = getValue(format, readClientFile(file), places[0]) as { url?: string; env?: object }
  const isInline = entry.env !== undefined && 'COWORK_TOKEN' in entry.env
  if (via === 'stdio' && !isInline && entries.length > 0 && !existsSync(paths.agentToken(agent)))
    return fail(`Token of ${agent} not found: ${paths.agentToken(agent)}.`, remedy)
  if (entry.url !== undefined && port !== undefined && new URL(entry.url).port !== String(port))
    return fail(`${client} calls ${entry.url}, but the daemon uses port ${port}.`, remedy)
  return undefined
}

async function readActiveAgents(context: Context): Promise<ReadonlySet<string>> {
  const { agents } = await createClient(context).call('cowork_list_agents')
  return new Set(agents.filter(({ status }) => status === 'active').map(({ id }) => id))
}

const msPerMinute = 60_000

/** Checks that the store can be read, the clock is correct and the ledger verifies: its end, or with `deep` all. */
export async function checkStore(
  context: Context,
  settings: Settings,
  deep: boolean,
): Promise<CheckResult[]> {
  const { storage, ledger: ledgerConfig } = settings.config
  const { url, path } = storage
  const copies = ledgerConfig.checkpoint_copies
  if (!url && !existsSync(path)) {
    const truncation = checkTruncation(copies, 0)
    return truncation.length > 0
      ? truncation
      : [warn(`${path} does not exist yet.`, 'Run `cowork up` to create it.')]
  }
  await using ledger = await openStoredLedger(context, settings)
  const findings = [ok(url ? 'PostgreSQL responds' : path)]
  if (!existsSync(ledgerConfig.key_path))
    findings.push(
      fail(
        `Signing key of ${ledger.vkey} not found: ${ledgerConfig.key_path}. The daemon refuses to start.`,
        'Copy the key from a backup, or from the daemon that created this store.',
      ),
    )
  const tail = await verifyTail(ledger.db, ledger.vkey, { mac: ledger.mac })
  // A running daemon may have signed more in between.
  if (!findRunningDaemon(context.paths)) findings.push(...checkTruncation(copies, tail.size))
  const ahead = (tail.newestAt ?? 0) - systemClock()
  findings.push(
    withCheckName(
      'clock',
      ahead > msPerMinute
        ? fail(
            `The newest entry is ${Math.ceil(ahead / msPerMinute)} minutes ahead of this machine's clock.`,
            'Set the clock: new entries would be older than existing ones.',
          )
        : ok('not behind the newest entry'),
    ),
  )
  return [...findings, withCheckName('ledger', await checkLedger(context, ledger, tail, deep))]
}

type StoredLedger = Awaited<ReturnType<typeof openStoredLedger>>
type Tail = Awaited<ReturnType<typeof verifyTail>>

async function checkLedger({ out }: Context, ledger: StoredLedger, tail: Tail, deep: boolean) {
  const { source, vkey, mac, replays } = ledger
  if (!deep && !tail.problem)
    return ok(
      `the newest of ${tail.size} entries verify, signed up to ${tail.signed} (--deep verifies all)`,
    )
  const onProgress = (entries: number) => out.progress(`${entries} entries checked…`)
  const full = deep
    ? await verifyLedger(source, vkey, { mac, deep, onProgress, replays })
    : undefined
  const problem = full?.firstBad ?? full?.findings[0] ?? tail.problem
  return problem
    ? fail(
        `Entry ${problem.seq}: ${problem.why}.`,
        'Run `cowork audit verify`. Keep the store unchanged and compare it with a backup.',
      )
    : ok(`all ${full?.entries ?? tail.size} entries are unmodified`)
}

/** Checks for signed entries that are missing: the daemon refuses to start without them. */
function checkTruncation(copies: readonly string[], size: number): CheckResult[] {
  try {
    assertNotTruncated(copies, size)
    return []
  } catch (error) {
    const { message, hint = '' } = toProblem(error)
    return [fail(message, hint)]
  }
}

/** Reports an unreadable work index, or one that lacks acknowledged changes. */
function checkProject({ project, broken = [], unwritten }: ProjectBrief): CheckResult[] {
  const name = sanitize(project)
  const [first] = broken
  const findings: CheckResult[] = []
  if (first)
    findings.push(
      fail(
        `Cannot read the work index of ${name} at ${first.line}:${first.column}: ${sanitize(first.message)}`,
        `Fix the file; run \`cowork work projects ${name}\` for its folder.`,
      ),
    )
  if (unwritten)
    findings.push(
      fail(
        `The files of ${name} lack changes since ${unwritten.since}: ${sanitize(unwritten.message)}`,
        'Fix the cause. Nothing is lost: cowork retries every 2 s.',
      ),
    )
  return findings
}

/** Checks the workspace, its sandboxing and the grants. */
export async function checkWorkspace(context: Context, settings: Settings): Promise<CheckResult[]> {
  const folder = checkWorkspaceFolder(settings)
  if (!findRunningDaemon(context.paths)) return [folder]
  const client = createClient(context)
  const info = await client.call('get_workspace_info')
  const grants = await listActiveGrants(client)
  const inactive = [
    ...grants.filter(({ replaced }) => replaced).map(checkInactiveGrant),
    ...checkConfigGrants(settings, grants),
  ]
  const results = inactive.length > 0 ? inactive : [ok(pluralize(grants.length, 'grant'))]
  return [
    folder.state === 'ok' ? checkActiveWorkspace(settings, info) : folder,
    withCheckName('containment', checkContainment(info)),
    ...results.map((result) => withCheckName('grants', result)),
  ]
}

function checkInactiveGrant({ id, path }: Grant): CheckResult {
  const revoke = `\`cowork grants revoke ${id.replace(/^grant_/, '')}\``
  if (isMissing(path))
    return warn(`Granted path not found: ${sanitize(path)}.`, `Run ${revoke} to revoke the grant.`)
  return warn(
    `Granted path was replaced: ${sanitize(path)}. The grant is inactive.`,
    `Run \`cowork grants add ${sanitize(path)}\` to grant it again, or ${revoke}.`,
  )
}

/** Reports grants of the configuration that are not active; the log has the reason. */
function checkConfigGrants({ config }: Settings, grants: readonly Grant[]): CheckResult[] {
  const active = grants.filter(({ granted_by: by }) => by === 'system_setup')
  return config.grants.entries
    .filter(({ expires_at: until }) => until === undefined || Date.parse(until) > Date.now())
    .filter(({ path, permission }) => {
      const real = resolveRealPath(path)
      return !active.some((grant) => grant.path === real && grant.permission === permission)
    })
    .map(({ path }) =>
      warn(
        `The configured grant for ${sanitize(path)} is not active${resolveRealPath(path) === undefined ? ': path not found' : ''}.`,
        'Run `cowork logs` for the reason, and `cowork restart` to apply it.',
      ),
    )
}

/** Checks the workspace in use: the configuration may have changed since the start. */
function checkActiveWorkspace({ config }: Settings, info: WorkspaceInfo): CheckResult {
  const { workspace_path: current } = info
  const message = `${current}: ${formatUsage(info)}`
  return realpathSync(config.workspace.path) === current
    ? ok(message)
    : warn(
        `The daemon uses ${current}, but the configuration has ${config.workspace.path}.`,
        'Run `cowork restart` to use the configured folder, unless WORKSPACE_PATH overrides it.',
      )
}

function checkWorkspaceFolder({ config }: Settings): CheckResult {
  const { path, create_if_missing: isCreated } = config.workspace
  if (!existsSync(path))
    return isCreated
      ? warn(`${path} does not exist yet.`, 'Run `cowork up` to create it.')
      : fail(
          `Workspace not found: ${path}. The daemon refuses to start.`,
          `Run \`mkdir -p ${path}\`.`,
        )
  const issue = describeFolderIssue(path)
  return issue === undefined
    ? ok(path)
    : fail(
        `The workspace cannot be used: ${issue}.`,
        'Set another workspace.path, or fix this folder.',
      )
}

/** Checks the work data folder: without it, the daemon refuses calls on work items. */
export async function checkWorkData(
  context: Context,
  { config }: Settings,
): Promise<CheckResult[]> {
  const { data_root: folder } = config.work
  if (findRunningDaemon(context.paths)) {
    const issues = (await readProjects(createClient(context))).flatMap(checkProject)
    return issues.length > 0 ? issues : [ok(folder)]
  }
  const issue = describeFolderIssue(folder)
  if (issue !== undefined)
    return [
      fail(
        `The work data folder cannot be used: ${issue}. Calls on work items are refused.`,
        'Set another work.data_root or WORKSYNC_DATA_ROOT.',
      ),
    ]
  return [ok(existsSync(folder) ? folder : `${folder}, created at the first start`)]
}

function checkContainment({ containment }: WorkspaceInfo): CheckResult {
  if (containment === 'landlock')
    return ok('the kernel confines the file worker to granted folders (Landlock)')
  if (containment === 'walk')
    return warn(
      'Only path checks confine agents to granted folders: the kernel has no Landlock.',
      'Use Linux 5.13 or newer with Landlock enabled (lsm=…,landlock), not blocked by a container.',
    )
  if (containment === 'checked')
    return ok('paths are checked before and after each access (best effort)')
  return ok('file worker starting')
}
