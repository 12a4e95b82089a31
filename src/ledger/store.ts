import type { ExpressionBuilder } from 'kysely'
import { contains, rawBytes, startsWith } from '#base/db/dialect.ts'
import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Actor } from '#base/entry.ts'
import type { ReadHashes } from './proof.ts'

export type EntryRow = {
  seq: number
  at: number
  type: string
  actor: string
  domain: string | null
  subject: string | null
  tool: string | null
  call: string | null
  proposal: string | null
  body: string
  hash: string
}
export type HeadRow = {
  id: number
  size: number
  at: number
  hash: string
  frontier: string
  /** Null if an older version wrote the store last. */
  mac: string | null
}
export type NodeRow = { level: number; idx: number; hash: string }
export type PayloadRow = { seq: number; salt: string; body: string }
export type CheckpointRow = { size: number; at: number; note: string }

type Tables = {
  ledger_entry: EntryRow
  ledger_payload: PayloadRow
  ledger_node: NodeRow
  ledger_head: HeadRow
  ledger_checkpoint: CheckpointRow
  ledger_key: { id: number; vkey: string }
  ledger_follower: { name: string; seq: number }
}

export type EntryFilter = {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly actor?: string | undefined
  /** An agent and a person may have the same id. */
  readonly actorKind?: Actor['kind'] | undefined
  readonly domain?: string | undefined
  /** Types such as `call.done`, or prefixes such as `call.` */
  readonly types?: readonly string[] | undefined
  readonly subjectPrefix?: string | undefined
  /** Prefix of the subject or of a file of the entry. */
  readonly pathPrefix?: string | undefined
  readonly toolPrefix?: string | undefined
  readonly call?: string | undefined
  readonly proposal?: string | undefined
  /** Text anywhere in the entry; ignores the case of ASCII letters. */
  readonly text?: string | undefined
  readonly limit: number
  readonly newestFirst?: boolean | undefined
}

/** Selects autonomous actions of an actor, with one risk or all. */
export type AutonomousFilter = {
  readonly actor: string
  readonly domain: string
  readonly risk?: string | undefined
}

/** Maximum number of entries of one actor to search. With a low limit an agent could hide actions behind many reads. */
const maxSearched = 100_000

export type LedgerStore = ReturnType<typeof createLedgerStore>

