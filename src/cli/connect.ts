import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { formatRfc3339, systemClock } from '#base/clock.ts'
import { loadConfig } from '#base/config/index.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { describeSelection } from '#base/selection-fields.ts'
import { parseAgentName } from './lookup.ts'
import {
  choiceArguments,
  choiceQuery,
  toSelectionFields,
  hasFields,
  saveToken,
  obtainToken,
  planToken,
  planTools,
} from './agent-plan.ts'
import type { EntryChoice, TokenPlan, ToolOptions } from './agent-plan.ts'
import { createClient } from './client.ts'
import { findClient, clients } from './clients/client-registry.ts'
import type { Client, Server } from './clients/client-registry.ts'
import { readClientFile, writeClientFile } from './clients/client-file.ts'
import type { ClientFile } from './clients/client-file.ts'
import { applyEdits, revertEdits, getValue } from './clients/edits.ts'
import { handshakeCommand, handshakeUrl } from './clients/handshake.ts'
import type { HandshakeResult } from './clients/handshake.ts'
import type { Place } from './clients/json.ts'
import { saveConnection, readConnections } from './connections.ts'
import type { Connection } from './connections.ts'
import type { Context } from './context.ts'
import { findRunningDaemon } from './daemon.ts'
import { usageError } from './exit.ts'
import { launcherPath, locationOptions } from './launcher.ts'
import { formatFields, formatRows } from './output.ts'
import { confirm, diffLines, printNote } from './terminal.ts'
import type { PromptOptions } from './terminal.ts'

export type ConnectOptions = PromptOptions &
  ToolOptions & {
    readonly results?: string
    readonly agent?: string
    readonly http?: boolean
    readonly inline?: boolean
    readonly envVar?: string
    readonly configFile?: string
    readonly dryRun?: boolean
  }

/** Adds cowork to a client's config file: shown first, backed up, verified, and reverted by `disconnect` (K4). */
export async function connect(
  context: Context,
  clientName: string,
  options: ConnectOptions,
): Promise<void> {
  const { out, paths } = context
  const client = findClient(clientName)
  const file = readClientFile(clientConfigPath(context, client, options.configFile))
  const agent = parseAgentName(options.agent ?? client.id)
  const chosen = toSelectionFields(options)
  const api = createClient(context)
  // Only the daemon knows whether the agent is in the store, where its tools are stored.
  const earlyPlan = hasFields(chosen) ? await planToken(api, paths, agent) : undefined
  const inEntry = earlyPlan && planTools(earlyPlan, chosen).inEntry
  const choice = { ...inEntry, results: options.results }
  const server = buildServer(context, agent, client, options, choice)
  const before = readConnections(paths).find(matchesConnection(client, file.file))
  const applyConnection = (token: string) => {
    const edits = client.edits(options.inline ? { ...server, token } : server)
    const left = before?.entries.filter((old) => !edits.some(hasPlace(old.place))) ?? []
    const cleared = revertEdits(client.format, file, left)
    const put = applyEdits(client.format, { ...file, text: cleared.text }, edits)
    return { ...put, edits, hunks: [...cleared.hunks, ...put.hunks] }
  }
  // The token does not exist yet and must not be shown.
  const { hunks } = applyConnection('sk-cowork-…')
  if (options.dryRun) {
    const planned = earlyPlan && planTools(earlyPlan, chosen)
    const value = { client: client.id, file: file.file, changed: hunks.length > 0, hunks }
    return out.data({ ...value, ...(planned && { selection: planned.selection }) }, () => [
      ...(hunks.length > 0
        ? diffLines(file.file, hunks, process.stdout)
        : [`${client.title} already has this entry.`]),
      ...(planned ? [planned.text] : []),
    ])
  }
  const plan = earlyPlan ?? (await planToken(api, paths, agent))
  const tools = planTools(plan, chosen)
  printNote(hunks.length > 0 ? diffLines(file.file, hunks) : [], options)
  printNote(earlyPlan ? [tools.text] : [], options)
  printNote(listWarnings(plan, context, before), options)
  if (hunks.length > 0 || plan.act !== 'keep' || tools.isChange)
    await confirm(confirmationText(client, plan), options)

  // First: an unknown name is refused and must not leave a rotated token behind.
  if (tools.isChange) await api.call('cowork_set_tools', { id: agent, ...chosen })
  const token = await obtainToken(api, plan, chosen)
  if (!options.inline) saveToken(paths, agent, token)
  const { text, edits, made } = applyConnection(token)
  const backup = text === file.text ? undefined : writeClientFile(file, text, systemClock())
  const firstBackup = before?.backup ?? backup
  saveConnection(paths, {
    client: client.id,
    file: file.file,
    agent,
    via: server.via,
    created_file: before?.created_file ?? !file.exists,
    ...(firstBackup !== undefined && { backup: firstBackup }),
    entries: edits.map(({ place, value }, index) => {
      // For an entry that we wrote before, keep the undo data of the first connect.
      const first = made[index] ?? before?.entries.find(hasPlace(place))?.made
      return { place: [...place], digest: hashValue(value), ...(first && { made: first }) }
    }),
    connected_at: formatRfc3339(systemClock()),
  })
  const undo = undoCommand(client, options)
  const seen = await checkHandshake(context, client, file, token).catch((error: unknown) => {
    out.note(`Undo: ${undo}`)
    throw error
  })
  const value = {
    client: client.id,
    agent,
    via: server.via,
    file: file.file,
    ...(backup && { backup }),
    auth_enabled: plan.enablesAuth,
    selection: tools.selection,
    check: seen,
    undo,
  }
  out.data(value, () => [
    `Connected ${client.title} as agent ${agent}.`,
    ...formatFields({
      file: file.file,
      backup,
      tools: describeSelection(tools.selection),
      checked: `${seen.server} responds over ${server.via} with ${seen.tools} tools`,
      undo,
    }),
  ])
  if (server.via === 'http' && !options.inline)
    out.note(
      client.asksForToken
        ? `${client.title} asks for the token once. Paste it from ${paths.agentToken(agent)}.`
        : `${client.title} reads the token from ${server.variable}. Add ${server.variable}=file:${paths.agentToken(agent)} to a file and start the client with \`cowork run --env-file <file> -- <client>\`.`,
    )
}

