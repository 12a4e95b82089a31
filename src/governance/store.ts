import { sql as raw } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import { risks } from '#approvals'
import type { Risk } from '#approvals'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { OldEvidence } from './convert-evidence.ts'
import type { TrustStanding } from './rules/standing.ts'
import type { Proof, Trust } from './rules/trust.ts'
import type { Mark, TrustKey } from './trust-service.ts'

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
  seen_at: number | null
  client: string | null
} & Record<`${Risk}_${keyof TrustStanding}`, number | null>
/** Columns of earlier versions. They are converted once and stay until a later migration drops them. */
type OldColumns = Record<`${Risk}_${keyof OldEvidence}`, number>
export type KindRow = { agent: string; domain: string; risk: Risk; kind: string; credit: number }
/** A check of an autonomous action; `act` is the id of its proposal or call. */
export type CheckRow = {
  act: string
  approval: string
  agent: string
  domain: string
  risk: Risk
  /** Shared by the checks of one look-back. */
  look_back: string | null
  opened_at: number
  read_at: number | null
}
type PointRow = {
  id: string
  agent: string
  domain: string
  at: number
  score: number
  cause: string
  /** Gate event of a risk class. */
  mark: Mark | null
  risk: Risk | null
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
  /** From the approval; null if that approval is gone. */
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
  trust: TrustRow & OldColumns
  trust_kind: KindRow
  spot_check: CheckRow
  trust_point: PointRow
  override: OverrideRow
  permission: PermissionRow
  mapping: MappingRow
  approval: {
    requester: string
    domain: string
    action: string
    risk: Risk
    kind: string
    status: string
    channel: string | null
    decided_by: string | null
    asked_digest: string | null
    created_at: number
  }
}

/** The id of everyone who decides with authentication off; no person can have it. */
const unverified = 'unverified'

type KindKey = Omit<KindRow, 'credit'>
type Since = TrustKey & { readonly since: number }

type TrustFilter = { readonly agent: string | undefined; readonly domain: string | undefined }

export type TrustRecord = TrustKey & { readonly trust: Trust }

export type GovernanceStore = ReturnType<typeof createGovernanceStore>

