import { once } from 'node:events'
import { createLog } from '#base/log.ts'
import { ensureStateDir, markStopped } from '#base/state.ts'
import { createScrubber } from '#ledger'
import { startApp } from '../app.ts'
import type { Context } from './context.ts'
import { toDaemonJson, findRunningDaemon } from './daemon.ts'
import type { SecretHandover, StartReport } from './daemon.ts'
import { exitCode, toProblem } from './exit.ts'
import { absoluteCommand, commandName, version } from './launcher.ts'
import { createLogFile, formatLogLine } from './logs.ts'
import { loadSettings } from './settings.ts'
import type { StartFlags } from './settings.ts'

export type UpOptions = StartFlags & {
  /** Started by another `cowork`, which waits for the report; stderr is the log file. */
  readonly detached?: boolean
  /** Started by a bridge: uses a free port if the configured one is in use (RA10). */
  readonly freePort?: boolean
}

export async function up(context: Context, options: UpOptions): Promise<void> {
  if (!options.detached) return serve(context, options)
  try {
    return await serve(context, options)
  } catch (error) {
    await report({ failed: toProblem(error) })
    throw error
  }
}

async function serve(context: Context, options: UpOptions): Promise<void> {
  const { paths, out } = context
  const signal = waitForSignal()
  process.umask(0o077)
  const handover = options.detached ? await receiveHandover() : {}
  const settings = await loadSettings(context, { forUp: options, handover })
  const { config, env, secrets, warnings } = settings
  ensureStateDir(paths)
  const write = logWriter(paths.log, options.detached ?? false)
  // Redact secrets in error texts too (I8).
  const { scrub } = createScrubber({ secrets, patterns: config.audit.redact })
  const log = createLog({
    level: config.server.log_level,
    json: true,
    write: (line) => write(scrub(line)),
  })
  for (const warning of warnings) log.warn(warning)
  const app = await startApp({
    config,
    configFile: context.configFile,
    paths,
    mcpSettings: settings.mcpSettings,
    version: version(),
    log,
    secrets,
    allowFreePort: options.freePort,
    // The parent that reads a background daemon's banner may be an agent's bridge, so it gets no link.
    consoleLink: !options.detached,
    command: { here: commandName(context.env), anywhere: absoluteCommand(context) },
    shared: {
      worksyncKey: config.work.api_key,
      coworkToken: env['COWORK_TOKEN'],
      agentId: env['AGENT_ID'],
    },
  })
  const { banner } = app
  if (options.detached) await report({ ready: banner })
  else
    out.data(
      { running: true, ...toDaemonJson(findRunningDaemon(paths)), banner, warnings },
      () => banner,
    )
  log.info('cowork started', { pid: process.pid, mcp: app.mcpUrl, state: paths.dir })
  log.info('cowork stopping', { signal: await signal })
  // Before connections close: a bridge checks the marker when its connection closes.
  markStopped(paths)
  setTimeout(() => {
    log.error(`shutdown exceeded ${closeTimeoutMs / 1000} seconds`)
    process.exit(exitCode.failed)
  }, closeTimeoutMs).unref()
  await app.close()
}

/** Writes to the log file; a foreground daemon also prints to its terminal. */
function logWriter(path: string, detached: boolean): (line: string) => void {
  const toFile = createLogFile(path)
  if (detached) return toFile
  return (line) => {
    toFile(line)
    process.stderr.write(process.stderr.isTTY ? `${formatLogLine(line.trimEnd())}\n` : line)
  }
}

const closeTimeoutMs = 20_000
/** One Ctrl-C arrives from the terminal and again through the parent process. */
const duplicateSignalMs = 500

/** Resolves on the first signal, even during startup; a second Ctrl-C exits immediately. */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstSignalAt: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const isImpatient =
        firstSignalAt !== undefined && Date.now() - firstSignalAt > duplicateSignalMs
      if (isImpatient && signal === 'SIGINT') process.exit(exitCode.interrupted)
      firstSignalAt ??= Date.now()
      resolve(signal)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
}

/** Receives the secrets that the parent process resolved. */
async function receiveHandover(): Promise<SecretHandover> {
  if (!process.connected) return {}
  const disconnected = once(process, 'disconnect').then((): [SecretHandover] => [{}])
  const [handover] = await Promise.race([
    once(process, 'message') as Promise<[SecretHandover]>,
    disconnected,
  ])
  return handover
}

function report(message: StartReport): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve()
    // The parent may have exited; do not fail.
    process.send(message, () => {
      if (process.connected) process.disconnect()
      resolve()
    })
  })
}