export async function listClients(context: Context): Promise<void> {
  const connected = readConnections(context.paths)
  const rows = clients.map((client) => {
    const found = connected.find((row) => row.client === client.id)
    const { file = clientConfigPath(context, client), agent, via } = found ?? {}
    return { client: client.id, file, connected: found !== undefined, agent, via }
  })
  context.out.data({ clients: rows }, () =>
    formatRows(rows, '', {
      CLIENT: ({ client }) => client,
      'CONNECTED AS': ({ agent, via }) => (agent ? `${agent} (${via})` : '-'),
      FILE: ({ file }) => file,
    }),
  )
}

export const clientConfigPath = ({ env }: Context, client: Client, configFile?: string): string =>
  configFile === undefined
    ? client.file({ env, home: homedir(), platform: process.platform })
    : resolve(configFile)

const hasPlace =
  (place: Place) =>
  (other: { place: Place }): boolean =>
    isDeepStrictEqual(place, other.place)

export const matchesConnection =
  ({ id }: Client, file: string) =>
  (connection: { client: string; file: string }): boolean =>
    connection.client === id && connection.file === file

/** Identifies a written value without storing it: it may contain a token. */
export const hashValue = (value: unknown): string => sha256Hex(canonicalJson(value))

function buildServer(
  context: Context,
  agent: string,
  client: Client,
  { http = false, envVar }: ConnectOptions,
  choice: EntryChoice,
): Server {
  if (!http) {
    const command = ['mcp', '--agent', agent, ...choiceArguments(choice)]
    const args = ['--', launcherPath(), ...command, ...locationOptions(context)]
    return { via: 'stdio', command: process.execPath, args }
  }
  const { config } = loadConfig({ file: context.configFile, env: context.env })
  const port = findRunningDaemon(context.paths)?.port ?? config.server.port
  const variable = envVar ?? `COWORK_TOKEN_${client.id.toUpperCase().replaceAll('-', '_')}`
  if (!/^[A-Za-z_]\w*$/.test(variable)) throw usageError(`Invalid variable name: ${variable}.`)
  const url = `${config.server.tls ? 'https' : 'http'}://localhost:${port}/mcp${choiceQuery(choice)}`
  return { via: 'http', url, variable }
}

function listWarnings(
  { agent, act, enablesAuth }: TokenPlan,
  { env }: Context,
  before: Connection | undefined,
): string[] {
  return [
    ...(before && before.agent !== agent
      ? [
          `Replaces agent ${before.agent}. Run \`cowork agents revoke ${before.agent}\` to revoke it.`,
        ]
      : []),
    ...(enablesAuth
      ? [`Adding ${agent} turns on authentication: clients without a token are refused.`]
      : []),
    ...(act === 'rotate'
      ? [
          `No token of ${agent} is stored here: a new one is issued, the old one expires in 10 minutes.`,
        ]
      : []),
    ...(env['COWORK_TOKEN']
      ? [
          'COWORK_TOKEN is set: a client started from this terminal uses it instead of its own token.',
        ]
      : []),
  ]
}

function confirmationText({ title }: Client, { agent, act, enablesAuth }: TokenPlan): string {
  if (enablesAuth) return `Connect ${title} as agent ${agent} and turn on authentication?`
  return act === 'keep' ? `Connect ${title}?` : `Connect ${title} as agent ${agent}?`
}

const undoCommand = ({ id }: Client, { configFile }: ConnectOptions) =>
  `cowork disconnect ${id}${configFile === undefined ? '' : ` --config-file ${resolve(configFile)}`}`

/** Reads the entry back from the file and runs an MCP handshake with it. */
async function checkHandshake(
  { env }: Context,
  client: Client,
  { file }: Pick<ClientFile, 'file'>,
  token: string,
): Promise<HandshakeResult> {
  const entry = getValue(client.format, readClientFile(file), client.places[0]) as {
    url?: string
    command: string
    args: string[]
    env?: Record<string, string>
  }
  if (entry.url !== undefined) return handshakeUrl(entry.url, token)
  const { command, args } = entry
  return handshakeCommand({ command, args, env: { ...env, ...entry.env } })
}