export function createLedgerStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q

  const head = query(locked(sql.selectFrom('ledger_head').selectAll().where('id', '=', 1)))
  const peek = query(sql.selectFrom('ledger_head').selectAll().where('id', '=', 1))
  const saveHead = statement((p: Omit<HeadRow, 'id'>) => {
    const { size, at, hash, frontier, mac } = p
    const values = { size, at, hash, frontier, mac }
    return sql
      .insertInto('ledger_head')
      .values({ id: 1, ...values })
      .onConflict((c) => c.column('id').doUpdateSet(values))
  })
  const entries = sql.selectFrom('ledger_entry')
  const nodes = sql.selectFrom('ledger_node')
  const checkpoints = sql.selectFrom('ledger_checkpoint').selectAll()
  const page = statement((p: { after: number; limit: number }) =>
    entries.selectAll().where('seq', '>', p.after).orderBy('seq').limit(p.limit),
  )
  const stored = statement((p: { after: number; limit: number }) =>
    sql
      .selectFrom('ledger_entry')
      .leftJoin('ledger_payload', 'ledger_payload.seq', 'ledger_entry.seq')
      .select([
        'ledger_entry.seq',
        'ledger_entry.at',
        'ledger_entry.type',
        'ledger_entry.actor',
        'ledger_entry.domain',
        'ledger_entry.subject',
        'ledger_entry.tool',
        'ledger_entry.call',
        'ledger_entry.proposal',
        'ledger_entry.hash',
        'ledger_entry.body',
        'ledger_payload.salt as payload_salt',
        'ledger_payload.body as payload_body',
      ])
      .where('ledger_entry.seq', '>', p.after)
      .orderBy('ledger_entry.seq')
      .limit(p.limit),
  )
  const selectEntry = statement((p: { seq: number }) =>
    entries.selectAll().where('seq', '=', p.seq),
  )
  const payload = statement((p: { seq: number }) =>
    sql.selectFrom('ledger_payload').selectAll().where('seq', '=', p.seq),
  )
  const cursor = statement((p: { name: string }) => {
    const found = sql.selectFrom('ledger_follower').select('seq').where('name', '=', p.name)
    return dialect === 'postgres' ? found.forUpdate().skipLocked() : found
  })
  const saveCursor = statement((p: { name: string; seq: number }) => {
    const { name, seq } = p
    return sql
      .insertInto('ledger_follower')
      .values({ name, seq })
      .onConflict((c) => c.column('name').doUpdateSet({ seq }))
  })

  const selectNewest = (actor: string, most: number) => {
    const own = entries.select('seq').where('actor', '=', actor)
    const newest = own.orderBy('seq', 'desc').limit(most)
    return entries.selectAll().where('seq', 'in', newest)
  }

  return {
    /** Locks the head on PostgreSQL. Taken last and released at commit, the lock gives a total order. */
    head: (tx: Tx) => tx.first(head),
    peek: (reader: Reader) => reader.first(peek),
    saveHead: (tx: Tx, row: Omit<HeadRow, 'id'>) => tx.run(saveHead(row)),
    addEntries: (tx: Tx, rows: EntryRow[]) => tx.insert('ledger_entry', rows),
    addPayloads: (tx: Tx, rows: PayloadRow[]) => tx.insert('ledger_payload', rows),
    addNodes: (tx: Tx, rows: NodeRow[]) => tx.insert('ledger_node', rows),
    page: (reader: Reader, after: number, limit: number) => reader.all(page({ after, limit })),
    /**
     * Reads entries with their payloads for the verifier. A body that is not valid UTF-8 text is read as bytes. (Reading all
     * bodies as bytes takes 1 µs more each.)
     */
    async stored(reader: Reader, after: number, limit: number) {
      const bytesOf = (seq: number) =>
        query(entries.select(rawBytes(dialect, 'body').as('body')).where('seq', '=', seq))
      const rows = await reader.all(stored({ after, limit }))
      const asStored = async (row: (typeof rows)[number]) =>
        isValidUtf8(row.body) ? row : { ...row, ...(await reader.first(bytesOf(row.seq))) }
      return rows.every(({ body }) => isValidUtf8(body)) ? rows : Promise.all(rows.map(asStored))
    },
    entry: (reader: Reader, seq: number) => reader.first(selectEntry({ seq })),
    async timeOf(reader: Reader, seq: number) {
      const time = entries.select('at').where('seq', '>=', seq).orderBy('seq').limit(1)
      return (await reader.first(query(time)))?.at
    },
    payload: (reader: Reader, seq: number) => reader.first(payload({ seq })),
    oldestPayloads(tx: Tx, limit: number) {
      const payloads = sql
        .selectFrom('ledger_payload')
        .innerJoin('ledger_entry', 'ledger_entry.seq', 'ledger_payload.seq')
        .select(['ledger_payload.seq', 'ledger_entry.at'])
      return tx.all(query(payloads.orderBy('ledger_payload.seq').limit(limit)))
    },
    erasePayload: (tx: Tx, seq: number) =>
      tx.run(query(sql.deleteFrom('ledger_payload').where('seq', '=', seq))),
    erasePayloadsUpTo: (tx: Tx, seq: number) =>
      tx.run(query(sql.deleteFrom('ledger_payload').where('seq', '<=', seq))),
    hashes(reader: Reader): ReadHashes {
      const leaves = (from: number, to: number) =>
        entries.select('hash').where('seq', '>', from).where('seq', '<=', to).orderBy('seq')
      const nodesOf = (level: number, from: number, to: number) => {
        const found = nodes.select('hash').where('level', '=', level).where('idx', '>=', from)
        return found.where('idx', '<', to).orderBy('idx')
      }
      return async (level, from, to) => {
        const range = level === 0 ? query(leaves(from, to)) : query(nodesOf(level, from, to))
        return (await reader.all(range)).map(({ hash }) => Buffer.from(hash, 'hex'))
      }
    },
    allNodes: (reader: Reader) =>
      reader.all(query(nodes.selectAll().orderBy('level').orderBy('idx'))),
    saveCheckpoint(tx: Tx, row: CheckpointRow) {
      const saved = sql.insertInto('ledger_checkpoint').values(row)
      return tx.run(query(saved.onConflict((c) => c.column('size').doNothing())))
    },
    checkpoints: (reader: Reader) => reader.all(query(checkpoints.orderBy('size'))),
    latestCheckpoint: (reader: Reader) =>
      reader.first(query(checkpoints.orderBy('size', 'desc').limit(1))),
    checkpointFrom: (reader: Reader, size: number) =>
      reader.first(query(checkpoints.where('size', '>=', size).orderBy('size').limit(1))),
    async key(reader: Reader) {
      const key = sql.selectFrom('ledger_key').select('vkey').where('id', '=', 1)
      return (await reader.first(query(key)))?.vkey
    },
    saveKey(tx: Tx, vkey: string) {
      const saved = sql.insertInto('ledger_key').values({ id: 1, vkey })
      return tx.run(query(saved.onConflict((c) => c.column('id').doNothing())))
    },
    /**
     * Locks the cursor of a follower. The row is inserted first, so that two new followers conflict on it. Returns undefined
     * while another daemon holds the lock: waiting would delay the whole batch until that daemon's commit.
     */
    async cursor(tx: Tx, name: string, start: number): Promise<number | undefined> {
      const place = sql.insertInto('ledger_follower').values({ name, seq: start })
      await tx.run(query(place.onConflict((c) => c.column('name').doNothing())))
      return (await tx.first(cursor({ name })))?.seq
    },
    saveCursor: (tx: Tx, name: string, seq: number) => tx.run(saveCursor({ name, seq })),

    /** Lists recent entries of an actor about these subjects, among its newest entries. */
    listRecentOn(reader: Reader, actor: string, subjects: readonly string[], most: number) {
      const found = selectNewest(actor, most).where('subject', 'in', subjects)
      return reader.all(query(found.orderBy('seq', 'desc').limit(1000)))
    },

    /** Lists proposals and calls that ran autonomously, among the newest entries. */
    listAutonomous(reader: Reader, { actor, domain, risk }: AutonomousFilter) {
      const says = (words: string) => contains(dialect, 'body', words)
      let found = selectNewest(actor, maxSearched)
        .where('type', 'in', ['proposal.created', 'call.started', 'call.done'])
        .where((eb) => eb.or(['"auto":true', '"by":"trust"'].map(says)))
        .where(says(`"domain":${JSON.stringify(domain)}`))
      if (risk !== undefined)
        found = found.where((eb) =>
          eb.or([
            says(`"risk":"${risk}"`),
            // Calls of earlier versions have no risk: they count as normal.
            ...(risk === 'normal' ? [eb.not(says('"risk":'))] : []),
          ]),
        )
      return reader.all(query(found.orderBy('seq', 'desc').limit(500)))
    },

    /** Runs one statement. `search` splits long searches and checks conditions that columns cannot express. */
    find(reader: Reader, filter: EntryFilter) {
      let found = entries.selectAll()
      if (filter.after !== undefined) found = found.where('seq', '>', filter.after)
      if (filter.before !== undefined) found = found.where('seq', '<', filter.before)
      if (filter.since !== undefined) found = found.where('at', '>=', filter.since)
      if (filter.until !== undefined) found = found.where('at', '<', filter.until)
      if (filter.actor !== undefined) found = found.where('actor', '=', filter.actor)
      if (filter.domain !== undefined) found = found.where('domain', '=', filter.domain)
      if (filter.types !== undefined) found = found.where(isOfType(filter.types))
      if (filter.subjectPrefix !== undefined)
        found = found.where(startsWith('subject', filter.subjectPrefix))
      if (filter.pathPrefix !== undefined)
        found = found.where(isAboutPath(dialect, filter.pathPrefix))
      if (filter.toolPrefix !== undefined)
        found = found.where(startsWith('tool', filter.toolPrefix))
      if (filter.call !== undefined) found = found.where('call', '=', filter.call)
      if (filter.proposal !== undefined) found = found.where('proposal', '=', filter.proposal)
      if (filter.text !== undefined) found = found.where(contains(dialect, 'body', filter.text))
      const ordered = found.orderBy('seq', filter.newestFirst ? 'desc' : 'asc')
      return reader.all(query(ordered.limit(filter.limit)))
    },
  }
}

/** Reading replaces invalid UTF-8 by U+FFFD. */
const isValidUtf8 = (body: unknown) => typeof body === 'string' && !body.includes('\ufffd')

/** Matches the canonical JSON; `matches` checks that the text is the path of a file. */
const isAboutPath =
  (dialect: Dialect, prefix: string) => (where: ExpressionBuilder<Tables, 'ledger_entry'>) =>
    where.or([
      startsWith('subject', prefix),
      contains(dialect, 'body', `"path":${JSON.stringify(prefix).slice(0, -1)}`),
    ])

const isOfType =
  (types: readonly string[]) => (where: ExpressionBuilder<Tables, 'ledger_entry'>) => {
    const exact = types.filter((type) => !type.endsWith('.'))
    const nouns = types.filter((type) => type.endsWith('.'))
    return where.or([
      ...(exact.length > 0 ? [where('type', 'in', exact)] : []),
      ...nouns.map((noun) => startsWith('type', noun)),
    ])
  }