export function createGovernanceStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const withRowLock = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const kindRow = (p: KindKey) =>
    sql
      .selectFrom('trust_kind')
      .where('agent', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('risk', '=', p.risk)
      .where('kind', '=', p.kind)
  const selectTrust = (p: TrustKey) =>
    sql.selectFrom('trust').selectAll().where('agent', '=', p.agent).where('domain', '=', p.domain)
  const selectOne = statement(selectTrust)
  const lock = statement((p: TrustKey) => withRowLock(selectTrust(p)))
  const selectRequestsSince = (p: Since) =>
    sql
      .selectFrom('approval')
      .where('requester', '=', p.agent)
      .where('domain', '=', p.domain)
      .where('created_at', '>', p.since)
      .where('kind', 'in', ['proposal', 'call'])
  const countRequests = statement((p: Since) =>
    selectRequestsSince(p).select((eb) => eb.fn.countAll<number>().as('used')),
  )
  const oldest = statement((p: Since) =>
    selectRequestsSince(p).select((eb) => eb.fn.min<number | null>('created_at').as('at')),
  )
  const countPending = statement((p: { agent: string; kind: string; since: number }) =>
    sql
      .selectFrom('approval')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('kind', '=', p.kind)
      // An expression, or SQLite would scan all requests of an agent instead of the pending ones.
      .where(raw<string>`requester || ''`, '=', p.agent)
      .where('created_at', '>=', p.since),
  )
  // By trust record, so that an index finds the requests instead of a scan over all of the agent.
  const countByAgent = statement((p: { agent: string; since: number }) =>
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
      .values({ agent, domain, ...rest, ...noOldEvidence })
      .onConflict((c) => c.columns(['agent', 'domain']).doUpdateSet(rest))
  })
  const create = statement((p: TrustRow) =>
    sql
      .insertInto('trust')
      .values({ ...columnsOf(p), ...noOldEvidence })
      .onConflict((c) => c.columns(['agent', 'domain']).doNothing()),
  )
  const kind = statement((p: KindKey) => kindRow(p).select('credit'))
  const saveKind = statement((p: KindRow) => {
    const { agent, domain, risk, kind: name, credit } = p
    return sql
      .insertInto('trust_kind')
      .values({ agent, domain, risk, kind: name, credit })
      .onConflict((c) => c.columns(['agent', 'domain', 'risk', 'kind']).doUpdateSet({ credit }))
  })
  const selectUnread = ({ agent, domain, risk }: Pick<KindKey, 'agent' | 'domain' | 'risk'>) =>
    sql
      .selectFrom('spot_check')
      .where('agent', '=', agent)
      .where('domain', '=', domain)
      .where('risk', '=', risk)
      .where('read_at', 'is', null)
  // Reads all inputs of the gate besides trust in one statement.
  const proof = statement((p: KindKey) =>
    sql.selectNoFrom([
      kindRow(p).select('credit').as('kind'),
      selectUnread(p)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .as('count'),
      selectUnread(p)
        .select((eb) => eb.fn.min<number | null>('opened_at').as('at'))
        .as('oldest'),
    ]),
  )
  const checks = sql.selectFrom('spot_check')
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
  // Counts too, which saves a proposal one statement. The record is locked already: counted together with the lock,
  // PostgreSQL would count before the lock was acquired.
  const saveAndCount = statement((p: TrustRow & Since) => {
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
  const selectPoints = (p: TrustKey) =>
    sql
      .selectFrom('trust_point')
      .selectAll()
      .where('agent', '=', p.agent)
      .where('domain', '=', p.domain)
  const unrevoked = sql.selectFrom('permission').selectAll().where('revoked_at', 'is', null)
  const live = statement((p: { agent: string; tool: string }) =>
    unrevoked.where('agent', '=', p.agent).where('tool', '=', p.tool).orderBy('id'),
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
  const updateRevoked = (at: number) =>
    sql.updateTable('permission').set({ revoked_at: at }).where('revoked_at', 'is', null)
  const mappings = query(sql.selectFrom('mapping').selectAll().orderBy('at'))

  const first = async (reader: Reader, q: ReturnType<typeof selectOne>) => {
    const row = await reader.first(q)
    return row && toTrust(row)
  }

  return {
    trust: (reader: Reader, agent: string, domain: string) =>
      first(reader, selectOne({ agent, domain })),
    lock: (tx: Tx, agent: string, domain: string) => first(tx, lock({ agent, domain })),
    /** Updates the activity time of a recently active agent and returns its trust. */
    touch: (tx: Tx, active: Since & { at: number }) => first(tx, touch(active)),
    /** Reads the inputs of the gate for a kind of action (T11). */
    async proof(reader: Reader, key: KindKey, now: number): Promise<Proof> {
      const { kind: credit, count, oldest: at } = (await reader.first(proof(key))) ?? {}
      return { kind: credit ?? 0, unread: unreadAt(count, at, now) }
    },
    /** Undefined for a kind of action without decisions. */
    kind: async (reader: Reader, key: KindKey) => (await reader.first(kind(key)))?.credit,
    kinds(reader: Reader, agent: string, domain: string) {
      const own = sql.selectFrom('trust_kind').selectAll().where('agent', '=', agent)
      const kinds = own.where('domain', '=', domain).orderBy('risk').orderBy('kind')
      return reader.all(query(kinds))
    },
    saveKind: (tx: Tx, row: KindRow) => tx.run(saveKind(row)),
    /** Counts unread checks by risk class, and how many are from look-backs. */
    async unread(reader: Reader, agent: string, domain: string, now: number) {
      const unread = checks
        .select((eb) => [
          'risk',
          eb.fn.countAll<number>().as('count'),
          eb.fn.min<number>('opened_at').as('oldest'),
          eb.fn.count<number>('look_back').as('look_backs'),
        ])
        .where('agent', '=', agent)
        .where('domain', '=', domain)
        .where('read_at', 'is', null)
      const rows = await reader.all(query(unread.groupBy('risk')))
      return new Map(
        rows.map((row) => [
          row.risk,
          { ...unreadAt(row.count, row.oldest, now), lookBacks: Number(row.look_backs) },
        ]),
      )
    },
    async unconverted(reader: Reader) {
      const old = sql.selectFrom('trust').selectAll().where('normal_credit', 'is', null)
      const rows = await reader.all(query(old.orderBy('agent')))
      return rows.map(({ agent, domain, ...row }) => {
        const toEvidence = (risk: Risk) => ({ good: row[`${risk}_good`], bad: row[`${risk}_bad`] })
        const evidence = {
          low: toEvidence('low'),
          normal: toEvidence('normal'),
          high: toEvidence('high'),
        }
        return { agent, domain, trust: toTrust({ agent, domain, ...row }), evidence }
      })
    },
    /** Counts the unedited approvals of each kind of action by people. */
    async approvedKinds(reader: Reader, agent: string, domain: string) {
      const approved = sql
        .selectFrom('approval')
        .select((eb) => ['risk', 'action as kind', eb.fn.countAll<number>().as('count')])
        .where('requester', '=', agent)
        .where('domain', '=', domain)
        .where('kind', 'in', ['proposal', 'call'])
        .where('status', 'in', ['approved', 'consumed'])
        .where('channel', '<>', 'trust')
        .where('decided_by', '<>', unverified)
        .where('asked_digest', 'is', null)
      const rows = await reader.all(query(approved.groupBy(['risk', 'action'])))
      return rows.map(({ risk, kind: name, count }) => ({ risk, kind: name, count: Number(count) }))
    },
    openCheck: (tx: Tx, row: CheckRow) => tx.insert('spot_check', [row]),
    findCheckByApproval: (reader: Reader, approval: string) =>
      reader.first(query(checks.selectAll().where('approval', '=', approval))),
    findCheck: (reader: Reader, act: string) =>
      reader.first(query(checks.selectAll().where('act', '=', act))),
    /** Lists the approvals that check these actions, for erasing their copies (L8). */
    async listChecks(reader: Reader, acts: readonly string[]): Promise<string[]> {
      if (acts.length === 0) return []
      const found = checks.select('approval').where('act', 'in', acts)
      return (await reader.all(query(found))).map(({ approval }) => approval)
    },
    markCheckRead(tx: Tx, approval: string, at: number) {
      const read = sql.updateTable('spot_check').set({ read_at: at })
      return tx.run(query(read.where('approval', '=', approval)))
    },
    /** Does nothing if another daemon created the row first. */
    create: (tx: Tx, agent: string, domain: string, trust: Trust) =>
      tx.run(create(toRow(agent, domain, trust))),
    /** Counts proposals and pending calls since that time. */
    used: async (reader: Reader, agent: string, domain: string, since: number) =>
      Number((await reader.first(countRequests({ agent, domain, since })))?.used ?? 0),
    /** Locks all trust records of an agent until the transaction ends; SQLite has one writer anyway. */
    async lockAgent(tx: Tx, agent: string): Promise<void> {
      if (dialect === 'postgres')
        await tx.first({
          sql: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 1668249453))',
          parameters: [agent],
        })
    },
    /** Counts over all domains, with the time of the first request. */
    async usedByAgent(reader: Reader, agent: string, since: number) {
      const row = await reader.first(countByAgent({ agent, since }))
      return { used: Number(row?.used ?? 0), oldest: row?.oldest ?? undefined }
    },
    /** Updates an existing row and returns the same count. */
    saveCounting: async (tx: Tx, agent: string, domain: string, trust: Trust, since: number) =>
      Number((await tx.first(saveAndCount({ ...toRow(agent, domain, trust), since })))?.used ?? 0),
    oldest: async (tx: Tx, agent: string, domain: string, since: number) =>
      (await tx.first(oldest({ agent, domain, since })))?.at ?? undefined,
    save: (tx: Tx, agent: string, domain: string, trust: Trust) =>
      tx.run(save(toRow(agent, domain, trust))),
    async all(reader: Reader, filter: Partial<TrustFilter>): Promise<TrustRecord[]> {
      let q = sql.selectFrom('trust').selectAll()
      if (filter.agent !== undefined) q = q.where('agent', '=', filter.agent)
      if (filter.domain !== undefined) q = q.where('domain', '=', filter.domain)
      const rows = await reader.all(query(q.orderBy('agent').orderBy('domain')))
      return rows.map((row) => ({ agent: row.agent, domain: row.domain, trust: toTrust(row) }))
    },
    point: (tx: Tx, row: PointRow) => tx.insert('trust_point', [row]),
    points: (reader: Reader, agent: string, domain: string, since: number) =>
      reader.all(query(selectPoints({ agent, domain }).where('at', '>=', since).orderBy('at'))),
    pointBefore(reader: Reader, agent: string, domain: string, before: number) {
      const older = selectPoints({ agent, domain }).where('at', '<', before)
      return reader.first(query(older.orderBy('at', 'desc').limit(1)))
    },
    override: (tx: Tx, row: OverrideRow) => tx.insert('override', [row]),
    /** Prefers the override of a person to one of an unverified caller: only the former is final (A3). */
    async overrideOf(reader: Reader, approval: string) {
      const found = sql.selectFrom('override').selectAll().where('approval', '=', approval)
      const known = (eb: ExpressionBuilder<Tables, 'override'>) =>
        eb.case().when('by', '=', unverified).then(1).else(0).end()
      const row = await reader.first(query(found.orderBy(known)))
      return row && { ...row, isVerified: row.by !== unverified }
    },
    livePermissions: (reader: Reader, agent: string, tool: string) =>
      reader.all(live({ agent, tool })),
    permissions: (reader: Reader) => reader.all(query(unrevoked.orderBy('id', 'desc'))),
    allPermissions: (tx: Tx) => tx.all(query(sql.selectFrom('permission').selectAll())),
    updatePattern: (tx: Tx, id: string, text: string) =>
      tx.run(query(sql.updateTable('permission').set({ arguments: text }).where('id', '=', id))),
    addPermission: (tx: Tx, row: PermissionRow) => tx.insert('permission', [row]),
    /** Undefined if the permission ended or was used up since. */
    use: (tx: Tx, id: string, at: number) => tx.first(use({ id, at })),
    revoke: (tx: Tx, id: string, at: number) =>
      tx.first(query(updateRevoked(at).where('id', '=', id).returningAll())),
    /** Revokes all usable permissions of an agent; returns the new rows. */
    revokePermissions(tx: Tx, agent: string, at: number) {
      const live = updateRevoked(at)
        .where('agent', '=', agent)
        .where((eb) => eb.or([eb('uses_left', 'is', null), eb('uses_left', '>', 0)]))
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
      return tx.all(query(live.returningAll()))
    },
    /** Counts pending requests of one kind that an agent opened since that time. */
    waiting: async (reader: Reader, agent: string, kind: string, since: number) =>
      Number((await reader.first(countPending({ agent, kind, since })))?.count ?? 0),
    mappings: (reader: Reader) => reader.all(mappings),
    /** Lists every domain with agent activity since that time; creating trust counts as activity. */
    async domains(reader: Reader, since: number) {
      const active = sql.selectFrom('trust').select('domain').distinct()
      const rows = await reader.all(query(active.where('active_at', '>=', since)))
      return rows.map(({ domain }) => domain)
    },
    addMapping(tx: Tx, { agent, domain, ...rest }: MappingRow) {
      const mapping = sql.insertInto('mapping').values({ agent, domain, ...rest })
      const key = ['agent', 'domain'] as const
      return tx.run(query(mapping.onConflict((c) => c.columns(key).doUpdateSet(rest))))
    },
    removeMappings: (tx: Tx, agent: string) =>
      tx.all(query(sql.deleteFrom('mapping').where('agent', '=', agent).returningAll())),
  }
}

