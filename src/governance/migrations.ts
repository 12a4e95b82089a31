import type { Migration } from '#base/db/migrate.ts'

export const governanceMigrations: readonly Migration[] = [
  {
    name: 'governance-001',
    up: (schema) => [
      schema
        .createTable('trust')
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('score', 'double precision', (c) => c.notNull())
        .addColumn('approvals', 'bigint', (c) => c.notNull())
        .addColumn('overrides', 'bigint', (c) => c.notNull())
        .addColumn('streak', 'bigint', (c) => c.notNull())
        .addColumn('promoted', 'bigint', (c) => c.notNull())
        .addColumn('vouched', 'bigint', (c) => c.notNull())
        .addColumn('active_at', 'bigint', (c) => c.notNull())
        .addColumn('low_good', 'double precision', (c) => c.notNull())
        .addColumn('low_bad', 'double precision', (c) => c.notNull())
        .addColumn('normal_good', 'double precision', (c) => c.notNull())
        .addColumn('normal_bad', 'double precision', (c) => c.notNull())
        .addColumn('high_good', 'double precision', (c) => c.notNull())
        .addColumn('high_bad', 'double precision', (c) => c.notNull())
        .addPrimaryKeyConstraint('trust_key', ['agent', 'domain']),
      schema
        .createTable('trust_point')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('score', 'double precision', (c) => c.notNull())
        .addColumn('cause', 'text', (c) => c.notNull()),
      schema.createIndex('trust_point_pair').on('trust_point').columns(['agent', 'domain', 'at']),
      schema
        .createTable('override')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('approval', 'text')
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('severity', 'text', (c) => c.notNull())
        .addColumn('description', 'text', (c) => c.notNull())
        .addColumn('change', 'double precision', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull()),
      schema.createIndex('override_pair').on('override').columns(['agent', 'domain', 'at']),
      schema
        .createTable('permission')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('tool', 'text', (c) => c.notNull())
        .addColumn('arguments', 'text')
        .addColumn('lasts', 'text', (c) => c.notNull())
        .addColumn('uses_left', 'bigint')
        .addColumn('session', 'text')
        .addColumn('expires_at', 'bigint')
        .addColumn('approval', 'text', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('last_used_at', 'bigint')
        .addColumn('revoked_at', 'bigint'),
      schema.createIndex('permission_agent').on('permission').columns(['agent', 'tool']),
      schema
        .createTable('mapping')
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('policy', 'text', (c) => c.notNull())
        .addColumn('approval', 'text', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('mapping_key', ['agent', 'domain']),
      // Seed 001's tables as views, for people with `sqlite3` or `psql` (SV9).
      view(
        'proposals',
        `SELECT id, requester AS agent_id, domain, action, target, status, mode, risk, trust_level, confidence, digest, created_at, decided_at, decided_by, CASE WHEN channel = 'trust' THEN 1 ELSE 0 END AS auto FROM approval WHERE kind = 'proposal'`,
      ),
      view(
        'trust_scores',
        'SELECT agent AS agent_id, domain, score AS trust_level, approvals, overrides, streak AS consecutive_overrides, active_at FROM trust',
      ),
      view(
        'overrides',
        'SELECT id, agent AS agent_id, domain, approval AS proposal_id, action, type AS override_type, severity, description, change AS trust_change, by AS decided_by, at FROM "override"',
      ),
    ],
  },
]

/** Behind a CTE PostgreSQL lets nobody write through it. */
const view = (name: string, select: string) => ({
  sql: `CREATE VIEW ${name} AS WITH shown AS (${select}) SELECT * FROM shown`,
  parameters: [],
})
