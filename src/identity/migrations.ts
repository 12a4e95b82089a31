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
]
