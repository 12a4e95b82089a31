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

/** Takes our entry out of a client's file, and nothing else, and ends the agent that it spoke for. */
export async function disconnect(
  context: Context,
  given: string,
  options: DisconnectOptions,
): Promise<void> {
  const client = findClient(given)
  const plan = planRemoval(context, client, options.configFile)
  const { revoked, forget } = options.keepAgent
    ? { revoked: undefined, forget: false }
    : await planAgentRevocation(context, plan)
  printNote(plan.hunks.length > 0 ? diffLines(plan.file.file, plan.hunks) : [], options)
  const end = revoked === undefined ? '' : ` and revoke the agent ${revoked}`
  await confirm(`Disconnect ${client.title}${end}?`, options)
  // First, because it may be refused: then nothing has changed.
  if (revoked !== undefined)
    await createClient(context).call('cowork_revoke_agent', { id: revoked })
  const backup = removeEntry(context, plan, forget)
  const agent = revoked === undefined ? {} : { revoked }
  const value = { client: client.id, file: plan.file.file, ...agent, ...(backup && { backup }) }
  context.out.data(value, () => [
    `${client.title} is disconnected${revoked === undefined ? '' : `, and the agent ${revoked} is revoked`}.`,
  ])
}

type Removal = {
  readonly client: Client
  readonly connection: Connection | undefined
  readonly file: ClientFile
  readonly text: string
  readonly hunks: ReturnType<typeof revertEdits>['hunks']
  /** Whom the entry spoke for, unless another connection does so too. */
  readonly agent: string | undefined
}

function planRemoval(context: Context, client: Client, configFile?: string): Removal {
  const known = readConnections(context.paths)
  const ofClient = known.filter((one) => one.client === client.id)
  const path = clientConfigPath(context, client, configFile)
  const connection =
    ofClient.find(matchesConnection(client, path)) ??
    (configFile === undefined && ofClient.length === 1 ? ofClient[0] : undefined)
  const file = readClientFile(connection?.file ?? path)
  const places = connection?.entries ?? client.places.map((place) => ({ place }))
  const { text, hunks } = revertEdits(client.format, file, places)
  if (!connection && hunks.length === 0)
    throw new CoworkError('not_found', `${client.title} is not connected in ${file.file}.`, {
      hint: '`cowork connect` lists what is; name another file with --config-file.',
    })
  const isShared = known.some((one) => one !== connection && one.agent === connection?.agent)
  return { client, connection, file, text, hunks, agent: isShared ? undefined : connection?.agent }
}

/** Does it in the file and in what we keep; gives the backup. */
export function removeEntry(
  { paths }: Context,
  removal: Removal,
  forget: boolean,
): string | undefined {
  const { client, connection, file, text, agent } = removal
  const isOurs = connection?.created_file === true && file.exists && isBlank(text)
  const first = connection?.backup
  const isBack = first !== undefined && existsSync(first) && readFileSync(first, 'utf8') === text
  let backup: string | undefined
  if (isOurs) removeClientFile(file)
  else if (isBack) {
    // The file is again what its backup holds, so neither is needed any more.
    writeClientFile(file, text)
    rmSync(first)
  } else if (text !== file.text) backup = writeClientFile(file, text, systemClock())
  if (forget && agent !== undefined) rmSync(paths.agentToken(agent), { force: true })
  if (connection) deleteConnection(paths, { client: client.id, file: connection.file })
  return backup
}

/** Whom to revoke, and whether the token that is kept for it may go. */
async function planAgentRevocation(
  context: Context,
  { agent }: Removal,
): Promise<{ revoked: string | undefined; forget: boolean }> {
  if (agent === undefined) return { revoked: undefined, forget: false }
  const { agents } = await createClient(context).call('cowork_list_agents')
  const found = agents.find(({ id, status }) => id === agent && status === 'active')
  return {
    revoked: found?.source === 'store' ? agent : undefined,
    // One from cowork.yaml lives on, and its token with it.
    forget: found === undefined || found.source === 'store',
  }
}

export type UninstallOptions = PromptOptions & {
  readonly purge?: boolean
  readonly timeout: number
}

/** Undoes connects and services and ends the daemon; data stays unless it is asked for, twice (K12). */
export async function uninstall(context: Context, options: UninstallOptions): Promise<void> {
  const { paths, out } = context
  const removals = readConnections(paths).map(({ client, file }) =>
    planRemoval(context, findClient(client), file),
  )
  const hasService = isInstalled(context)
  const daemon = findRunningDaemon(paths)
  const acts = [
    ...removals.map(({ client, file }) => `disconnect ${client.title} (${file.file})`),
    ...(hasService ? ['stop starting cowork at login'] : []),
    ...(daemon ? [`end the daemon (process ${daemon.pid})`] : []),
    ...(options.purge ? [`delete what cowork keeps in ${paths.dir}, the ledger too`] : []),
  ]
  if (acts.length === 0)
    return out.data({ undone: [] }, () => [`There is nothing to undo. Data stays in ${paths.dir}.`])
  printNote(['This will:', ...acts.map((act) => `  ${act}`)], options)
  await confirm('Go on?', options)
  if (options.purge)
    await confirm(`Delete the data in ${paths.dir}? It cannot be brought back.`, options, false)

  for (const removal of removals) await disconnected(context, removal, daemon !== undefined)
  if (hasService) await unregisterService(context)
  await stopDaemon(paths, options.timeout * 1000)
  const left = options.purge ? purge(paths.dir) : undefined
  out.data({ undone: acts, purged: options.purge ?? false, ...(left && { left }) }, () => [
    ...acts.map((act) => `done: ${act}`),
    ...(options.purge
      ? []
      : [`Data stays in ${paths.dir}; \`cowork uninstall --purge\` deletes it.`]),
    ...(left && left.length > 0 ? [`Not ours and left in ${paths.dir}: ${left.join(', ')}`] : []),
  ])
}

async function disconnected(context: Context, removal: Removal, canRevoke: boolean): Promise<void> {
  const end = canRevoke
    ? await planAgentRevocation(context, removal)
    : { revoked: undefined, forget: true }
  if (end.revoked !== undefined)
    await createClient(context)
      .call('cowork_revoke_agent', { id: end.revoked })
      // Whoever has a passkey revokes the agent in the console; its client is disconnected all the same.
      .catch((error: unknown) => {
        if (!(error instanceof CoworkError) || error.code !== 'passkey_required') throw error
        context.out.note(`${end.revoked} is still an agent: revoke it in the console.`)
      })
  removeEntry(context, removal, end.forget)
}

const ours =
  /^(cowork\.|owner\.token|ledger\.|lock\.db|(daemon|api)\.|checkpoints|connections\.json|service\.xml|mcp-settings\.json|node$|logs$|agents$|trash$|versions$|backups$|before-restore-)/

/** Deletes by name: a state folder may have been put where other things lie. Gives what stays. */
export function purge(folder: string): string[] {
  if (!existsSync(folder)) return []
  if (folder === homedir() || dirname(folder) === folder)
    throw new CoworkError('usage', `${folder} is not a folder of cowork’s own.`, {
      hint: 'Delete what you do not want by hand.',
    })
  for (const name of readdirSync(folder).filter((one) => ours.test(one)))
    rmSync(join(folder, name), { recursive: true })
  const left = readdirSync(folder)
  if (left.length === 0) rmdirSync(folder)
  return left
}
