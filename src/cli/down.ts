import type { Context } from './context.ts'
import { stopDaemon } from './daemon.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import type { UpOptions } from './up.ts'

export type DownOptions = { readonly timeout: number }

export async function down({ paths, out }: Context, { timeout }: DownOptions): Promise<ExitCode> {
  const stopped = await stopDaemon(paths, timeout * 1000)
  out.data({ running: false, stopped: stopped !== undefined }, () => [
    stopped ? `cowork ended (process ${stopped.pid}).` : `cowork does not run on ${paths.dir}.`,
  ])
  return exitCode.ok
}

export async function restart(context: Context, options: UpOptions): Promise<ExitCode> {
  await stopDaemon(context.paths, options.timeout * 1000)
  const { up } = await import('./up.ts')
  return up(context, { ...options, detach: true })
}
