import { columns } from '#base/db/columns.ts'
import type { Migration } from '#base/db/migrate.ts'

export const notifyMigrations: readonly Migration[] = [
  {
    name: 'notify-001',
    up: (schema) => [
      schema
        .createTable('delivery')
        .$call(columns('id text key, channel text!, event text!, approval text!, notice text!'))
        .$call(columns('status text!, attempts bigint!, next_at bigint!, last_error text'))
        .$call(columns('created_at bigint!, settled_at bigint')),
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
        .$call(columns('channel text!, chat text!, person text!, bound_at bigint!'))
        .addPrimaryKeyConstraint('chat_key', ['channel', 'chat'])
        .addUniqueConstraint('chat_person', ['channel', 'person']),
      schema
        .createTable('chat_code')
        .$call(columns('hash text key, channel text!, person text!, expires_at bigint!')),
      schema
        .createTable('chat_message')
        .$call(columns('delivery text!, chat text!, channel text!, message bigint!'))
        .$call(columns('approval text, sent_at bigint!'))
        .addPrimaryKeyConstraint('chat_message_key', ['delivery', 'chat']),
      schema
        .createIndex('chat_message_approval')
        .on('chat_message')
        .columns(['approval', 'channel']),
      schema.createTable('chat_place').$call(columns('bot text key, next bigint!')),
    ],
  },
]
