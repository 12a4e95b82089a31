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
  {
    name: 'notify-002',
    up: (schema) => [
      schema.alterTable('delivery').addColumn('held', 'text'),
      schema.createIndex('delivery_approval').on('delivery').column('approval'),
      schema
        .createTable('chat')
        .addColumn('channel', 'text', (c) => c.notNull())
        .addColumn('chat', 'text', (c) => c.notNull())
        .addColumn('person', 'text', (c) => c.notNull())
        .addColumn('bound_at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('chat_key', ['channel', 'chat'])
        .addUniqueConstraint('chat_person', ['channel', 'person']),
      schema
        .createTable('chat_code')
        .addColumn('hash', 'text', (c) => c.primaryKey())
        .addColumn('channel', 'text', (c) => c.notNull())
        .addColumn('person', 'text', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull()),
      schema
        .createTable('chat_message')
        .addColumn('delivery', 'text', (c) => c.notNull())
        .addColumn('chat', 'text', (c) => c.notNull())
        .addColumn('channel', 'text', (c) => c.notNull())
        .addColumn('message', 'bigint', (c) => c.notNull())
        .addColumn('approval', 'text')
        .addColumn('sent_at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('chat_message_key', ['delivery', 'chat']),
      schema
        .createIndex('chat_message_approval')
        .on('chat_message')
        .columns(['approval', 'channel']),
      schema
        .createTable('chat_place')
        .addColumn('bot', 'text', (c) => c.primaryKey())
        .addColumn('next', 'bigint', (c) => c.notNull()),
    ],
  },
]
