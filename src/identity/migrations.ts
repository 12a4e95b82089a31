import { columns } from '#base/db/columns.ts'
import type { Migration } from '#base/db/migrate.ts'

export const identityMigrations: readonly Migration[] = [
  {
    name: 'identity-001',
    up: (schema) => [
      schema
        .createTable('agent')
        .addColumn('id', 'text', (column) => column.primaryKey())
        // Null follows the default of the day (I11).
        .$call(columns('scopes text, created_at bigint!, revoked_at bigint')),
      // Rows stay when they end, so that a revoked token is known as such for ever.
      schema
        .createTable('credential')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('agent', 'text', (column) => column.notNull().references('agent.id'))
        .$call(columns('created_at bigint!, expires_at bigint')),
      schema.createIndex('credential_agent').on('credential').column('agent'),
    ],
  },
  {
    name: 'identity-002',
    up: (schema) => [
      // Rows stay when a person goes: the ledger names them for ever, so an id is never given twice.
      schema
        .createTable('person')
        .$call(columns('id text key, name text!, role text!, joined_at bigint!'))
        .$call(columns('removed_at bigint')),
      schema
        .createTable('person_session')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('person', 'text', (column) => column.notNull().references('person.id'))
        .$call(columns('user_agent text!, created_at bigint!, last_seen_at bigint!'))
        .$call(columns('ended_at bigint')),
      schema.createIndex('person_session_person').on('person_session').column('person'),
      // A link that opens the console has a person, one that invites has what the person will be.
      schema
        .createTable('link')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('person', 'text', (column) => column.references('person.id'))
        .$call(columns('name text, role text'))
        .addColumn('invited_by', 'text', (column) => column.references('person.id'))
        .$call(columns('created_at bigint!, expires_at bigint!, used_at bigint')),
      schema
        .createTable('passkey')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('person', 'text', (column) => column.notNull().references('person.id'))
        .$call(columns('name text!, public_key text!, algorithm integer!, sign_count bigint!'))
        .$call(columns('created_at bigint!, last_used_at bigint')),
      schema.createIndex('passkey_person').on('passkey').column('person'),
    ],
  },
  {
    name: 'identity-003',
    // JSON with tools, exclude and read_only; null lists the default tools (SV18).
    up: (schema) => [schema.alterTable('agent').addColumn('selection', 'text')],
  },
]
