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
]
