import type { SelectQueryBuilder } from 'kysely'
import { contains } from '#base/db/dialect.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import { splitWords } from '#base/words.ts'
import type {
  Approval,
  ApprovalContent,
  Decision,
  DeferredDecision,
  Mode,
  NewApproval,
  Risk,
  Status,
} from './model.ts'

export type ApprovalRow = {
  id: string
  kind: string
  status: string
  requester: string
  session: string | null
  domain: string
  action: string
  target: string
  summary: string
  mode: string
  risk: string
  digest: string
  asked_digest: string | null
  policy_version: string
  trust_level: number | null
  confidence: number | null
  content: string
  approved: string | null
  similar: string
  needed: number
  idem_key: string | null
  idem_digest: string | null
  created_at: number
  expires_at: number | null
  decided_at: number | null
  decided_by: string | null
  channel: string | null
  reason: string | null
  held_until: number | null
  held: string | null
  token: string | null
  token_expires_at: number | null
  result: string | null
  result_until: number | null
  sealed: string | null
  erased_at: number | null
  in_clear: number | null
  node: string | null
  fingerprint: string | null
  run_until: number | null
}
type Tables = {
  approval: ApprovalRow
  approval_vote: { approval: string; person: string; at: number }
}

const briefColumns = [
  ...splitWords('id kind status requester session domain action target summary mode risk digest'),
  ...splitWords('asked_digest policy_version trust_level confidence similar needed idem_key'),
  ...splitWords('idem_digest created_at expires_at decided_at decided_by channel reason'),
  ...splitWords('held_until held token token_expires_at result_until erased_at in_clear node'),
  ...splitWords('fingerprint run_until'),
]
const omittedColumns = { content: 'null', approved: null, result: null, sealed: null }

export type ApprovalBrief = Omit<Approval, 'content' | 'approved' | 'answer' | 'result' | 'sealed'>

export type ApprovalQuery = {
  readonly statuses?: readonly Status[] | undefined
  readonly kind?: string | undefined
  readonly exceptKind?: string | undefined
  readonly requester?: string | undefined
  readonly since?: number | undefined
  readonly domain?: string | undefined
  readonly digest?: string | undefined
  readonly text?: string | undefined
  readonly minConfidence?: number | undefined
  readonly minTrust?: number | undefined
  readonly ids?: readonly string[] | undefined
  /** Returns only approvals opened before this id. */
  readonly before?: string | undefined
  readonly limit: number
}

export type DecisionUpdate = {
  readonly id: string
  readonly status: Status
  readonly risk: Risk
  readonly at: number
  readonly by: string
  readonly channel: string
  readonly reason: string | null
  readonly approved: string | null
  readonly digest: string
  readonly askedDigest: string | null
  readonly token: string | null
  readonly tokenExpiresAt: number | null
  readonly sealed: string | null
}

export type ApprovalStore = ReturnType<typeof createApprovalStore>

