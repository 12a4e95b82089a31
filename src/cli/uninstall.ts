import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import { clientNamed } from './clients/catalogue.ts'
import { readConnections } from './connections.ts'
import type { Context } from './context.ts'
import { runningDaemon, stopDaemon } from './daemon.ts'
import { agentEnd, planRemoval, remove } from './disconnect.ts'
import type { Removal } from './disconnect.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { isInstalled, takeOut } from './service.ts'
import { confirmed, tell } from './terminal.ts'
import type { Asking } from './terminal.ts'

export type UninstallOptions = Asking & { readonly purge?: boolean; readonly timeout: number }

/** Undoes connects and services and ends the daemon; data stays unless it is asked for, twice (K12). */
export async function uninstall(context: Context, options: UninstallOptions): Promise<ExitCode> {
  const { paths, out } = context
  const removals = readConnections(paths).map(({ client, file }) =>
    planRemoval(context, clientNamed(client), file),
  )
  const hasService = isInstalled(context)
  const daemon = runningDaemon(paths)
  const acts = [
    ...removals.map(({ client, file }) => `disconnect ${client.title} (${file.file})`),
    ...(hasService ? ['stop starting cowork at login'] : []),
    ...(daemon ? [`end the daemon (process ${daemon.pid})`] : []),
    ...(options.purge ? [`delete what cowork keeps in ${paths.dir}, the ledger too`] : []),
  ]
  if (acts.length === 0) {
    out.data({ undone: [] }, () => [`There is nothing to undo. Data stays in ${paths.dir}.`])
    return exitCode.ok
  }
  tell(['This will:', ...acts.map((act) => `  ${act}`)], options)
  await confirmed('Go on?', options)
  if (options.purge)
    await confirmed(`Delete the data in ${paths.dir}? It cannot be brought back.`, options, false)

  for (const removal of removals) await disconnected(context, removal, daemon !== undefined)
  if (hasService) await takeOut(context)
  await stopDaemon(paths, options.timeout * 1000)
  const left = options.purge ? purge(paths.dir) : undefined
  out.data({ undone: acts, purged: options.purge ?? false, ...(left && { left }) }, () => [
    ...acts.map((act) => `done: ${act}`),
    ...(options.purge
      ? []
      : [`Data stays in ${paths.dir}; \`cowork uninstall --purge\` deletes it.`]),
    ...(left && left.length > 0 ? [`Not ours and left in ${paths.dir}: ${left.join(', ')}`] : []),
  ])
  return exitCode.ok
}

async function disconnected(context: Context, removal: Removal, canRevoke: boolean): Promise<void> {
  const end = canRevoke ? await agentEnd(context, removal) : { revoked: undefined, forget: true }
  if (end.revoked !== undefined)
    await createClient(context)
      .call('cowork_revoke_agent', { id: end.revoked })
      // Whoever has a passkey revokes the agent in the console; its client is disconnected all the same.
      .catch((error: unknown) => {
        if (!(error instanceof CoworkError) || error.code !== 'passkey_required') throw error
        context.out.note(`${end.revoked} is still an agent: revoke it in the console.`)
      })
  remove(context, removal, end.forget)
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
