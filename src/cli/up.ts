import { once } from 'node:events'
import { createLog } from '#base/log.ts'
import { ensureState } from '#base/state.ts'
import { startApp } from '../app.ts'
import type { Context } from './context.ts'
import { runningDaemon, startDetached } from './daemon.ts'
import type { Handover, Report } from './daemon.ts'
import { exitCode, problemOf } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { createLogFile } from './log-file.ts'
import { readable } from './logs.ts'
import { loadSettings } from './settings.ts'
import { version } from './version.ts'

export type UpOptions = {
  readonly port?: string | undefined
  /** In the background, as `-d`. */
  readonly detach?: boolean
  /** We are the background: stderr is the log file already. */
  readonly detached?: boolean
  readonly timeout: number
}

const flagsOf = ({ port }: Pick<UpOptions, 'port'>) => [
  { path: ['server', 'port'], value: port, origin: '--port' },
]

export async function up(context: Context, options: UpOptions): Promise<ExitCode> {
  if (options.detach) return upDetached(context, options)
  if (!options.detached) return serve(context, options)
  try {
    return await serve(context, options)
  } catch (error) {
    await report({ failed: problemOf(error) })
    throw error
  }
}

/** Checks what can be checked here, where a person reads it, and leaves the rest to the daemon. */
async function upDetached(context: Context, options: UpOptions): Promise<ExitCode> {
  const { paths, out, env, samePlace } = context
  const running = runningDaemon(paths)
  if (running) {
    out.data({ running: true, already: true, ...described(running) }, () => [
      `cowork runs already on ${paths.dir} (process ${running.pid}, port ${running.port}).`,
    ])
    return exitCode.ok
  }
  const { handover, warnings } = await loadSettings(context, {
    flags: flagsOf(options),
    forUp: true,
  })
  for (const warning of warnings) out.note(warning)
  const banner = await startDetached({
    paths,
    args: [...samePlace, ...(options.port === undefined ? [] : ['--port', options.port])],
    env: { ...env },
    cwd: process.cwd(),
    handover,
    timeoutMs: options.timeout * 1000,
  })
  out.data(
    { running: true, already: false, ...described(runningDaemon(paths)), banner },
    () => banner,
  )
  return exitCode.ok
}

const described = (daemon: ReturnType<typeof runningDaemon>) =>
  daemon && {
    pid: daemon.pid,
    port: daemon.port,
    version: daemon.version,
    started_at: daemon.startedAt,
  }

async function serve(context: Context, options: UpOptions): Promise<ExitCode> {
  const { paths, out } = context
  const ending = firstSignal()
  const handed = options.detached ? await received() : {}
  const settings = await loadSettings(context, { flags: flagsOf(options), forUp: true, handed })
  const { config, env, secrets } = settings
  ensureState(paths)
  const log = createLog({
    level: config.server.log_level,
    json: true,
    write: logWriter(paths.log, options.detached ?? false),
  })
  for (const warning of settings.warnings) log.warn(warning)
  const app = await startApp({
    config,
    paths,
    version: version(),
    log,
    secrets,
    shared: {
      worksyncKey: config.work.api_key,
      coworkToken: env['COWORK_TOKEN'],
      agentId: env['AGENT_ID'],
    },
  })
  const { banner } = app
  if (options.detached) await report({ ready: banner })
  else out.data({ running: true, ...described(runningDaemon(paths)), banner }, () => banner)
  log.info('cowork serves', { pid: process.pid, mcp: app.mcpUrl, state: paths.dir })
  log.info('cowork ends', { signal: await ending })
  setTimeout(() => {
    log.error(`some part of cowork did not end within ${endWithin / 1000} seconds`)
    process.exit(exitCode.failed)
  }, endWithin).unref()
  await app.close()
  return exitCode.ok
}

/** Everything is in the file; a foreground daemon shows it on its terminal too. */
function logWriter(path: string, detached: boolean): (line: string) => void {
  const toFile = createLogFile(path)
  if (detached) return toFile
  return (line) => {
    toFile(line)
    process.stderr.write(process.stderr.isTTY ? `${readable(line.trimEnd())}\n` : line)
  }
}

const endWithin = 20_000

/** The first signal, also one that comes during the start, ends us in order; a second Ctrl-C does not wait for that. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let came = false
    const end = (signal: NodeJS.Signals) => {
      if (came && signal === 'SIGINT') process.exit(exitCode.interrupted)
      came = true
      resolve(signal)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  })
}

/** What whoever started us has resolved already. */
async function received(): Promise<Handover> {
  if (!process.connected) return {}
  const gone = once(process, 'disconnect').then((): [Handover] => [{}])
  const [handover] = await Promise.race([once(process, 'message') as Promise<[Handover]>, gone])
  return handover
}

function report(told: Report): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve()
    // Whoever started us may be gone by now, which is no reason to fail.
    process.send(told, () => {
      if (process.connected) process.disconnect()
      resolve()
    })
  })
}