export function createApprovalStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const selectById = (p: { id: string }) =>
    sql.selectFrom('approval').selectAll().where('id', '=', p.id)
  const findById = statement(selectById)
  const lockById = statement((p: { id: string }) => locked(selectById(p)))
  const byKey = statement((p: { requester: string; key: string }) =>
    sql
      .selectFrom('approval')
      .selectAll()
      .where('requester', '=', p.requester)
      .where('idem_key', '=', p.key),
  )
  const newestCall = (requester: string) =>
    locked(
      sql
        .selectFrom('approval')
        .selectAll()
        .where('requester', '=', requester)
        .where('kind', '=', 'call')
        .orderBy('id', 'desc')
        .limit(1),
    )
  const latestCall = statement((p: { requester: string; digest: string }) =>
    newestCall(p.requester).where((eb) =>
      eb.or([eb('digest', '=', p.digest), eb('asked_digest', '=', p.digest)]),
    ),
  )
  const approvedCall = statement((p: { requester: string; digest: string; since: number }) =>
    newestCall(p.requester)
      .where('digest', '=', p.digest)
      .where('status', '=', 'approved')
      .where('decided_at', '>=', p.since),
  )
  const decide = statement((p: DecisionUpdate) =>
    sql
      .updateTable('approval')
      .set({
        status: p.status,
        risk: p.risk,
        decided_at: p.at,
        decided_by: p.by,
        channel: p.channel,
        reason: p.reason,
        approved: p.approved,
        digest: p.digest,
        asked_digest: p.askedDigest,
        token: p.token,
        token_expires_at: p.tokenExpiresAt,
        held_until: null,
        held: null,
        sealed: p.sealed,
      })
      .where('id', '=', p.id)
      .where('status', '=', 'pending'),
  )
  const update = sql.updateTable('approval')
  const consume = statement((p: { id: string; after: number; runUntil: number | null }) =>
    sql
      .updateTable('approval')
      .set({
        status: 'consumed',
        token: null,
        token_expires_at: null,
        sealed: null,
        run_until: p.runUntil,
      })
      .where('id', '=', p.id)
      .where('status', '=', 'approved')
      .where('decided_at', '>', p.after),
  )
  const storeResult = statement((p: { id: string; result: string; until: number }) =>
    sql
      .updateTable('approval')
      .set({ result: p.result, result_until: p.until, run_until: null })
      .where('id', '=', p.id),
  )
  const pendingApprovals = sql.selectFrom('approval').where('status', '=', 'pending')

  function applyQuery<O>(from: SelectQueryBuilder<Tables, 'approval', O>, wanted: ApprovalQuery) {
    const { statuses, kind, exceptKind, requester, since, domain, digest } = wanted
    const { text, minConfidence, minTrust, ids, before } = wanted
    let q = from
    // A literal lets both engines use the partial index of pending rows.
    if (statuses?.length === 1 && statuses[0] === 'pending') q = q.where('status', '=', 'pending')
    else if (statuses) q = q.where('status', 'in', statuses)
    if (kind !== undefined) q = q.where('kind', '=', kind)
    if (exceptKind !== undefined) q = q.where('kind', '<>', exceptKind)
    if (requester !== undefined) q = q.where('requester', '=', requester)
    if (since !== undefined) q = q.where('created_at', '>=', since)
    if (domain !== undefined) q = q.where('domain', '=', domain)
    if (digest !== undefined) q = q.where('digest', '=', digest)
    if (minConfidence !== undefined) q = q.where('confidence', '>=', minConfidence)
    if (minTrust !== undefined) q = q.where('trust_level', '>=', minTrust)
    if (ids) q = q.where('id', 'in', ids.length > 0 ? ids : [''])
    if (before !== undefined) q = q.where('id', '<', before)
    if (text !== undefined)
      q = q.where((eb) =>
        eb.or(
          ['summary', 'target', 'requester', 'domain', 'action'].map((column) =>
            contains(dialect, column, text),
          ),
        ),
      )
    return q
  }

  const setDeferred = (tx: Tx, id: string, until: number | null, held: string | null) => {
    const changed = update.set({ held_until: until, held }).where('id', '=', id)
    return tx.run(query(changed.where('status', '=', 'pending')))
  }

  const findFirst = async (reader: Reader, q: ReturnType<typeof findById>) => {
    const row = await reader.first(q)
    return row && toApproval(row)
  }

  return {
    find: (reader: Reader, id: string) => findFirst(reader, findById({ id })),
    lock: (tx: Tx, id: string) => findFirst(tx, lockById({ id })),
    async byKey(tx: Tx, requester: string, key: string) {
      const row = await tx.first(byKey({ requester, key }))
      return row && { approval: toApproval(row), digest: row.idem_digest }
    },
    /**
     * Prefers an approved request that a person edited into the same call over a pending one (B3).
     */
    async latestCall(tx: Tx, requester: string, digest: string) {
      const latest = await findFirst(tx, latestCall({ requester, digest }))
      if (latest?.status !== 'pending') return latest
      const since = latest.createdAt
      return (await findFirst(tx, approvedCall({ requester, digest, since }))) ?? latest
    },
    insert: (tx: Tx, approval: Approval, key?: NewApproval['key']) =>
      tx.insert('approval', [toRow(approval, key)]),
    /** Returns false if the approval was no longer pending. */
    decide: async (tx: Tx, decided: DecisionUpdate) => (await tx.run(decide(decided))) > 0,
    /** Returns false if the approval was already claimed. */
    async withdrawApproved(
      tx: Tx,
      id: string,
      by: string,
      at: number,
      reason: string | null = null,
    ) {
      const back = update.set({
        status: 'withdrawn',
        decided_at: at,
        decided_by: by,
        channel: 'none',
        reason,
        token: null,
        token_expires_at: null,
        sealed: null,
      })
      return (await tx.run(query(back.where('id', '=', id).where('status', '=', 'approved')))) > 0
    },
    releaseKey: (tx: Tx, id: string) =>
      tx.run(query(update.set({ idem_key: null }).where('id', '=', id))),
    /** Returns false if the approval was used, or decided too long ago. */
    consume: async (tx: Tx, id: string, after: number, runUntil: number | null = null) =>
      (await tx.run(consume({ id, after, runUntil }))) > 0,
    storeResult: (tx: Tx, id: string, result: string, until: number) =>
      tx.run(storeResult({ id, result, until })),
    deleteOldResults(tx: Tx, at: number) {
      const forgotten = update.set({ result: null, result_until: null })
      return tx.run(query(forgotten.where('result_until', '<=', at)))
    },
    /** Lists approved, unclaimed calls, earliest decision first (A15). */
    async listRunnable(reader: Reader, after: number, limit: number) {
      const runnable = sql
        .selectFrom('approval')
        .select(['id', 'requester', 'domain', 'action', 'node', 'decided_at'])
        .where('kind', '=', 'call')
        .where('status', '=', 'approved')
        .where('decided_at', '>', after)
      const rows = await reader.all(query(runnable.orderBy('decided_at').limit(limit)))
      return rows.map(({ decided_at: at, ...row }) => ({ ...row, decidedAt: at ?? 0 }))
    },
    async listExpiredLeases(reader: Reader, before: number, limit: number) {
      const ended = sql.selectFrom('approval').select('id').where('run_until', '<=', before)
      const rows = await reader.all(query(ended.orderBy('run_until').limit(limit)))
      return rows.map(({ id }) => id)
    },
    renewLeases(tx: Tx, ids: readonly string[], until: number) {
      const renewed = update.set({ run_until: until }).where('id', 'in', ids)
      return tx.run(query(renewed.where('run_until', 'is not', null)))
    },
    defer: (tx: Tx, id: string, held: DeferredDecision) =>
      setDeferred(tx, id, held.until, formatDeferred(held)),
    clearDeferred: (tx: Tx, id: string) => setDeferred(tx, id, null, null),
    /** Lists the ids of due approvals: deferred decisions first, then expired requests. */
    async listDue(reader: Reader, at: number, limit: number): Promise<string[]> {
      // Two queries, each with its own index; a combined query would scan all pending rows.
      const due = (column: 'held_until' | 'expires_at') =>
        query(pendingApprovals.select('id').where(column, '<=', at).orderBy(column).limit(limit))
      const held = await reader.all(due('held_until'))
      const old = await reader.all(due('expires_at'))
      return [...new Set([...held, ...old].map(({ id }) => id))].slice(0, limit)
    },
    async nextDueAt(reader: Reader) {
      const first = (column: 'held_until' | 'expires_at') =>
        pendingApprovals.select((eb) => eb.fn.min<number | null>(column).as('at'))
      const held = first('held_until').where('held_until', 'is not', null).as('held')
      const row = await reader.first(
        query(sql.selectNoFrom([held, first('expires_at').as('expires')])),
      )
      return Math.min(row?.held ?? Infinity, row?.expires ?? Infinity)
    },
    async countPending(reader: Reader): Promise<Record<string, number>> {
      const counts = pendingApprovals.select((eb) => ['kind', eb.fn.countAll<number>().as('count')])
      const rows = await reader.all(query(counts.groupBy('kind')))
      const byKind = Object.fromEntries(rows.map(({ kind, count }) => [kind, Number(count)]))
      return { all: rows.reduce((sum, { count }) => sum + Number(count), 0), ...byKind }
    },
    /** Omits the contents, whose size agents control: parsing 50 of them takes 100 ms (RS4). */
    async listBriefs(reader: Reader, wanted: ApprovalQuery): Promise<ApprovalBrief[]> {
      const q = applyQuery(sql.selectFrom('approval').select(briefColumns), wanted)
      const rows = await reader.all(query(q.orderBy('id', 'desc').limit(wanted.limit)))
      return rows.map((row) => toApproval({ ...row, ...omittedColumns }))
    },
    async list(reader: Reader, wanted: ApprovalQuery): Promise<Approval[]> {
      const q = applyQuery(sql.selectFrom('approval').selectAll(), wanted)
      return (await reader.all(query(q.orderBy('id', 'desc').limit(wanted.limit)))).map(toApproval)
    },
    /** Omits the results, which may be large. */
    async listDecidedOnTarget(reader: Reader, { domain, target, id }: Approval, limit: number) {
      const decided = sql
        .selectFrom('approval')
        .select([...briefColumns, 'content', 'approved'])
        .where('domain', '=', domain)
        .where('target', '=', target)
        .where('decided_at', 'is not', null)
        .where('channel', '<>', 'trust')
        .where('id', '<>', id)
      const rows = await reader.all(query(decided.orderBy('decided_at', 'desc').limit(limit)))
      return rows.map((row) => toApproval({ ...row, result: null, sealed: null }))
    },
    async votes(reader: Reader, id: string) {
      const votes = sql.selectFrom('approval_vote').select('person').where('approval', '=', id)
      return (await reader.all(query(votes.orderBy('at')))).map(({ person }) => person)
    },
    vote: (tx: Tx, approval: string, person: string, at: number) =>
      tx.run(query(sql.insertInto('approval_vote').values({ approval, person, at }))),
  }
}

