import { sql } from 'kysely'
import { columns } from '#base/db/columns.ts'
import { keyType } from '#base/db/dialect.ts'
import type { Migration } from '#base/db/migrate.ts'
import type { Dialect, Query } from '#base/db/port.ts'
import { builder } from '#base/db/statement.ts'
import { genesisHash } from './model.ts'
import type { HeadRow } from './store.ts'
import { actionsView, recreateAuditLogView, ledgerViews } from './views.ts'

export const ledgerMigrations: readonly Migration[] = [
  {
    name: 'ledger-001',
    up: (schema, dialect) => [
      // `body` is the canonical JSON that is hashed. The other columns repeat parts of it for lookups; verification
      // compares them.
      schema
        .createTable('ledger_entry')
        .addColumn('seq', keyType(dialect), (c) => c.primaryKey())
        .$call(columns('at bigint!, type text!, actor text!, domain text, subject text'))
        .$call(columns('tool text, call text, proposal text, body text!, hash text!')),
      ...forbidChanges('ledger_entry', dialect),
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
        .$call(columns('salt text!, body text!')),
      // Hashes of complete subtrees of 256, 65,536, … leaves: a proof needs a few lookups.
      schema
        .createTable('ledger_node')
        .$call(columns('level integer!, idx bigint!, hash text!'))
        .addPrimaryKeyConstraint('ledger_node_key', ['level', 'idx']),
      schema
        .createTable('ledger_head')
        .$call(columns('id integer key, size bigint!, at bigint!, hash text!, frontier text!')),
      // Inserted here, so that the first writers of two daemons have a row to lock.
      builder<{ ledger_head: Omit<HeadRow, 'mac'> }>(dialect)
        .insertInto('ledger_head')
        .values({ id: 1, size: 0, at: 0, hash: genesisHash, frontier: '' }),
      schema
        .createTable('ledger_checkpoint')
        .$call(columns('size bigint key, at bigint!, note text!')),
      schema.createTable('ledger_key').$call(columns('id integer key, vkey text!')),
      schema.createTable('ledger_follower').$call(columns('name text key, seq bigint!')),
    ],
  },
  { name: 'ledger-002', up: (_, dialect) => ledgerViews(dialect) },
  { name: 'ledger-003', up: (_, dialect) => [actionsView(dialect)] },
  { name: 'ledger-004', up: (_, dialect) => recreateAuditLogView(dialect) },
  {
    name: 'ledger-005',
    up: (schema) => [schema.alterTable('ledger_head').addColumn('mac', 'text')],
  },
]

/** Enforces L2 in the database, so that a bug in cowork cannot rewrite history. */
function forbidChanges(table: string, dialect: Dialect): Query[] {
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
