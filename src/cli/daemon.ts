import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import type { ErrorCode } from '#base/errors.ts'
import { ensureStateDir, isLocked, readDaemonInfo } from '#base/state.ts'
import type { DaemonInfo, StatePaths } from '#base/state.ts'
import type { Problem } from './exit.ts'
import { launcherPath } from './launcher.ts'
import { openLogFile } from './logs.ts'

/** Secrets resolved at the terminal for a background daemon; passed over a pipe, never in argv or a file (I8). */
export type SecretHandover = {
  /** From `--env-file`. */
  readonly env?: Readonly<Record<string, string>>
  /** Values of the references in the configuration. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** The only message of a daemon to the process that started it. */
export type StartReport = { readonly ready: readonly string[] } | { readonly failed: Problem }

export type DetachedOptions = {
  readonly paths: StatePaths
  /** Options of `cowork up`, with absolute paths. */
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
  readonly handover?: SecretHandover
  readonly timeoutMs: number
}

/** Starts a daemon that outlives this process; resolves to its banner when it is ready. */
export async function startDetached(options: DetachedOptions): Promise<readonly string[]> {
  const { paths, args, env, cwd, handover = {}, timeoutMs } = options
  ensureStateDir(paths)
  const log = openLogFile(paths.log)
  const child = spawn(process.execPath, ['--', launcherPath(), 'up', '--detached', ...args], {
    cwd,
    env,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  try {
    child.send(handover, () => undefined)
    return await waitUntilReady(child, paths, timeoutMs)
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

function waitUntilReady(child: ChildProcess, paths: StatePaths, timeoutMs: number) {
  const hint = `Read the log: ${paths.log}.`
  return new Promise<readonly string[]>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `The daemon did not start within ${timeoutMs / 1000} seconds.`
      reject(new CoworkError('timeout', message, { hint }))
    }, timeoutMs)
    const finish = (act: () => void) => {
      clearTimeout(timer)
      act()
    }
    child.on('error', (error) => finish(() => reject(error)))
    child.on('message', (report: StartReport) =>
      finish(() => ('ready' in report ? resolve(report.ready) : reject(toError(report.failed)))),
    )
    // The last message may arrive after the exit; only then is the channel closed too.
    Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[code, signal]]) => {
      const message = `The daemon stopped during startup (${signal ?? `exit code ${code}`}).`
      finish(() => reject(new CoworkError('daemon_failed', message, { hint })))
    }, reject)
  })
}

/** Converts an error of the daemon, whose code may be unknown to this version. */
export const toError = ({ code, message, hint }: Problem): CoworkError =>
  new CoworkError(code as ErrorCode, message, hint ? { hint } : {})

/** Returns the info of the running daemon. Only the lock proves that it runs; the file may be stale. */
export const findRunningDaemon = (paths: StatePaths): DaemonInfo | undefined =>
  isLocked(paths) ? readDaemonInfo(paths) : undefined

export const toDaemonJson = (daemon: DaemonInfo | undefined) =>
  daemon && {
    pid: daemon.pid,
    port: daemon.port,
    version: daemon.version,
    started_at: daemon.startedAt,
    ...(daemon.workUrl !== undefined && { work_url: daemon.workUrl }),
  }

/** Stops the daemon and waits until its lock is free. Returns its info, or undefined if none ran. */
export async function stopDaemon(
  paths: StatePaths,
  timeoutMs: number,
): Promise<DaemonInfo | undefined> {
  const deadline = Date.now() + timeoutMs
  let stopped: DaemonInfo | undefined
  while (isLocked(paths)) {
    // A starting daemon holds the lock before it writes its info.
    const daemon = stopped ?? readDaemonInfo(paths)
    if (daemon && !stopped) terminate(daemon.pid)
    stopped = daemon
    if (Date.now() > deadline)
      throw new CoworkError(
        'timeout',
        `The daemon on ${paths.dir} did not stop within ${timeoutMs / 1000} seconds.`,
        {
          hint: `Wait longer with --timeout: calls may be running. Log: ${paths.log}.`,
        },
      )
    await sleep(25)
  }
  return stopped
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ESRCH') return
    throw new CoworkError('daemon_not_ours', `Cannot stop process ${pid} (${String(code)}).`, {
      hint: 'Stop the process as the user who owns it.',
      cause: error,
    })
  }
}
