import type { Migration } from '#base/db/migrate.ts'

export const notifyMigrations: readonly Migration[] = [
  {
    name: 'notify-001',
    up: (schema) => [
      schema
        .createTable('delivery')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('channel', 'text', (c) => c.notNull())
        .addColumn('event', 'text', (c) => c.notNull())
        .addColumn('approval', 'text', (c) => c.notNull())
        .addColumn('notice', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull())
        .addColumn('attempts', 'bigint', (c) => c.notNull())
        .addColumn('next_at', 'bigint', (c) => c.notNull())
        .addColumn('last_error', 'text')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('settled_at', 'bigint'),
      schema.createIndex('delivery_due').on('delivery').columns(['status', 'channel', 'next_at']),
    ],
  },
]
