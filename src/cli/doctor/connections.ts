import { existsSync } from 'node:fs'
import { createClient } from '../client.ts'
import { clientNamed } from '../clients/catalogue.ts'
import { readClientFile } from '../clients/client-file.ts'
import { valueAt } from '../clients/edits.ts'
import { digestOf } from '../connect.ts'
import { readConnections } from '../connections.ts'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { problemOf } from '../exit.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Whether each client's file still says what we wrote, and whether that still works. */
export async function checkConnections(context: Context): Promise<Finding[]> {
  const connections = readConnections(context.paths)
  const daemon = runningDaemon(context.paths)
  const active = connections.length > 0 && daemon ? await activeAgents(context) : undefined
  return connections.map((one) => {
    try {
      const wrong = drift(one) ?? stale(one, context, active, daemon?.port)
      return wrong ?? ok(`${one.client} as ${one.agent} over ${one.via} (${one.file})`)
    } catch (error) {
      const { message, hint = '' } = problemOf(error)
      return warn(message, hint)
    }
  })
}

function drift({ client: id, file, entries }: Connection): Finding | undefined {
  const client = clientNamed(id)
  const again = `Write it anew with \`cowork connect ${id}\`, or undo it with \`cowork disconnect ${id}\`.`
  const source = readClientFile(file)
  for (const { place, digest } of entries) {
    const value = valueAt(client.format, source, place)
    if (value === undefined) return warn(`Our entry is gone from ${file}.`, again)
    const { command, args = [] } = value as { command?: string; args?: string[] }
    const missing = [command, args.find((word) => word !== '--')].find(
      (path) => path !== undefined && !existsSync(path),
    )
    if (missing !== undefined) return fail(`${file} starts ${missing}, which is not there.`, again)
    if (digestOf(value) !== digest) return warn(`Our entry in ${file} was changed since.`, again)
  }
  return undefined
}

function stale(
  { client, agent, via, file, entries }: Connection,
  { paths }: Context,
  active: ReadonlySet<string> | undefined,
  port: number | undefined,
): Finding | undefined {
  const again = `Give it a new one with \`cowork connect ${client}\`.`
  if (active && !active.has(agent))
    return fail(`${client} speaks for the agent ${agent}, which is revoked.`, again)
  const { format, places } = clientNamed(client)
  const entry = valueAt(format, readClientFile(file), places[0]) as { url?: string; env?: object }
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
