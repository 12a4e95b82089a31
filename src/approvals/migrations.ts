import { sql } from 'kysely'
import type { SqlBool } from 'kysely'
import { columns, partialIndex } from '#base/db/columns.ts'
import type { Migration } from '#base/db/migrate.ts'

export const approvalMigrations: readonly Migration[] = [
  {
    name: 'approvals-001',
    up: (schema) => [
      schema
        .createTable('halt')
        .$call(columns('scope text key, reason text!, by text!, at bigint!')),
    ],
  },
  {
    name: 'approvals-002',
    up: (schema) => [
      schema
        .createTable('approval')
        .$call(columns('id text key, kind text!, status text!, requester text!, session text'))
        .$call(columns('domain text!, action text!, target text!, summary text!, mode text!'))
        .$call(columns('risk text!, digest text!, asked_digest text, policy_version text!'))
        .$call(columns('trust_level double precision, confidence double precision'))
        .$call(columns('content text!, approved text, similar text!, needed bigint!'))
        .$call(columns('idem_key text, idem_digest text, created_at bigint!, expires_at bigint'))
        .$call(columns('decided_at bigint, decided_by text, channel text, reason text'))
        .$call(columns('held_until bigint, held text, token text, token_expires_at bigint'))
        .$call(columns('result text, result_until bigint')),
      // Most rows are decided and rarely read, so the indexes of pending rows stay small.
      partialIndex(schema, 'approval_pending', 'approval(id)', "status = 'pending'"),
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
      partialIndex(schema, 'approval_call', 'approval(requester, digest)', "kind = 'call'"),
      partialIndex(
        schema,
        'approval_asked',
        'approval(requester, asked_digest)',
        'asked_digest IS NOT NULL',
      ),
      // Automatic decisions are excluded: reviewers look up earlier decisions of people.
      partialIndex(
        schema,
        'approval_target',
        'approval(domain, target, decided_at)',
        "decided_at IS NOT NULL AND channel <> 'trust'",
      ),
      partialIndex(schema, 'approval_result', 'approval(result_until)', 'result_until IS NOT NULL'),
      schema
        .createTable('approval_vote')
        .$call(columns('approval text!, person text!, at bigint!'))
        .addPrimaryKeyConstraint('approval_vote_key', ['approval', 'person']),
    ],
  },
  {
    name: 'approvals-003',
    // Due rows are found by time, independent of the number of pending rows (A7).
    up: (schema) => [
      partialIndex(schema, 'approval_expires', 'approval(expires_at)', "status = 'pending'"),
      partialIndex(schema, 'approval_held', 'approval(held_until)', 'held_until IS NOT NULL'),
    ],
  },
  {
    name: 'approvals-004',
    up: (schema) => [
      schema.alterTable('approval').addColumn('sealed', 'text'),
      schema.alterTable('approval').addColumn('erased_at', 'bigint'),
      // Existing rows contain plain arguments until the first start converts them (A14).
      schema.alterTable('approval').addColumn('in_clear', 'bigint'),
      { sql: 'UPDATE approval SET in_clear = 1', parameters: [] },
      partialIndex(schema, 'approval_in_clear', 'approval(id)', 'in_clear IS NOT NULL'),
      partialIndex(schema, 'approval_sealed', 'approval(decided_at)', 'sealed IS NOT NULL'),
      partialIndex(schema, 'approval_not_erased', 'approval(created_at)', 'erased_at IS NULL'),
    ],
  },
  {
    name: 'approvals-005',
    up: (schema) => [
      schema.alterTable('approval').addColumn('node', 'text'),
      schema.alterTable('approval').addColumn('fingerprint', 'text'),
      schema.alterTable('approval').addColumn('run_until', 'bigint'),
      partialIndex(
        schema,
        'approval_runnable',
        'approval(decided_at)',
        "kind = 'call' AND status = 'approved'",
      ),
      partialIndex(schema, 'approval_running', 'approval(run_until)', 'run_until IS NOT NULL'),
    ],
  },
]
