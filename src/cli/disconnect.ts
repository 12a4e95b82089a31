import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import { findClient } from './clients/client-registry.ts'
import type { Client } from './clients/client-registry.ts'
import {
  isBlank,
  readClientFile,
  removeClientFile,
  writeClientFile,
} from './clients/client-file.ts'
import type { ClientFile } from './clients/client-file.ts'
import { revertEdits } from './clients/edits.ts'
import { clientConfigPath, matchesConnection } from './connect.ts'
import { deleteConnection, readConnections } from './connections.ts'
import type { Connection } from './connections.ts'
import type { Context } from './context.ts'
import { findRunningDaemon, stopDaemon } from './daemon.ts'
import { isInstalled, unregisterService } from './service.ts'
import { confirm, diffLines, printNote } from './terminal.ts'
import type { PromptOptions } from './terminal.ts'

export type DisconnectOptions = PromptOptions & {
  readonly configFile?: string
  readonly keepAgent?: boolean
}

/** Removes only our entry from a client's config file, and revokes the client's agent. */
export async function disconnect(
  context: Context,
  clientName: string,
  options: DisconnectOptions,
): Promise<void> {
  const client = findClient(clientName)
  const plan = planRemoval(context, client, options.configFile)
  const { revoked, forget } = options.keepAgent
    ? { revoked: undefined, forget: false }
    : await planAgentRevocation(context, plan)
  printNote(plan.hunks.length > 0 ? diffLines(plan.file.file, plan.hunks) : [], options)
  const revocation = revoked === undefined ? '' : ` and revoke agent ${revoked}`
  await confirm(`Disconnect ${client.title}${revocation}?`, options)
  // First: if it is refused, nothing has changed.
  if (revoked !== undefined)
    await createClient(context).call('cowork_revoke_agent', { id: revoked })
  const backup = removeEntry(context, plan, forget)
  const agent = revoked === undefined ? {} : { revoked }
  const value = { client: client.id, file: plan.file.file, ...agent, ...(backup && { backup }) }
  context.out.data(value, () => [
    `Disconnected ${client.title}${revoked === undefined ? '' : ` and revoked agent ${revoked}`}.`,
  ])
}

type Removal = {
  readonly client: Client
  readonly connection: Connection | undefined
  readonly file: ClientFile
  readonly text: string
  readonly hunks: ReturnType<typeof revertEdits>['hunks']
  /** The agent of the entry, unless another connection uses it too. */
  readonly agent: string | undefined
}

function planRemoval(context: Context, client: Client, configFile?: string): Removal {
  const known = readConnections(context.paths)
  const ofClient = known.filter((row) => row.client === client.id)
  const path = clientConfigPath(context, client, configFile)
  const connection =
    ofClient.find(matchesConnection(client, path)) ??
    (configFile === undefined && ofClient.length === 1 ? ofClient[0] : undefined)
  const file = readClientFile(connection?.file ?? path)
  const places = connection?.entries ?? client.places.map((place) => ({ place }))
  const { text, hunks } = revertEdits(client.format, file, places)
  if (!connection && hunks.length === 0)
    throw new CoworkError('not_found', `${client.title} is not connected in ${file.file}.`, {
      hint: 'Run `cowork connect` to list clients, or name another file with --config-file.',
    })
  const isShared = known.some((row) => row !== connection && row.agent === connection?.agent)
  return { client, connection, file, text, hunks, agent: isShared ? undefined : connection?.agent }
}

/** Updates the client's file and the stored connections; returns the backup. */
export function removeEntry(
  { paths }: Context,
  removal: Removal,
  forget: boolean,
): string | undefined {
  const { client, connection, file, text, agent } = removal
  const isCreatedByUs = connection?.created_file === true && file.exists && isBlank(text)
  const first = connection?.backup
  const isRestored =
    first !== undefined && existsSync(first) && readFileSync(first, 'utf8') === text
  let backup: string | undefined
  if (isCreatedByUs) removeClientFile(file)
  else if (isRestored) {
    // The file equals its backup again, so the backup is not needed.
    writeClientFile(file, text)
    rmSync(first)
  } else if (text !== file.text) backup = writeClientFile(file, text, systemClock())
  if (forget && agent !== undefined) rmSync(paths.agentToken(agent), { force: true })
  if (connection) deleteConnection(paths, { client: client.id, file: connection.file })
  return backup
}

