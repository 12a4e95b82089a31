import type { Migration } from '#base/db/migrate.ts'

export const gatewayMigrations: readonly Migration[] = [
  {
    name: 'gateway-001',
    up: (schema) => [
      schema
        .createTable('server_tool')
        .addColumn('server', 'text', (c) => c.notNull())
        .addColumn('tool', 'text', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull())
        .addColumn('definition', 'text', (c) => c.notNull())
        .addColumn('accepted_by', 'text', (c) => c.notNull())
        .addColumn('accepted_at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('server_tool_key', ['server', 'tool']),
    ],
  },
]
