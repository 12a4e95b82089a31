import { columns } from '#base/db/columns.ts'
import type { Migration } from '#base/db/migrate.ts'

export const identityMigrations: readonly Migration[] = [
  {
    name: 'identity-001',
    up: (schema) => [
      schema
        .createTable('agent')
        .addColumn('id', 'text', (column) => column.primaryKey())
        // Null means the current default (I11).
        .$call(columns('scopes text, created_at bigint!, revoked_at bigint')),
      // Expired rows stay, so that a revoked token is always recognized as revoked.
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
      // Rows of removed people stay: the ledger contains their ids, so an id is never reused.
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
      // A sign-in link has a person; an invitation has the name and role of the new person.
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
