import type { Migration } from '#base/db/migrate.ts'

export const identityMigrations: readonly Migration[] = [
  {
    name: 'identity-001',
    up: (schema) => [
      schema
        .createTable('agent')
        .addColumn('id', 'text', (column) => column.primaryKey())
        // Null follows the default of the day (I11).
        .addColumn('scopes', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('revoked_at', 'bigint'),
      // Rows stay when they end, so that a revoked token is known as such for ever.
      schema
        .createTable('credential')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('agent', 'text', (column) => column.notNull().references('agent.id'))
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint'),
      schema.createIndex('credential_agent').on('credential').column('agent'),
    ],
  },
  {
    name: 'identity-002',
    up: (schema) => [
      // Rows stay when a person goes: the ledger names them for ever, so an id is never given twice.
      schema
        .createTable('person')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('joined_at', 'bigint', (column) => column.notNull())
        .addColumn('removed_at', 'bigint'),
      schema
        .createTable('person_session')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('person', 'text', (column) => column.notNull().references('person.id'))
        .addColumn('user_agent', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
        .addColumn('ended_at', 'bigint'),
      schema.createIndex('person_session_person').on('person_session').column('person'),
      // A link that opens the console has a person, one that invites has what the person will be.
      schema
        .createTable('link')
        .addColumn('hash', 'text', (column) => column.primaryKey())
        .addColumn('person', 'text', (column) => column.references('person.id'))
        .addColumn('name', 'text')
        .addColumn('role', 'text')
        .addColumn('invited_by', 'text', (column) => column.references('person.id'))
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addColumn('used_at', 'bigint'),
      schema
        .createTable('passkey')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('person', 'text', (column) => column.notNull().references('person.id'))
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('public_key', 'text', (column) => column.notNull())
        .addColumn('algorithm', 'integer', (column) => column.notNull())
        .addColumn('sign_count', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint'),
      schema.createIndex('passkey_person').on('passkey').column('person'),
    ],
  },
  {
    name: 'identity-003',
    // JSON with tools, exclude and read_only; null lists the default tools (SV18).
    up: (schema) => [schema.alterTable('agent').addColumn('selection', 'text')],
  },
]
