import { sql } from 'kysely'
import type { SqlBool } from 'kysely'
import type { Migration } from '#base/db/migrate.ts'

export const approvalMigrations: readonly Migration[] = [
  {
    name: 'approvals-001',
    up: (schema) => [
      schema
        .createTable('halt')
        .addColumn('scope', 'text', (c) => c.primaryKey())
        .addColumn('reason', 'text', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull()),
    ],
  },
  {
    name: 'approvals-002',
    up: (schema) => [
      schema
        .createTable('approval')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull())
        .addColumn('requester', 'text', (c) => c.notNull())
        .addColumn('session', 'text')
        .addColumn('domain', 'text', (c) => c.notNull())
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('target', 'text', (c) => c.notNull())
        .addColumn('summary', 'text', (c) => c.notNull())
        .addColumn('mode', 'text', (c) => c.notNull())
        .addColumn('risk', 'text', (c) => c.notNull())
        .addColumn('digest', 'text', (c) => c.notNull())
        .addColumn('asked_digest', 'text')
        .addColumn('policy_version', 'text', (c) => c.notNull())
        .addColumn('trust_level', 'double precision')
        .addColumn('confidence', 'double precision')
        .addColumn('content', 'text', (c) => c.notNull())
        .addColumn('approved', 'text')
        .addColumn('similar', 'text', (c) => c.notNull())
        .addColumn('needed', 'bigint', (c) => c.notNull())
        .addColumn('idem_key', 'text')
        .addColumn('idem_digest', 'text')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('decided_at', 'bigint')
        .addColumn('decided_by', 'text')
        .addColumn('channel', 'text')
        .addColumn('reason', 'text')
        .addColumn('held_until', 'bigint')
        .addColumn('held', 'text')
        .addColumn('token', 'text')
        .addColumn('token_expires_at', 'bigint')
        .addColumn('result', 'text')
        .addColumn('result_until', 'bigint'),
      // Most rows are decided and never looked at again, so the indexes of what waits are small.
      schema
        .createIndex('approval_pending')
        .on('approval')
        .column('id')
        .where(sql<SqlBool>`status = 'pending'`),
      schema
        .createIndex('approval_volume')
        .on('approval')
        .columns(['requester', 'domain', 'created_at']),
      schema
        .createIndex('approval_key')
        .unique()
        .on('approval')
        .columns(['requester', 'idem_key'])
        .where(sql<SqlBool>`idem_key IS NOT NULL`),
      schema
        .createIndex('approval_call')
        .on('approval')
        .columns(['requester', 'digest'])
        .where(sql<SqlBool>`kind = 'call'`),
      schema
        .createIndex('approval_asked')
        .on('approval')
        .columns(['requester', 'asked_digest'])
        .where(sql<SqlBool>`asked_digest IS NOT NULL`),
      // What trust decided is not in it: a person asks what people decided before.
      schema
        .createIndex('approval_target')
        .on('approval')
        .columns(['domain', 'target', 'decided_at'])
        .where(sql<SqlBool>`decided_at IS NOT NULL AND channel <> 'trust'`),
      schema
        .createIndex('approval_result')
        .on('approval')
        .column('result_until')
        .where(sql<SqlBool>`result_until IS NOT NULL`),
      schema
        .createTable('approval_vote')
        .addColumn('approval', 'text', (c) => c.notNull())
        .addColumn('person', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('approval_vote_key', ['approval', 'person']),
    ],
  },
  {
    name: 'approvals-003',
    // What is due is found by its time, however much waits (A7).
    up: (schema) => [
      schema
        .createIndex('approval_expires')
        .on('approval')
        .column('expires_at')
        .where(sql<SqlBool>`status = 'pending'`),
      schema
        .createIndex('approval_held')
        .on('approval')
        .column('held_until')
        .where(sql<SqlBool>`held_until IS NOT NULL`),
    ],
  },
  {
    name: 'approvals-004',
    up: (schema) => [
      schema.alterTable('approval').addColumn('sealed', 'text'),
      schema.alterTable('approval').addColumn('erased_at', 'bigint'),
      // Rows of before hold arguments in clear until the first start converts them (A14).
      schema.alterTable('approval').addColumn('in_clear', 'bigint'),
      { sql: 'UPDATE approval SET in_clear = 1', parameters: [] },
      schema
        .createIndex('approval_in_clear')
        .on('approval')
        .column('id')
        .where(sql<SqlBool>`in_clear IS NOT NULL`),
      schema
        .createIndex('approval_sealed')
        .on('approval')
        .column('decided_at')
        .where(sql<SqlBool>`sealed IS NOT NULL`),
      schema
        .createIndex('approval_not_erased')
        .on('approval')
        .column('created_at')
        .where(sql<SqlBool>`erased_at IS NULL`),
    ],
  },
  {
    name: 'approvals-005',
    // Approved calls run by themselves (A15).
    up: (schema) => [
      schema.alterTable('approval').addColumn('node', 'text'),
      schema.alterTable('approval').addColumn('fingerprint', 'text'),
      schema.alterTable('approval').addColumn('run_until', 'bigint'),
      schema
        .createIndex('approval_runnable')
        .on('approval')
        .column('decided_at')
        .where(sql<SqlBool>`kind = 'call' AND status = 'approved'`),
      schema
        .createIndex('approval_running')
        .on('approval')
        .column('run_until')
        .where(sql<SqlBool>`run_until IS NOT NULL`),
    ],
  },
]
