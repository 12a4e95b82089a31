import { sql as raw } from 'kysely'
import type { Risk } from '#approvals'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Trust } from './rules/trust.ts'

type TrustRow = {
  agent: string
  domain: string
  score: number
  approvals: number
  overrides: number
  streak: number
  promoted: number
  vouched: number
  claimed: number | null
  active_at: number
  low_good: number
  low_bad: number
  normal_good: number
  normal_bad: number
  high_good: number
  high_bad: number
}
type PointRow = {
  id: string
  agent: string
  domain: string
  at: number
  score: number
  cause: string
}
type OverrideRow = {
  id: string
  agent: string
  domain: string
  approval: string | null
  action: string
  type: string
  severity: string
  description: string
  change: number
  by: string
  at: number
}
export type PermissionRow = {
  id: string
  agent: string
  tool: string
  arguments: string | null
  lasts: string
  uses_left: number | null
  session: string | null
  expires_at: number | null
  approval: string
  by: string
  at: number
  last_used_at: number | null
  revoked_at: number | null
  /** Of the approval it came from; of one whose approval is gone, none. */
  risk: Risk | null
}
export type MappingRow = {
  agent: string
  domain: string
  policy: string
  approval: string
  by: string
  at: number
}
type Tables = {
  trust: TrustRow
  trust_point: PointRow
  override: OverrideRow
  permission: PermissionRow
  mapping: MappingRow
  approval: {
    requester: string
    domain: string
    kind: string
    status: string
    channel: string | null
    created_at: number
  }
}

type Since = { agent: string; domain: string; since: number }

export type PairTrust = { readonly agent: string; readonly domain: string; readonly trust: Trust }

export type GovernanceStore = ReturnType<typeof createGovernanceStore>

