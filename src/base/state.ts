import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { writeFileAtomic } from './atomic-file.ts'
import { CoworkError } from './errors.ts'
import { sha256Hex } from './hash.ts'
import { randomHex } from './ids.ts'
import { tryLockFile } from './lock.ts'

/** A socket's name has room for about 100 bytes; a deeper folder gets one in the temporary folder. */
function socketIn(dir: string, name: string): string {
  const path = join(dir, `${name}.sock`)
  const unique = `cowork-${sha256Hex(dir).slice(0, 16)}-${name}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${unique}`
  return Buffer.byteLength(path) <= 100 ? path : join(tmpdir(), `${unique}.sock`)
}

/** Everything cowork keeps lives below one folder. */
export const statePaths = (dir: string) => ({
  dir,
  config: join(dir, 'cowork.yaml'),
  store: join(dir, 'cowork.db'),
  lock: join(dir, 'lock.db'),
  /** MCP from the stdio bridge. */
  socket: socketIn(dir, 'daemon'),
  /** HTTP from the command line, whatever address and certificate the rest of the world sees. */
  apiSocket: socketIn(dir, 'api'),
  daemon: join(dir, 'daemon.json'),
  pid: join(dir, 'cowork.pid'),
  /** Exists from an orderly end of the daemon until its next start: a bridge then does not start it again. */
  stopped: join(dir, 'daemon.stopped'),
  ownerToken: join(dir, 'owner.token'),
  node: join(dir, 'node'),
  ledgerKey: join(dir, 'ledger.key'),
  ledgerPublicKey: join(dir, 'ledger.pub'),
  checkpoints: join(dir, 'checkpoints.jsonl'),
  log: join(dir, 'logs', 'cowork.log'),
  /** A copy of the whole ledger (L9). */
  ledgerMirror: join(dir, 'logs', 'ledger.jsonl'),
  // An agent's id may hold anything printable, slashes and dots included.
  agentToken: (agent: string) => join(dir, 'agents', `${encodeURIComponent(agent)}.token`),
})
export type StatePaths = ReturnType<typeof statePaths>

/** What a running daemon tells about itself. */
export type DaemonInfo = {
  readonly pid: number
  readonly port: number
  readonly version: string
  readonly startedAt: string
  /** Where the tools about work have an address of their own (W1). */
  readonly workUrl?: string
}

export function readDaemonInfo(paths: StatePaths): DaemonInfo | undefined {
  try {
    return JSON.parse(readFileSync(paths.daemon, 'utf8')) as DaemonInfo
  } catch {
    return undefined
  }
}

/** Tells bridges that a person or a service manager ended the daemon. Never fails: the end goes on without it. */
export function markStopped(paths: StatePaths): void {
  try {
    if (existsSync(paths.dir)) writeFileAtomic(paths.stopped, `${new Date().toISOString()}\n`)
  } catch {
    // On a full disk the marker is missing, and a bridge starts the daemon again.
  }
}

export function ensureStateDir(paths: StatePaths): void {
  mkdirSync(join(paths.dir, 'logs'), { recursive: true, mode: 0o700 })
  mkdirSync(join(paths.dir, 'agents'), { recursive: true, mode: 0o700 })
  chmodSync(paths.dir, 0o700)
}

const sqliteBusy = 5

/**
 * One daemon per state folder (SV4). The kernel frees the lock when the process ends, however it ends;
 * pid files are information only.
 */
export function acquireLock(paths: StatePaths): () => void {
  const free = tryLockFile(paths.lock)
  if (!free) {
    const holder = readDaemonInfo(paths)
    throw new CoworkError(
      'daemon_running',
      holder
        ? `A daemon already runs on ${paths.dir}: process ${holder.pid}, port ${holder.port}, since ${holder.startedAt}.`
        : `Another process holds ${paths.lock}.`,
      { hint: 'Use it as it is, or end it with `cowork down`.' },
    )
  }
  // From here on they would speak for us: a pid that was killed may be anybody's by now, and so may its port.
  rmSync(paths.daemon, { force: true })
  rmSync(paths.pid, { force: true })
  return free
}

/** Whether a daemon runs. Reading takes a shared lock, so those who look never see each other. */
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

/** The secret by which the command line acts as the owner (I10): created once, readable by the user alone. */
export function readOrCreateOwnerToken(paths: StatePaths): string {
  if (!existsSync(paths.ownerToken))
    writeFileAtomic(paths.ownerToken, `pk-cowork-${randomHex(24)}\n`)
  return readFileSync(paths.ownerToken, 'utf8').trim()
}

/** What this machine is called in a store that several share: made once, since host names come and go. */
export function readOrCreateNodeId(paths: StatePaths): string {
  if (!existsSync(paths.node)) writeFileAtomic(paths.node, `${hostname()}-${randomHex(3)}\n`)
  return readFileSync(paths.node, 'utf8').trim()
}
