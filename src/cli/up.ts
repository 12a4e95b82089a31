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
  /** Started by another `cowork`, which waits for our report; stderr is the log file already. */
  readonly detached?: boolean
  /** Started by a bridge: takes a free port when the configured one is taken (RA10). */
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
  const ending = firstSignal()
  process.umask(0o077)
  const handed = options.detached ? await received() : {}
  const settings = await loadSettings(context, { forUp: options, handed })
  const { config, env, secrets, warnings } = settings
  ensureStateDir(paths)
  const write = logWriter(paths.log, options.detached ?? false)
  // What turns up in an error's text is as secret there as in an entry (I8).
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
    version: version(),
    log,
    secrets,
    allowFreePort: options.freePort,
    // The banner of a daemon goes through its parent's hands, which may be an agent's bridge.
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
  log.info('cowork serves', { pid: process.pid, mcp: app.mcpUrl, state: paths.dir })
  log.info('cowork ends', { signal: await ending })
  // Before any connection ends: a bridge looks for the marker when its connection does.
  markStopped(paths)
  setTimeout(() => {
    log.error(`some part of cowork did not end within ${endWithin / 1000} seconds`)
    process.exit(exitCode.failed)
  }, endWithin).unref()
  await app.close()
}

/** Everything is in the file; a foreground daemon shows it on its terminal too. */
function logWriter(path: string, detached: boolean): (line: string) => void {
  const toFile = createLogFile(path)
  if (detached) return toFile
  return (line) => {
    toFile(line)
    process.stderr.write(process.stderr.isTTY ? `${formatLogLine(line.trimEnd())}\n` : line)
  }
}

const endWithin = 20_000
/** One Ctrl-C reaches us from the terminal and once more through the program that started us. */
const sameKeyPress = 500

/** The first signal, also one that comes during the start, ends us in order; a second Ctrl-C does not wait for that. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let cameAt: number | undefined
    const end = (signal: NodeJS.Signals) => {
      const isImpatient = cameAt !== undefined && Date.now() - cameAt > sameKeyPress
      if (isImpatient && signal === 'SIGINT') process.exit(exitCode.interrupted)
      cameAt ??= Date.now()
      resolve(signal)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  })
}

/** What whoever started us has resolved already. */
async function received(): Promise<SecretHandover> {
  if (!process.connected) return {}
  const gone = once(process, 'disconnect').then((): [SecretHandover] => [{}])
  const [handover] = await Promise.race([
    once(process, 'message') as Promise<[SecretHandover]>,
    gone,
  ])
  return handover
}

function report(told: StartReport): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve()
    // Whoever started us may be gone by now, which is no reason to fail.
    process.send(told, () => {
      if (process.connected) process.disconnect()
      resolve()
    })
  })
}
