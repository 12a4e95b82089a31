import { sql } from 'kysely'
import { keyType } from '#base/db/dialect.ts'
import type { Migration } from '#base/db/migrate.ts'
import type { Dialect, Query } from '#base/db/port.ts'
import { builder } from '#base/db/statement.ts'
import { genesis } from './model.ts'
import type { HeadRow } from './store.ts'
import { actionsView, auditLogAgain, ledgerViews } from './views.ts'

export const ledgerMigrations: readonly Migration[] = [
  {
    name: 'ledger-001',
    up: (schema, dialect) => [
      // `body` is the canonical JSON that is hashed; the other columns repeat it for look-ups,
      // and verify compares them with it.
      schema
        .createTable('ledger_entry')
        .addColumn('seq', keyType(dialect), (c) => c.primaryKey())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('actor', 'text', (c) => c.notNull())
        .addColumn('domain', 'text')
        .addColumn('subject', 'text')
        .addColumn('tool', 'text')
        .addColumn('call', 'text')
        .addColumn('proposal', 'text')
        .addColumn('body', 'text', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull()),
      ...neverChanged('ledger_entry', dialect),
      schema.createIndex('ledger_entry_type').on('ledger_entry').columns(['type', 'seq']),
      schema.createIndex('ledger_entry_actor').on('ledger_entry').columns(['actor', 'seq']),
      schema
        .createIndex('ledger_entry_call')
        .on('ledger_entry')
        .column('call')
        .where(sql.ref('call'), 'is not', null),
      schema
        .createIndex('ledger_entry_proposal')
        .on('ledger_entry')
        .column('proposal')
        .where(sql.ref('proposal'), 'is not', null),
      schema
        .createTable('ledger_payload')
        .addColumn('seq', keyType(dialect), (c) => c.primaryKey())
        .addColumn('salt', 'text', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull()),
      // Hashes of complete subtrees of 256, 65,536, … leaves: any proof is a few look-ups.
      schema
        .createTable('ledger_node')
        .addColumn('level', 'integer', (c) => c.notNull())
        .addColumn('idx', 'bigint', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('ledger_node_key', ['level', 'idx']),
      schema
        .createTable('ledger_head')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('size', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull())
        .addColumn('frontier', 'text', (c) => c.notNull()),
      // There from the start, so that the first writers of two daemons have a row to lock.
      builder<{ ledger_head: Omit<HeadRow, 'mac'> }>(dialect)
        .insertInto('ledger_head')
        .values({ id: 1, size: 0, at: 0, hash: genesis, frontier: '' }),
      schema
        .createTable('ledger_checkpoint')
        .addColumn('size', 'bigint', (c) => c.primaryKey())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('note', 'text', (c) => c.notNull()),
      schema
        .createTable('ledger_key')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('vkey', 'text', (c) => c.notNull()),
      schema
        .createTable('ledger_follower')
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('seq', 'bigint', (c) => c.notNull()),
    ],
  },
  { name: 'ledger-002', up: (_, dialect) => ledgerViews(dialect) },
  { name: 'ledger-003', up: (_, dialect) => [actionsView(dialect)] },
  { name: 'ledger-004', up: (_, dialect) => auditLogAgain(dialect) },
  {
    name: 'ledger-005',
    up: (schema) => [schema.alterTable('ledger_head').addColumn('mac', 'text')],
  },
]

/** L2 by the database itself: a bug of ours cannot rewrite history either. */
function neverChanged(table: string, dialect: Dialect): Query[] {
  const why = `entries of ${table} are never changed`
  const statements =
    dialect === 'sqlite'
      ? ['UPDATE', 'DELETE'].map(
          (act) =>
            `CREATE TRIGGER ${table}_no_${act.toLowerCase()} BEFORE ${act} ON ${table} BEGIN SELECT RAISE(ABORT, '${why}'); END`,
        )
      : [
          `CREATE FUNCTION ${table}_fixed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${why}'; END $$`,
          `CREATE TRIGGER ${table}_fixed BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_fixed()`,
        ]
  return statements.map((text) => ({ sql: text, parameters: [] }))
}