/** The only SQL about trust, overrides, permissions and the mappings that people approved. */
export function createGovernanceStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const one = statement((p: { agent: string; domain: string }) =>
    sql.selectFrom('trust').selectAll().where('agent', '=', p.agent).where('domain', '=', p.domain),
  )
  const lock = statement((p: { agent: string; domain: string }) =>
    locked(
      sql
        .selectFrom('trust')
        .selectAll()
        .where('agent', '=', p.agent)
        .where('domain', '=', p.domain),
    ),
  )
  const used = statement((p: Since) =>
    sql
      .selectFrom('approval')
      .select((eb) => eb.fn.countAll<number>().as('used'))
      .where('requester', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('created_at', '>', p.since)
      .where('kind', 'in', ['proposal', 'call']),
  )
  const oldest = statement((p: Since) =>
    sql
      .selectFrom('approval')
      .select((eb) => eb.fn.min<number | null>('created_at').as('at'))
      .where('requester', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('created_at', '>', p.since)
      .where('kind', 'in', ['proposal', 'call']),
  )
  const waiting = statement((p: { agent: string; kind: string; since: number }) =>
    sql
      .selectFrom('approval')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('kind', '=', p.kind)
      // No plain column, or SQLite would go through an agent's whole past instead of what waits.
      .where(raw<string>`requester || ''`, '=', p.agent)
      .where('created_at', '>=', p.since),
  )
  // By pairs, each of which the index finds: an agent's whole past is none of this.
  const usedByAgent = statement((p: { agent: string; since: number }) =>
    sql
      .selectFrom('trust')
      .innerJoin('approval', (join) =>
        join
          .onRef('approval.requester', '=', 'trust.agent')
          .onRef('approval.domain', '=', 'trust.domain'),
      )
      .select((eb) => [
        eb.fn.countAll<number>().as('used'),
        eb.fn.min<number | null>('created_at').as('oldest'),
      ])
      .where('trust.agent', '=', p.agent)
      .where('created_at', '>', p.since)
      .where('kind', 'in', ['proposal', 'call']),
  )
  const save = statement((p: TrustRow) => {
    const { agent, domain, ...rest } = columnsOf(p)
    return sql
      .insertInto('trust')
      .values({ agent, domain, ...rest })
      .onConflict((c) => c.columns(['agent', 'domain']).doUpdateSet(rest))
  })
  const create = statement((p: TrustRow) =>
    sql
      .insertInto('trust')
      .values(columnsOf(p))
      .onConflict((c) => c.columns(['agent', 'domain']).doNothing()),
  )
  const touch = statement((p: Since & { at: number }) =>
    sql
      .updateTable('trust')
      .set({ active_at: p.at })
      .where('agent', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('active_at', '>', p.since)
      .where('active_at', '<=', p.at)
      .returningAll(),
  )
  // Counts as well, so that a proposal needs no statement for that. The pair is locked by then: counted
  // together with the lock, PostgreSQL would count as of before it was had.
  const saveCounting = statement((p: TrustRow & Since) => {
    const { agent, domain, ...rest } = columnsOf(p)
    return sql
      .updateTable('trust')
      .set(rest)
      .where('agent', '=', agent)
      .where('domain', '=', domain)
      .returning((eb) =>
        eb
          .selectFrom('approval')
          .select(eb.fn.countAll<number>().as('count'))
          .where('requester', '=', p.agent)
          .where('approval.domain', '=', p.domain)
          .where('created_at', '>', p.since)
          .where('kind', 'in', ['proposal', 'call'])
          .as('used'),
      )
  })
  const points = statement((p: Since) =>
    sql
      .selectFrom('trust_point')
      .selectAll()
      .where('agent', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('at', '>=', p.since)
      .orderBy('at'),
  )
  const pointBefore = statement((p: { agent: string; domain: string; before: number }) =>
    sql
      .selectFrom('trust_point')
      .selectAll()
      .where('agent', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('at', '<', p.before)
      .orderBy('at', 'desc')
      .limit(1),
  )
  const overrideOf = statement((p: { approval: string }) =>
    sql.selectFrom('override').selectAll().where('approval', '=', p.approval),
  )
  const live = statement((p: { agent: string; tool: string }) =>
    sql
      .selectFrom('permission')
      .selectAll()
      .where('agent', '=', p.agent)
      .where('tool', '=', p.tool)
      .where('revoked_at', 'is', null)
      .orderBy('id'),
  )
  const allPermissions = query(sql.selectFrom('permission').selectAll())
  const repattern = statement((p: { id: string; text: string }) =>
    sql.updateTable('permission').set({ arguments: p.text }).where('id', '=', p.id),
  )
  const permissions = query(
    sql.selectFrom('permission').selectAll().where('revoked_at', 'is', null).orderBy('id', 'desc'),
  )
  const use = statement((p: { id: string; at: number }) =>
    sql
      .updateTable('permission')
      .set({ uses_left: raw<number>`uses_left - 1`, last_used_at: p.at })
      .where('id', '=', p.id)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('uses_left', 'is', null), eb('uses_left', '>', 0)]))
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.at)]))
      .returningAll(),
  )
  const revoke = statement((p: { id: string; at: number }) =>
    sql
      .updateTable('permission')
      .set({ revoked_at: p.at })
      .where('id', '=', p.id)
      .where('revoked_at', 'is', null)
      .returningAll(),
  )
  const endPermissions = statement((p: { agent: string; at: number }) =>
    sql
      .updateTable('permission')
      .set({ revoked_at: p.at })
      .where('agent', '=', p.agent)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('uses_left', 'is', null), eb('uses_left', '>', 0)]))
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.at)]))
      .returningAll(),
  )
  const unmap = statement((p: { agent: string }) =>
    sql.deleteFrom('mapping').where('agent', '=', p.agent).returningAll(),
  )
  const mappings = query(sql.selectFrom('mapping').selectAll().orderBy('at'))
  const domains = statement((p: { since: number }) =>
    sql.selectFrom('trust').select('domain').distinct().where('active_at', '>=', p.since),
  )
  const map = statement((p: MappingRow) => {
    const { agent, domain, policy, approval, by, at } = p
    return sql
      .insertInto('mapping')
      .values({ agent, domain, policy, approval, by, at })
      .onConflict((c) => c.columns(['agent', 'domain']).doUpdateSet({ policy, approval, by, at }))
  })

  return {
    async trust(reader: Reader, agent: string, domain: string): Promise<Trust | undefined> {
      const row = await reader.first(one({ agent, domain }))
      return row && toTrust(row)
    },
    /** To be changed in this transaction. */
    async lock(tx: Tx, agent: string, domain: string): Promise<Trust | undefined> {
      const row = await tx.first(lock({ agent, domain }))
      return row && toTrust(row)
    },
    /** Of an agent that was active since: its trust, active at that time. */
    async touch(tx: Tx, active: Since & { at: number }): Promise<Trust | undefined> {
      const row = await tx.first(touch(active))
      return row && toTrust(row)
    },
    /** Unless another daemon did meanwhile. */
    create: (tx: Tx, agent: string, domain: string, trust: Trust) =>
      tx.run(create(toRow(agent, domain, trust))),
    /** How many proposals and waiting calls there were since. */
    used: async (reader: Reader, agent: string, domain: string, since: number) =>
      Number((await reader.first(used({ agent, domain, since })))?.used ?? 0),
    /** All its pairs at once, until the transaction ends; SQLite has one writer anyway. */
    async lockAgent(tx: Tx, agent: string): Promise<void> {
      if (dialect === 'postgres')
        await tx.first({
          sql: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 1668249453))',
          parameters: [agent],
        })
    },
    /** The same over all domains, with when the first of them was. */
    async usedByAgent(reader: Reader, agent: string, since: number) {
      const row = await reader.first(usedByAgent({ agent, since }))
      return { used: Number(row?.used ?? 0), oldest: row?.oldest ?? undefined }
    },
    /** Saves what is there already, and tells the same. */
    saveCounting: async (tx: Tx, agent: string, domain: string, trust: Trust, since: number) =>
      Number((await tx.first(saveCounting({ ...toRow(agent, domain, trust), since })))?.used ?? 0),
    oldest: async (tx: Tx, agent: string, domain: string, since: number) =>
      (await tx.first(oldest({ agent, domain, since })))?.at ?? undefined,
    save: (tx: Tx, agent: string, domain: string, trust: Trust) =>
      tx.run(save(toRow(agent, domain, trust))),
    async all(reader: Reader, filter: { agent?: string; domain?: string }): Promise<PairTrust[]> {
      let q = sql.selectFrom('trust').selectAll()
      if (filter.agent !== undefined) q = q.where('agent', '=', filter.agent)
      if (filter.domain !== undefined) q = q.where('domain', '=', filter.domain)
      const rows = await reader.all(query(q.orderBy('agent').orderBy('domain')))
      return rows.map((row) => ({ agent: row.agent, domain: row.domain, trust: toTrust(row) }))
    },
    point: (tx: Tx, row: PointRow) => tx.insert('trust_point', [row]),
    points: (reader: Reader, agent: string, domain: string, since: number) =>
      reader.all(points({ agent, domain, since })),
    pointBefore: (reader: Reader, agent: string, domain: string, before: number) =>
      reader.first(pointBefore({ agent, domain, before })),
    override: (tx: Tx, row: OverrideRow) => tx.insert('override', [row]),
    overrideOf: (reader: Reader, approval: string) => reader.first(overrideOf({ approval })),
    livePermissions: (reader: Reader, agent: string, tool: string) =>
      reader.all(live({ agent, tool })),
    permissions: (reader: Reader) => reader.all(permissions),
    allPermissions: (tx: Tx) => tx.all(allPermissions),
    repattern: (tx: Tx, id: string, text: string) => tx.run(repattern({ id, text })),
    permit: (tx: Tx, row: PermissionRow) => tx.insert('permission', [row]),
    /** Undefined when it ended or was used up meanwhile. */
    use: (tx: Tx, id: string, at: number) => tx.first(use({ id, at })),
    /** Undefined when it was revoked before. */
    revoke: (tx: Tx, id: string, at: number) => tx.first(revoke({ id, at })),
    /** All of one agent that can still be used; returns them as stored from now on. */
    endPermissions: (tx: Tx, agent: string, at: number) => tx.all(endPermissions({ agent, at })),
    /** How many of a kind wait for a person, of what an agent asked since then. */
    waiting: async (reader: Reader, agent: string, kind: string, since: number) =>
      Number((await reader.first(waiting({ agent, kind, since })))?.count ?? 0),
    mappings: (reader: Reader) => reader.all(mappings),
    /** Every domain in which an agent was active since; a new one is active when its trust is first kept. */
    domains: async (reader: Reader, since: number) =>
      (await reader.all(domains({ since }))).map(({ domain }) => domain),
    map: (tx: Tx, row: MappingRow) => tx.run(map(row)),
    /** All of one agent; gives them. */
    unmap: (tx: Tx, agent: string) => tx.all(unmap({ agent })),
  }
}