/** Formats a deferred decision for storage; its edit is stored only encrypted. */
export function formatDeferred({ decision, sealedChange }: DeferredDecision): string {
  const { change: _, ...rest } = decision
  return JSON.stringify({
    ...rest,
    ...(sealedChange !== undefined && { sealed_change: sealedChange }),
  })
}

function parseDeferred(text: string, until: number): DeferredDecision {
  const { sealed_change: sealedChange, ...decision } = JSON.parse(text) as Decision & {
    sealed_change?: string
  }
  return { until, decision, ...(sealedChange !== undefined && { sealedChange }) }
}

/** Builds the row of a new approval, without columns that are set later. */
const toRow = (one: Approval, key?: NewApproval['key']): Partial<ApprovalRow> => ({
  id: one.id,
  kind: one.kind,
  status: one.status,
  requester: one.requester,
  session: one.session,
  domain: one.domain,
  action: one.action,
  target: one.target,
  summary: one.summary,
  mode: one.mode,
  risk: one.risk,
  digest: one.digest,
  policy_version: one.policyVersion,
  trust_level: one.trustLevel,
  confidence: one.confidence,
  content: JSON.stringify(one.content),
  similar: one.group,
  needed: one.requiredApprovals,
  created_at: one.createdAt,
  expires_at: one.expiresAt,
  ...(one.sealed !== undefined && { sealed: one.sealed }),
  ...(one.node !== undefined && { node: one.node }),
  ...(one.fingerprint !== undefined && { fingerprint: one.fingerprint }),
  ...(key && { idem_key: key.name, idem_digest: key.digest }),
  ...(one.decidedAt !== null && {
    decided_at: one.decidedAt,
    decided_by: one.decidedBy,
    channel: one.channel,
  }),
})

