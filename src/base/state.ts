import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { writeFileAtomic } from './atomic-file.ts'
import { CoworkError } from './errors.ts'
import { sha256Hex } from './hash.ts'
import { randomHex } from './ids.ts'
import { tryLockFile } from './lock.ts'

/** A socket path is limited to about 100 bytes. With a longer state directory the socket is in the temporary folder. */
function buildSocketPath(dir: string, name: string): string {
  const path = join(dir, `${name}.sock`)
  const unique = `cowork-${sha256Hex(dir).slice(0, 16)}-${name}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${unique}`
  return Buffer.byteLength(path) <= 100 ? path : join(tmpdir(), `${unique}.sock`)
}

/** The paths of all files in the state directory. */
export const statePaths = (dir: string) => ({
  dir,
  config: join(dir, 'cowork.yaml'),
  store: join(dir, 'cowork.db'),
  lock: join(dir, 'lock.db'),
  /** Socket for MCP from the stdio bridge. */
  socket: buildSocketPath(dir, 'daemon'),
  /** Socket for HTTP from the command line, independent of the public address and certificate. */
  apiSocket: buildSocketPath(dir, 'api'),
  daemon: join(dir, 'daemon.json'),
  pid: join(dir, 'cowork.pid'),
  /** Exists from a normal stop of the daemon until its next start; while it exists, bridges do not start the daemon. */
  stopped: join(dir, 'daemon.stopped'),
  ownerToken: join(dir, 'owner.token'),
  node: join(dir, 'node'),
  ledgerKey: join(dir, 'ledger.key'),
  ledgerPublicKey: join(dir, 'ledger.pub'),
  checkpoints: join(dir, 'checkpoints.jsonl'),
  log: join(dir, 'logs', 'cowork.log'),
  /** A copy of the whole ledger (L9). */
  ledgerMirror: join(dir, 'logs', 'ledger.jsonl'),
  // An agent id may contain slashes and dots.
  agentToken: (agent: string) => join(dir, 'agents', `${encodeURIComponent(agent)}.token`),
})
export type StatePaths = ReturnType<typeof statePaths>

/** The address and version of a running daemon. */
export type DaemonInfo = {
  readonly pid: number
  readonly port: number
  readonly version: string
  readonly startedAt: string
  /** The separate endpoint of the work tools (W1). */
  readonly workUrl?: string
}

export function readDaemonInfo(paths: StatePaths): DaemonInfo | undefined {
  try {
    return JSON.parse(readFileSync(paths.daemon, 'utf8')) as DaemonInfo
  } catch {
    return undefined
  }
}

/** Tells bridges that a person or a service manager stopped the daemon. Never throws: the shutdown continues without the marker. */
export function markStopped(paths: StatePaths): void {
  try {
    if (existsSync(paths.dir)) writeFileAtomic(paths.stopped, `${new Date().toISOString()}\n`)
  } catch {
    // Without the marker, for example on a full disk, a bridge starts the daemon again.
  }
}

export function ensureStateDir(paths: StatePaths): void {
  mkdirSync(join(paths.dir, 'logs'), { recursive: true, mode: 0o700 })
  mkdirSync(join(paths.dir, 'agents'), { recursive: true, mode: 0o700 })
  chmodSync(paths.dir, 0o700)
}

const sqliteBusy = 5

/**
 * Ensures one daemon per state directory (SV4). The kernel releases the lock when the process ends, even after a crash.
 * The pid file is information only.
 */
export function acquireLock(paths: StatePaths): () => void {
  const free = tryLockFile(paths.lock)
  if (!free) {
    const holder = readDaemonInfo(paths)
    throw new CoworkError(
      'daemon_running',
      holder
        ? `Daemon already running in ${paths.dir}: process ${holder.pid}, port ${holder.port}, since ${holder.startedAt}.`
        : `Another process has locked ${paths.lock}.`,
      { hint: 'Use the running daemon, or stop it with `cowork down`.' },
    )
  }
  // Left by a crashed daemon: the pid and the port may now belong to another process.
  rmSync(paths.daemon, { force: true })
  rmSync(paths.pid, { force: true })
  return free
}

/** Returns whether a daemon runs. A read takes a shared lock, so concurrent checks do not see each other. */
export function isLocked(paths: StatePaths): boolean {
  if (!existsSync(paths.lock)) return false
  const lock = new DatabaseSync(paths.lock)
  try {
    lock.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return true
    throw error
  } finally {
    lock.close()
  }
}

/** Returns the token with which the command line acts as the owner (I10). Created once, readable only by the user. */
export function readOrCreateOwnerToken(paths: StatePaths): string {
  if (!existsSync(paths.ownerToken))
    writeFileAtomic(paths.ownerToken, `pk-cowork-${randomHex(24)}\n`)
  return readFileSync(paths.ownerToken, 'utf8').trim()
}

/** Returns the name of this machine in a shared store. Created once, because host names change. */
export function readOrCreateNodeId(paths: StatePaths): string {
  if (!existsSync(paths.node)) writeFileAtomic(paths.node, `${hostname()}-${randomHex(3)}\n`)
  return readFileSync(paths.node, 'utf8').trim()
}
