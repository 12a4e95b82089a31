// N30: repeatedly kills the real daemon at a random time under load, restarts it and checks it.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPostgres } from '#base/db/postgres.ts'
import { readSqlite } from '#base/db/sqlite.ts'
import { statePaths } from '#base/state.ts'
import { configure, cowork, startDaemon } from '../daemon.ts'
import type { Daemon } from '../daemon.ts'
import { seeded } from '../seeded.ts'
import { writeUntilKilled } from './load.ts'

export type CrashOptions = {
  readonly rounds: number
  readonly seed: number
  /** A PostgreSQL database; default SQLite. */
  readonly url?: string | undefined
  readonly onRound?: (round: number, acknowledged: number) => void
}

export type CrashResult = {
  readonly acknowledged: number
  readonly entries: number
  /** Descriptions of failures. */
  readonly faults: readonly string[]
}

/** Maximum delay after the first write, so that kills hit commits, checkpoints and idle times. */
const maxDelayMs = 400

export async function crashRounds({
  rounds,
  seed,
  url,
  onRound,
}: CrashOptions): Promise<CrashResult> {
  const state = mkdtempSync(join(tmpdir(), 'cowork-crash-'))
  const random = seeded(seed)
  const acknowledged: string[] = []
  const faults: string[] = []
  let entries = 0
  let running: Daemon | undefined
  configure(state, url)
  try {
    for (let round = 1; round <= rounds; round++) {
      running = await startDaemon(state)
      const begun = Promise.withResolvers<void>()
      const writing = writeUntilKilled(running, round, begun.resolve)
      // Measured from the first write, which may take long on a busy machine.
      await Promise.race([begun.promise, writing])
      await sleep(random() * maxDelayMs)
      await running.kill('SIGKILL')
      const written = await writing
      acknowledged.push(...written.acknowledged)

      running = await startDaemon(state)
      const checked = await check(state, url, acknowledged)
      entries = checked.entries
      if (written.refused.length > 0) checked.faults.push(`${written.refused.length} refused`)
      faults.push(...checked.faults.map((fault) => `round ${round}, seed ${seed}: ${fault}`))
      await running.kill('SIGKILL')
      onRound?.(round, acknowledged.length)
    }
  } finally {
    await running?.kill('SIGKILL')
    rmSync(state, { recursive: true, force: true })
  }
  return { acknowledged: acknowledged.length, entries, faults }
}

type Verified = { entries: number; problems: { seq: number; why: string }[]; findings: unknown[] }

async function check(state: string, url: string | undefined, acknowledged: readonly string[]) {
  const faults: string[] = []
  const { entries, problems, findings } = await verify(state)
  faults.push(...problems.map(({ seq, why }) => `entry ${seq}: ${why}`))
  if (findings.length > 0) faults.push(`the ledger tells of ${JSON.stringify(findings)}`)

  const { writes, calls, repeated } = await recorded(state, url)
  if (repeated.length > 0) faults.push(`there twice: ${repeated.slice(0, 5).join(', ')}`)
  const lost = acknowledged.filter((target) => !writes.has(target))
  if (lost.length > 0)
    faults.push(`${lost.length} acknowledged writes are lost: ${lost.slice(0, 5).join(', ')}`)
  // A change and its entry are one commit, so a kill leaves both or neither (L1).
  const alone = [...writes].filter(([, call]) => !calls.has(call))
  if (alone.length > 0) faults.push(`${alone.length} writes are there without their call`)
  return { entries, faults }
}

/** Runs `cowork audit verify`. */
function verify(state: string): Promise<Verified> {
  const { command, args, env } = cowork(state)
  return new Promise((resolve, reject) => {
    execFile(command, [...args, '--json', 'audit', 'verify'], { env }, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Verified)
      } catch {
        reject(new Error(`the ledger could not be verified: ${stderr || error?.message}`))
      }
    })
  })
}

/** Returns the recorded writes by call, and the completed calls. */
async function recorded(state: string, url: string | undefined) {
  const db = url ? await readPostgres(url) : readSqlite(statePaths(state).store)
  const rows = await db.all<{ type: string; subject: string; call: string }>({
    sql: `SELECT type, subject, call FROM ledger_entry WHERE type IN ('action.logged', 'call.done') ORDER BY seq`,
    parameters: [],
  })
  await db.close()
  const writes = new Map<string, string>()
  const calls = new Set<string>()
  const repeated: string[] = []
  for (const { type, subject, call } of rows)
    if (type === 'call.done') calls.add(call)
    else if (writes.has(subject)) repeated.push(subject)
    else writes.set(subject, call)
  return { writes, calls, repeated }
}
