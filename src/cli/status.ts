import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { runningDaemon } from './daemon.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { fields } from './output.ts'

export type Status = {
  version: string
  auth: string
  halts: { scope: string; reason: string; by: string; at: string }[]
  ledger: { size: number; checkpoint: number | null }
}

export async function status(context: Context): Promise<ExitCode> {
  const { paths, out } = context
  const daemon = runningDaemon(paths)
  if (!daemon) {
    out.data({ running: false, state: paths.dir }, () => [`cowork does not run on ${paths.dir}.`])
    return exitCode.notRunning
  }
  const { auth, halts, ledger, version } = await createClient(context).call<Status>('cowork_status')
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
  }
  out.data(data, () =>
    fields({
      cowork: `${version}, process ${pid}, since ${started_at}`,
      mcp: `http://localhost:${port}/mcp`,
      work: workUrl,
      auth: `${auth} mode`,
      ledger: `${ledger.size} entries, signed up to ${ledger.checkpoint ?? 'none'}`,
      halted:
        halts
          .map(({ scope, by, reason }) => `${scope} by ${by}${reason && `: ${reason}`}`)
          .join('; ') || 'nothing',
      state: paths.dir,
      log: paths.log,
    }),
  )
  return exitCode.ok
}