/** Decides which agent to revoke, and whether to delete its stored token. */
async function planAgentRevocation(
  context: Context,
  { agent }: Removal,
): Promise<{ revoked: string | undefined; forget: boolean }> {
  if (agent === undefined) return { revoked: undefined, forget: false }
  const { agents } = await createClient(context).call('cowork_list_agents')
  const match = agents.find(({ id, status }) => id === agent && status === 'active')
  return {
    revoked: match?.source === 'store' ? agent : undefined,
    // An agent of cowork.yaml stays, and so does its token.
    forget: match === undefined || match.source === 'store',
  }
}

export type UninstallOptions = PromptOptions & {
  readonly purge?: boolean
  readonly timeout: number
}

/** Removes connections and the service and stops the daemon; data is deleted only after two confirmations (K12). */
export async function uninstall(context: Context, options: UninstallOptions): Promise<void> {
  const { paths, out } = context
  const removals = readConnections(paths).map(({ client, file }) =>
    planRemoval(context, findClient(client), file),
  )
  const hasService = isInstalled(context)
  const daemon = findRunningDaemon(paths)
  const steps = [
    ...removals.map(({ client, file }) => `disconnect ${client.title} (${file.file})`),
    ...(hasService ? ['remove the login service'] : []),
    ...(daemon ? [`stop the daemon (process ${daemon.pid})`] : []),
    ...(options.purge ? [`delete the data in ${paths.dir}, including the ledger`] : []),
  ]
  if (steps.length === 0)
    return out.data({ undone: [] }, () => [`Nothing to uninstall. Data remains in ${paths.dir}.`])
  printNote(['Uninstall will:', ...steps.map((act) => `  ${act}`)], options)
  await confirm('Continue?', options)
  if (options.purge)
    await confirm(`Delete the data in ${paths.dir}? This cannot be undone.`, options, false)

  for (const removal of removals) await disconnectClient(context, removal, daemon !== undefined)
  if (hasService) await unregisterService(context)
  await stopDaemon(paths, options.timeout * 1000)
  const remaining = options.purge ? purge(paths.dir) : undefined
  out.data(
    { undone: steps, purged: options.purge ?? false, ...(remaining && { left: remaining }) },
    () => [
      ...steps.map((act) => `done: ${act}`),
      ...(options.purge
        ? []
        : [`Data remains in ${paths.dir}. Run \`cowork uninstall --purge\` to delete it.`]),
      ...(remaining && remaining.length > 0
        ? [`Other files remain in ${paths.dir}: ${remaining.join(', ')}`]
        : []),
    ],
  )
}

async function disconnectClient(
  context: Context,
  removal: Removal,
  canRevoke: boolean,
): Promise<void> {
  const plan = canRevoke
    ? await planAgentRevocation(context, removal)
    : { revoked: undefined, forget: true }
  if (plan.revoked !== undefined)
    await createClient(context)
      .call('cowork_revoke_agent', { id: plan.revoked })
      // Revoking may need a passkey, in the console; the client is disconnected anyway.
      .catch((error: unknown) => {
        if (!(error instanceof CoworkError) || error.code !== 'passkey_required') throw error
        context.out.note(`${plan.revoked} is not revoked: revoke it in the console.`)
      })
  removeEntry(context, removal, plan.forget)
}

const stateFileNames =
  /^(cowork\.|owner\.token|ledger\.|lock\.db|(daemon|api)\.|checkpoints|connections\.json|service\.xml|mcp-settings\.json|node$|logs$|agents$|trash$|versions$|backups$|before-restore-)/

/** Deletes known names only: the state directory may contain other files. Returns the remaining names. */
export function purge(folder: string): string[] {
  if (!existsSync(folder)) return []
  if (folder === homedir() || dirname(folder) === folder)
    throw new CoworkError('usage', `Not a state directory: ${folder}.`, {
      hint: 'Delete unwanted files manually.',
    })
  for (const name of readdirSync(folder).filter((name) => stateFileNames.test(name)))
    rmSync(join(folder, name), { recursive: true })
  const remaining = readdirSync(folder)
  if (remaining.length === 0) rmdirSync(folder)
  return remaining
}
