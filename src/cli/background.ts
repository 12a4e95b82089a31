import { errorMessage } from '#base/errors.ts'
import { markStopped } from '#base/state.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { toDaemonJson, findRunningDaemon, startDetached, stopDaemon } from './daemon.ts'
import { loadSettings } from './settings.ts'
import type { StartFlags } from './settings.ts'

export type StartOptions = StartFlags & { readonly timeout: number }
export type DownOptions = { readonly timeout: number }

export async function start(context: Context, options: StartOptions): Promise<void> {
  const { paths, out } = context
  const running = findRunningDaemon(paths)
  if (!running) return (await prepareStart(context, options))()
  out.data({ running: true, already: true, ...toDaemonJson(running) }, () => [
    `cowork is already running on ${paths.dir} (process ${running.pid}, port ${running.port}).`,
  ])
}

export async function down({ paths, out }: Context, { timeout }: DownOptions): Promise<void> {
  // The daemon does this too when it stops. Here it keeps bridges from restarting a crashed daemon.
  markStopped(paths)
  const stopped = await stopDaemon(paths, timeout * 1000)
  out.data({ running: false, stopped: stopped !== undefined }, () => [
    stopped ? `Stopped cowork (process ${stopped.pid}).` : `cowork is not running on ${paths.dir}.`,
  ])
}

export async function restart(context: Context, options: StartOptions): Promise<void> {
  const startDaemon = await prepareStart(context, options)
  await stopDaemon(context.paths, options.timeout * 1000)
  return startDaemon()
}

/** Validates the configuration here, where a person reads the errors, before the daemon is stopped or started. */
async function prepareStart(context: Context, { port, auth, timeout }: StartOptions) {
  const { paths, out, inherited, locationArgs } = context
  const { handover, warnings } = await loadSettings(context, { forUp: { port, auth } })
  for (const warning of warnings) out.note(warning)
  return async (): Promise<void> => {
    const [name = '', ...rest] = await startDetached({
      paths,
      args: [
        ...locationArgs,
        ...(port === undefined ? [] : ['--port', port]),
        ...(auth === false ? ['--no-auth'] : []),
      ],
      env: inherited,
      cwd: process.cwd(),
      handover,
      timeoutMs: timeout * 1000,
    })
    const daemon = toDaemonJson(findRunningDaemon(paths))
    const banner = [name, ...(await consoleLine(context)), ...rest]
    out.data({ running: true, already: false, ...daemon, banner, warnings }, () => banner)
  }
}

/** Creates the sign-in link here (SV2): it must reach only this terminal, never the daemon's log. */
async function consoleLine(context: Context): Promise<string[]> {
  try {
    const { link } = await createClient(context).call('cowork_open_link')
    return [`  Console  ${link}`]
  } catch (error) {
    context.out.note(`Cannot create a console link: ${errorMessage(error)}`)
    return []
  }
}