export function toApproval(row: ApprovalRow): Approval {
  const { held, held_until, token, token_expires_at, approved, asked_digest, result, sealed } = row
  const { node, fingerprint, run_until: runUntil } = row
  return {
    id: row.id,
    kind: row.kind,
    status: row.status as Status,
    requester: row.requester,
    session: row.session,
    domain: row.domain,
    action: row.action,
    target: row.target,
    summary: row.summary,
    mode: row.mode as Mode,
    risk: row.risk as Risk,
    digest: row.digest,
    policyVersion: row.policy_version,
    trustLevel: row.trust_level,
    confidence: row.confidence,
    content: JSON.parse(row.content) as ApprovalContent,
    group: row.similar,
    requiredApprovals: row.needed,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    channel: row.channel,
    reason: row.reason,
    // An edit changes the digest; an answer does not.
    ...(approved !== null && {
      [asked_digest === null ? 'answer' : 'approved']: JSON.parse(approved) as unknown,
    }),
    ...(held !== null &&
      held_until !== null && {
        deferred: parseDeferred(held, held_until),
      }),
    ...(token !== null &&
      token_expires_at !== null && { token: { value: token, expiresAt: token_expires_at } }),
    ...(result !== null && { result }),
    ...(sealed !== null && { sealed }),
    ...(node !== null && { node }),
    ...(fingerprint !== null && { fingerprint }),
    ...(runUntil !== null && { runUntil }),
    ...(row.result_until !== null && { resultUntil: row.result_until }),
  }
}
