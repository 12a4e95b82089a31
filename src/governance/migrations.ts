import { sql } from 'kysely'
import type { SqlBool } from 'kysely'
import { keyType } from '#base/db/dialect.ts'
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
  {
    name: 'governance-002',
    up: (schema) => [
      schema
        .createTable('handoff')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('thread', 'text', (c) => c.notNull())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('remind_at', 'bigint')
        .addColumn('reminded', 'bigint', (c) => c.notNull())
        .addColumn('back_at', 'bigint'),
      schema.createIndex('handoff_thread').on('handoff').column('thread'),
      schema
        .createIndex('handoff_remind')
        .on('handoff')
        .column('remind_at')
        .where(sql<SqlBool>`remind_at IS NOT NULL`),
      schema
        .createIndex('handoff_back')
        .on('handoff')
        .columns(['agent', 'back_at'])
        .where(sql<SqlBool>`back_at IS NOT NULL`),
      view(
        'handoffs',
        `SELECT approval.id, requester AS agent_id, approval.domain, action AS handoff_mode, summary AS reason, confidence, status, thread, created_at, decided_at AS resolved_at, decided_by AS resolved_by, back_at AS handed_back_at, reminded FROM approval JOIN handoff ON handoff.id = approval.id`,
      ),
    ],
  },
  {
    name: 'governance-003',
    up: (schema, dialect) => [
      schema
        .createTable('policy_version')
        .addColumn('number', keyType(dialect), (c) => c.primaryKey())
        .addColumn('version', 'text', (c) => c.notNull())
        .addColumn('source', 'text', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('note', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull())
        .addColumn('file', 'text', (c) => c.notNull()),
      schema.createIndex('policy_version_version').on('policy_version').column('version'),
    ],
  },
  {
    name: 'governance-004',
    up: (schema) => [
      schema.alterTable('permission').addColumn('risk', 'text'),
      update(
        'permission SET risk = (SELECT approval.risk FROM approval WHERE approval.id = permission.approval)',
      ),
      schema.alterTable('trust').addColumn('claimed', 'bigint'),
      // What callers approved that nobody knows was evidence until now, and cannot be told from the rest of it.
      update(
        `trust SET claimed = 1, vouched = 0, low_good = 0, normal_good = 0, high_good = 0 WHERE EXISTS (SELECT 1 FROM approval WHERE approval.requester = trust.agent AND approval.domain = trust.domain AND approval.kind = 'proposal' AND approval.status = 'approved' AND approval.decided_by = 'unverified')`,
      ),
    ],
  },
  {
    name: 'governance-005',
    up: (schema) => [
      ...['seen_at', ...standingColumns].map((column) =>
        schema.alterTable('trust').addColumn(column, 'bigint'),
      ),
      schema.alterTable('trust').addColumn('client', 'text'),
      schema.alterTable('trust_point').addColumn('mark', 'text'),
      schema.alterTable('trust_point').addColumn('risk', 'text'),
      schema
        .createTable('trust_kind')
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('risk', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('credit', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('trust_kind_key', ['agent', 'domain', 'risk', 'kind']),
      schema
        .createTable('spot_check')
        .addColumn('act', 'text', (c) => c.primaryKey())
        .addColumn('approval', 'text', (c) => c.notNull())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('risk', 'text', (c) => c.notNull())
        .addColumn('look_back', 'text')
        .addColumn('opened_at', 'bigint', (c) => c.notNull())
        .addColumn('read_at', 'bigint'),
      schema.createIndex('spot_check_approval').on('spot_check').column('approval'),
      schema
        .createIndex('spot_check_unread')
        .on('spot_check')
        .columns(['agent', 'domain', 'risk'])
        .where(sql<SqlBool>`read_at IS NULL`),
      // Checks that wait from before do not expire any more. What they are about stands in their content alone.
      {
        sql: `INSERT INTO spot_check (act, approval, agent, domain, risk, opened_at) SELECT id, id, requester, domain, risk, created_at FROM approval WHERE kind = 'spot_check' AND status = 'pending'`,
        parameters: [],
      },
      update(`approval SET expires_at = NULL WHERE kind = 'spot_check' AND status = 'pending'`),
    ],
  },
]

const standingColumns = ['low', 'normal', 'high'].flatMap((risk) =>
  ['credit', 'strikes', 'clean'].map((what) => `${risk}_${what}`),
)

const update = (what: string) => ({ sql: `UPDATE ${what}`, parameters: [] })

/** Behind a CTE PostgreSQL lets nobody write through it. */
const view = (name: string, select: string) => ({
  sql: `CREATE VIEW ${name} AS WITH shown AS (${select}) SELECT * FROM shown`,
  parameters: [],
})
