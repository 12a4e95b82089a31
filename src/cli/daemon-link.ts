import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { ensureStateDir, isLocked, readDaemonInfo } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import { toError, startDetached } from './daemon.ts'
import type { DetachedOptions } from './daemon.ts'
import type { Problem } from './exit.ts'
import { version } from './launcher.ts'
import { parseJson } from './output.ts'

type LinkOptions = {
  readonly paths: StatePaths
  /** The first line of each connection: the caller and the tools that it requests (I13). */
  readonly hello: object
  readonly up: Pick<DetachedOptions, 'args' | 'env' | 'handover'>
  /** Writes a line to the client's log. */
  readonly note: (text: string) => void
}

/** Must equal the version in server/bridge-handshake.ts, which the command line does not load. */
const handshakeVersion = 3

const startTimeoutMs = 20_000
const answerTimeoutMs = 10_000
const pollIntervalMs = 25
const maxRetryDelayMs = 1000
/** A service manager may restart a crashed daemon before the bridge does. */
const restartDelayMs = 3000
const maxRestartDelayMs = 60_000

/** Connects the bridge to the daemon, and starts the daemon when allowed. */
export function createDaemonLink({ paths, hello, up, note }: LinkOptions) {
  const ownVersion = version()
  let notedVersion = ownVersion
  let lastRestartAt = 0
  let restartCount = 0

  /** Connects to the daemon and starts one if none runs: a person has started a client. */
  async function open(): Promise<Socket> {
    const deadline = Date.now() + startTimeoutMs
    for (;;) {
      const socket = await tryConnect(paths.socket)
      if (socket && (await handshake(socket, {}))) return socket
      const daemon = readDaemonInfo(paths)
      if (socket && daemon && daemon.version !== ownVersion)
        throw outdatedDaemonError(daemon.version)
      if (Date.now() > deadline)
        throw new CoworkError(
          'timeout',
          `The daemon on ${paths.dir} does not accept connections.`,
          {
            hint: `Run \`cowork restart\`, or read the log: ${paths.log}.`,
          },
        )
      // With the lock held, a daemon is starting or stopping.
      if (socket || isLocked(paths)) await sleep(pollIntervalMs)
      else await start()
    }
  }

  /** Waits for a daemon. Restarts one that crashed, never one that a person stopped (RA4). */
  async function reopen(signal: AbortSignal): Promise<Socket> {
    if (Date.now() - lastRestartAt > maxRestartDelayMs) restartCount = 0
    let restartAt = Date.now() + restartDelay()
    for (let attempt = 0; ; attempt++) {
      const socket = await tryConnect(paths.socket).catch(() => undefined)
      if (socket && (await handshake(socket, { reconnect: true }))) return socket
      if (!socket && Date.now() >= restartAt && isCrashed()) {
        restartCount++
        await start().catch((error: unknown) =>
          note(`cowork: cannot start the daemon: ${errorMessage(error)}`),
        )
        lastRestartAt = Date.now()
        restartAt = lastRestartAt + restartDelay()
      }
      await sleep(Math.min(pollIntervalMs * 2 ** attempt, maxRetryDelayMs), undefined, { signal })
    }
  }

  /** Grows with each restart in the last minute. Random, so that not all bridges start a daemon together. */
  const restartDelay = () =>
    Math.min(restartDelayMs * 4 ** restartCount, maxRestartDelayMs) + Math.random() * 1000

  /** `cowork uninstall --purge` removes the lock file. */
  const isCrashed = () => existsSync(paths.lock) && !existsSync(paths.stopped) && !isLocked(paths)

  async function start(): Promise<void> {
    try {
      ensureStateDir(paths)
      await startDetached({ paths, ...up, cwd: paths.dir, timeoutMs: startTimeoutMs })
    } catch (error) {
      // Another client's daemon was faster and holds the lock.
      if (!(error instanceof CoworkError && error.code === 'daemon_running')) throw error
    }
  }

  /** Sends the handshake. Returns false if the daemon closes without an answer: it is stopping, or older. */
  async function handshake(socket: Socket, extra: object): Promise<boolean> {
    socket.on('error', () => undefined)
    const fields = { cowork: handshakeVersion, version: ownVersion, ...hello, ...extra }
    socket.write(`${JSON.stringify(fields)}\n`)
    const line = await readFirstLine(socket)
    const answer = line === undefined ? undefined : parseAnswer(line)
    if (!answer || answer.error?.code === 'shutting_down') {
      socket.destroy()
      return false
    }
    if (answer.error) throw toError(answer.error)
    if (answer.version !== notedVersion) {
      notedVersion = answer.version
      if (notedVersion !== ownVersion)
        note(
          `cowork: bridge version ${ownVersion}, daemon version ${notedVersion}. Run \`cowork restart\` and restart this client.`,
        )
    }
    return true
  }

  const outdatedDaemonError = (running: string) =>
    new CoworkError(
      'daemon_outdated',
      `The daemon (version ${running}) refused this bridge (version ${ownVersion}).`,
      { hint: 'Run `cowork restart` to start this version.' },
    )

  return { open, reopen }
}

type Answer = { readonly version: string; readonly error?: Problem }

function parseAnswer(line: string): Answer | undefined {
  const answer = parseJson(line) as (Answer & { readonly cowork?: unknown }) | null | undefined
  return answer?.cowork === handshakeVersion ? answer : undefined
}

/** Reads the first line; leaves the bytes after it unread and the socket paused. */
function readFirstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0)
    const timer = setTimeout(() => finish(undefined), answerTimeoutMs)
    const onClose = () => finish(undefined)
    function finish(line: string | undefined): void {
      clearTimeout(timer)
      socket.off('data', onData).off('close', onClose).pause()
      resolve(line)
    }
    function onData(chunk: Buffer): void {
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf('\n')
      if (end === -1) return
      finish(bytes.toString('utf8', 0, end))
      if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1))
    }
    socket.on('data', onData).on('close', onClose)
  })
}

function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket.removeAllListeners('error')))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
    )
  })
}
