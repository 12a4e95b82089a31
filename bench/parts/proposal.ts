// A stand-in for a proposal: five statements about trust, policy and the window, and one entry.
import type { Migration } from '#base/db/migrate.ts'
import type { Body, Dialect, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import { newId } from '#base/ids.ts'

type Tables = {
  bench_trust: { agent: string; count: number }
  bench_policy: { domain: string; body: string }
  bench_proposal: { id: string; agent: string; at: number; change: string }
}

export const sharedCounter = 'shared'

const domain = 'crm.deals'
const change = JSON.stringify({ deal_stage: 'closed_won', amount: 1200 })

export const proposalMigrations: readonly Migration[] = [
  {
    name: 'bench-001',
    up: (schema, dialect) => [
      schema
        .createTable('bench_trust')
        .addColumn('agent', 'text', (c) => c.primaryKey())
        .addColumn('count', 'bigint', (c) => c.notNull()),
      schema
        .createTable('bench_policy')
        .addColumn('domain', 'text', (c) => c.primaryKey())
        .addColumn('body', 'text', (c) => c.notNull()),
      schema
        .createTable('bench_proposal')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('change', 'text', (c) => c.notNull()),
      schema.createIndex('bench_proposal_agent').on('bench_proposal').columns(['agent', 'at']),
      builder<Tables>(dialect)
        .insertInto('bench_policy')
        .values({ domain, body: JSON.stringify({ mode: 'suggest', daily: 100 }) }),
    ],
  },
]

/** What a check of the outcome needs: how often each counter was raised, and how many proposals there are. */
export const tallies = (dialect: Dialect) => {
  const sql = builder<Tables>(dialect)
  return {
    counters: query(sql.selectFrom('bench_trust').selectAll()),
    proposals: query(
      sql.selectFrom('bench_proposal').select((eb) => eb.fn.countAll<number>().as('count')),
    ),
  }
}

export function createProposals(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const trust = statement((p: { agent: string }) =>
    locked(sql.selectFrom('bench_trust').select('count').where('agent', '=', p.agent)),
  )
  const policy = statement((p: { domain: string }) =>
    sql.selectFrom('bench_policy').select('body').where('domain', '=', p.domain),
  )
  const newest = statement((p: { agent: string }) =>
    sql
      .selectFrom('bench_proposal')
      .select('at')
      .where('agent', '=', p.agent)
      .orderBy('at', 'desc')
      .limit(1),
  )
  const insert = statement((p: { id: string; agent: string; at: number }) =>
    sql.insertInto('bench_proposal').values({ id: p.id, agent: p.agent, at: p.at, change }),
  )
  const begin = statement((p: { agent: string }) =>
    sql
      .insertInto('bench_trust')
      .values({ agent: p.agent, count: 0 })
      .onConflict((c) => c.column('agent').doNothing()),
  )
  const save = statement((p: { agent: string; count: number }) =>
    sql.updateTable('bench_trust').set({ count: p.count }).where('agent', '=', p.agent),
  )

  /** Read, then written from what was read: an update that another writer overruns is lost, and shows. */
  async function raise(tx: Tx, agent: string) {
    const row = await tx.first(trust({ agent }))
    await tx.run(save({ agent, count: (row?.count ?? 0) + 1 }))
  }

  return {
    begin: (tx: Tx, agent: string) => tx.run(begin({ agent })),
    raise,
    propose:
      (agent: string): Body<string> =>
      async (tx) => {
        const id = newId()
        const at = Date.now()
        await raise(tx, agent)
        await tx.first(policy({ domain }))
        await tx.first(newest({ agent }))
        await tx.run(insert({ id, agent, at }))
        tx.append({
          type: 'proposal.created',
          actor: { kind: 'agent', id: agent, session: 'bench', verified: true },
          domain,
          subject: 'deal_12345',
          ids: { proposal: id },
          data: { change: { deal_stage: 'closed_won', amount: 1200 }, confidence: 0.9 },
        })
        return id
      },
  }
}
