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

/** What the terminal resolved for a daemon that has none: it goes over a pipe, never into argv or a file (I8). */
export type SecretHandover = {
  /** From `--env-file`. */
  readonly env?: Readonly<Record<string, string>>
  /** The texts behind the references of the configuration. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** The one thing a daemon says to whoever started it. */
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

/** Starts a daemon that outlives us and resolves to its banner when it serves. */
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
    return await ready(child, paths, timeoutMs)
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

function ready(child: ChildProcess, paths: StatePaths, timeoutMs: number) {
  const hint = `Its log is ${paths.log}.`
  return new Promise<readonly string[]>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `The daemon was not ready within ${timeoutMs / 1000} seconds.`
      reject(new CoworkError('timeout', message, { hint }))
    }, timeoutMs)
    const settle = (act: () => void) => {
      clearTimeout(timer)
      act()
    }
    child.on('error', (error) => settle(() => reject(error)))
    child.on('message', (report: StartReport) =>
      settle(() => ('ready' in report ? resolve(report.ready) : reject(toError(report.failed)))),
    )
    // Its last message may still be on the way when it has ended: only then is the channel closed too.
    Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[code, signal]]) => {
      const message = `The daemon ended while it started (${signal ?? `exit code ${code}`}).`
      settle(() => reject(new CoworkError('daemon_failed', message, { hint })))
    }, reject)
  })
}

/** An error that the daemon sent; its code is declared there, or by a newer daemon. */
export const toError = ({ code, message, hint }: Problem): CoworkError =>
  new CoworkError(code as ErrorCode, message, hint ? { hint } : {})

/** What a daemon that runs says of itself. Only the lock tells whether one runs; the file may be a dead one's. */
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

/** Ends the daemon and waits until its lock is free. Gives what it was, or nothing when none ran. */
export async function stopDaemon(
  paths: StatePaths,
  timeoutMs: number,
): Promise<DaemonInfo | undefined> {
  const deadline = Date.now() + timeoutMs
  let asked: DaemonInfo | undefined
  while (isLocked(paths)) {
    // One that is still starting has the lock before it says who it is.
    const daemon = asked ?? readDaemonInfo(paths)
    if (daemon && !asked) terminate(daemon.pid)
    asked = daemon
    if (Date.now() > deadline)
      throw new CoworkError(
        'timeout',
        `The daemon on ${paths.dir} did not end within ${timeoutMs / 1000} seconds.`,
        {
          hint: `It may be finishing calls. Wait longer with --timeout, or look into ${paths.log}.`,
        },
      )
    await sleep(25)
  }
  return asked
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ESRCH') return
    throw new CoworkError(
      'daemon_not_ours',
      `Process ${pid} could not be asked to end (${String(code)}).`,
      {
        hint: 'It belongs to another user. End it as that user.',
        cause: error,
      },
    )
  }
}
