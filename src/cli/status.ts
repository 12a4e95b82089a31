import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { findRunningDaemon } from './daemon.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { formatFields, sanitize } from './output.ts'

/** Returns no workspace on an error: the rest of the status does not depend on the disk. */
async function readWorkspace(client: Client) {
  try {
    const info = await client.call('get_workspace_info')
    return { workspace: info.workspace_path, next: info.path_after_restart }
  } catch (error) {
    if (error instanceof CoworkError) return {}
    throw error
  }
}

export async function status(context: Context): Promise<ExitCode> {
  const { paths, out } = context
  const daemon = findRunningDaemon(paths)
  if (!daemon) {
    out.data({ running: false, state: paths.dir }, () => [`cowork is not running on ${paths.dir}.`])
    out.note('Run `cowork up -d` to start it.')
    return exitCode.notRunning
  }
  const client = createClient(context)
  const { auth, halts, ledger, version } = await client.call('cowork_status')
  const { workspace, next } = await readWorkspace(client)
  const { pid, port, startedAt: started_at, workUrl } = daemon
  const data = {
    running: true,
    state: paths.dir,
    pid,
    port,
    started_at,
    ...(workUrl !== undefined && { work_url: workUrl }),
    version,
    auth,
    halts,
    ledger,
    ...(workspace !== undefined && { workspace }),
    ...(next !== undefined && { workspace_after_restart: next }),
  }
  out.data(data, () =>
    formatFields({
      cowork: `${version}, process ${pid}, since ${started_at}`,
      mcp: `http://localhost:${port}/mcp`,
      work: workUrl,
      auth: `${auth} mode`,
      ledger: `${ledger.size} entries, signed up to ${ledger.checkpoint ?? 'none'}`,
      halted:
        halts
          .map(({ scope, by, reason }) => `${scope} by ${by}${reason && `: ${reason}`}`)
          .join('; ') || 'none',
      workspace: workspace === undefined ? 'unavailable: run `cowork doctor`' : sanitize(workspace),
      'at restart': next && sanitize(next),
      state: paths.dir,
      log: paths.log,
    }),
  )
  if (next !== undefined)
    out.note('Another workspace is configured: run `cowork restart` to use it.')
  return exitCode.ok
}