/** Each column read from the slots, so that none is left out of the statement. */
const columnsOf = (p: TrustRow): TrustRow => ({
  agent: p.agent,
  domain: p.domain,
  score: p.score,
  approvals: p.approvals,
  overrides: p.overrides,
  streak: p.streak,
  promoted: p.promoted,
  vouched: p.vouched,
  claimed: p.claimed,
  active_at: p.active_at,
  low_good: p.low_good,
  low_bad: p.low_bad,
  normal_good: p.normal_good,
  normal_bad: p.normal_bad,
  high_good: p.high_good,
  high_bad: p.high_bad,
})

const toTrust = (row: TrustRow): Trust => ({
  score: row.score,
  approvals: row.approvals,
  overrides: row.overrides,
  streak: row.streak,
  promoted: row.promoted !== 0,
  vouched: row.vouched !== 0,
  claimed: row.claimed === 1,
  activeAt: row.active_at,
  evidence: {
    low: { good: row.low_good, bad: row.low_bad },
    normal: { good: row.normal_good, bad: row.normal_bad },
    high: { good: row.high_good, bad: row.high_bad },
  },
})

export const toRow = (agent: string, domain: string, trust: Trust): TrustRow => ({
  agent,
  domain,
  score: trust.score,
  approvals: trust.approvals,
  overrides: trust.overrides,
  streak: trust.streak,
  promoted: trust.promoted ? 1 : 0,
  vouched: trust.vouched ? 1 : 0,
  claimed: trust.claimed ? 1 : 0,
  active_at: trust.activeAt,
  low_good: trust.evidence.low.good,
  low_bad: trust.evidence.low.bad,
  normal_good: trust.evidence.normal.good,
  normal_bad: trust.evidence.normal.bad,
  high_good: trust.evidence.high.good,
  high_bad: trust.evidence.high.bad,
})
