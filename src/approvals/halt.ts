import type { Caller } from '#base/caller.ts'
import { toActor } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call, CallTarget } from '#base/tool.ts'

type HaltRow = { scope: string; reason: string; by: string; at: number }
export type Halt = { scope: string; reason: string; by: string; at: string }

/**
 * `all`, one agent, one domain or one server. A name may contain inner spaces and has at most 128
 * characters, each of up to two UTF-16 units.
 */
export const haltScopePattern = /^(all|(agent|domain|server):[^\s\0](([^\s\0]| ){0,254}[^\s\0])?)$/

export type Halts = ReturnType<typeof createHalts>

/**
 * The stop switch for agents (A9). A halt applies immediately in every daemon and survives a
 * restart: on PostgreSQL each decision reads it from the store; with SQLite the daemon caches it
 * until its own next change.
 */
export function createHalts(db: Db, now: Clock) {
  const sql = builder<{ halt: HaltRow }>(db.dialect)
  const all = query(sql.selectFrom('halt').selectAll().orderBy('scope'))
  const isShared = db.dialect === 'postgres'
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<HaltRow[]> | undefined
  let known: HaltRow[] | undefined
  /** Counts changes by this daemon. Rows read before a change was committed are not cached. */
  let changed = 0
  let committed = 0
  db.onAppend(() => {
    if (committed !== changed) known = undefined
    committed = changed
  })

  /**
   * Calls that arrive during a query share the next query, which starts after all of them arrived.
   */
  function readRows(): Promise<HaltRow[]> {
    next ??= current.then(() => {
      next = undefined
      const rows = db.all(all)
      current = rows.catch(() => undefined)
      return rows
    })
    return next
  }

  async function activeHalts(): Promise<HaltRow[]> {
    if (known) return known
    const before = changed
    const rows = await readRows()
    if (!isShared && before === changed && changed === committed) known = rows
    return rows
  }

  return {
    /** Increases with each halt or resume of this daemon, before the commit. */
    revision: () => changed,

    async list(): Promise<Halt[]> {
      return (await db.all(all)).map((row) => ({ ...row, at: formatRfc3339(row.at) }))
    },

    async snapshot(): Promise<(agent: string, domain: string) => boolean> {
      const rows = await activeHalts()
      return (agent, domain) => findCovering(rows, agent, domain) !== undefined
    },

    /**
     * Returns the halt that covers this call. People are never halted, because a person must be
     * able to resume. With `tx`, the result includes earlier writes of that transaction.
     */
    async findCovering(caller: Caller, touch: CallTarget, tx?: Tx): Promise<Halt | undefined> {
      if (caller.kind !== 'agent') return undefined
      const rows = await (tx ? tx.all(all) : activeHalts())
      if (rows.length === 0) return undefined
      const row = findCovering(rows, caller.id, touch.domain)
      return row && { ...row, at: formatRfc3339(row.at) }
    },

    async set(tx: Tx, { id, caller }: Call, scope: string, reason: string): Promise<Halt> {
      const at = now()
      changed++
      const row = { reason, by: caller.id, at }
      const written = sql.insertInto('halt').values({ scope, ...row })
      await tx.run(query(written.onConflict((c) => c.column('scope').doUpdateSet(row))))
      tx.append({
        type: 'halt.set',
        actor: toActor(caller),
        subject: scope,
        ids: { call: id },
        data: { reason },
      })
      return { scope, ...row, at: formatRfc3339(at) }
    },

    async lift(tx: Tx, { id, caller }: Call, scope: string): Promise<void> {
      changed++
      if ((await tx.run(query(sql.deleteFrom('halt').where('scope', '=', scope)))) === 0)
        throw new CoworkError('not_found', `Not halted: ${JSON.stringify(scope)}.`, {
          hint: 'Run `cowork status` to list active halts.',
        })
      tx.append({
        type: 'halt.lifted',
        actor: toActor(caller),
        subject: scope,
        ids: { call: id },
      })
    },
  }
}

function findCovering(
  rows: readonly HaltRow[],
  agent: string,
  domain: string,
): HaltRow | undefined {
  const names = ['all', `agent:${agent}`, `domain:${domain}`, `server:${domain}`]
  return rows.find(({ scope }) => names.includes(scope))
}