const unreadAt = (count: unknown, oldest: number | null | undefined, now: number) => ({
  count: Number(count ?? 0),
  oldestMs: Math.max(0, now - (oldest ?? now)),
})

/** Builds a value for each risk column, such as `low_credit` and `high_clean`. */
const byRisk = <K extends string, T>(kinds: readonly K[], of: (risk: Risk, kind: K) => T) =>
  Object.fromEntries(
    risks.flatMap((risk) => kinds.map((kind) => [`${risk}_${kind}`, of(risk, kind)])),
  ) as Record<`${Risk}_${K}`, T>

const standingParts = ['credit', 'strikes', 'clean'] as const
const noOldEvidence: OldColumns = byRisk(['good', 'bad'], () => 0)

/** Names each column, so that none is missing in the statement. */
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
  seen_at: p.seen_at,
  client: p.client,
  ...byRisk(standingParts, (risk, part) => p[`${risk}_${part}`]),
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
  seenAt: row.seen_at ?? 0,
  client: row.client,
  standings: {
    low: toStanding(row, 'low'),
    normal: toStanding(row, 'normal'),
    high: toStanding(row, 'high'),
  },
})

const toStanding = (row: TrustRow, risk: Risk): TrustStanding => ({
  credit: row[`${risk}_credit`] ?? 0,
  strikes: row[`${risk}_strikes`] ?? 0,
  clean: row[`${risk}_clean`] ?? 0,
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
  seen_at: trust.seenAt,
  client: trust.client,
  ...byRisk(standingParts, (risk, part) => trust.standings[risk][part]),
})
