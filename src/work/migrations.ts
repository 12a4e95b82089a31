import { sql } from 'kysely'
import type { SqlBool } from 'kysely'
import type { Migration } from '#base/db/migrate.ts'

export const workMigrations: readonly Migration[] = [
  {
    name: 'work-001',
    up: (schema) => [
      schema
        .createTable('work_project')
        .addColumn('project', 'text', (c) => c.primaryKey())
        // The newest change, and the newest change that is in the file.
        .addColumn('seq', 'bigint', (c) => c.notNull())
        .addColumn('flushed', 'bigint', (c) => c.notNull())
        .addColumn('next_story', 'bigint', (c) => c.notNull())
        .addColumn('version', 'bigint', (c) => c.notNull())
        // The hash of the file when it last matched the store.
        .addColumn('file_hash', 'text'),
      schema
        .createTable('work_item')
        .addColumn('project', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('sprint', 'text')
        .addColumn('place', 'bigint', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull())
        .addColumn('rev', 'bigint', (c) => c.notNull())
        .addColumn('lease_agent', 'text')
        .addColumn('lease_until', 'bigint')
        .addPrimaryKeyConstraint('work_item_key', ['project', 'kind', 'id']),
      schema
        .createIndex('work_item_lease')
        .on('work_item')
        .column('lease_until')
        .where(sql<SqlBool>`lease_until IS NOT NULL`),
      schema
        .createTable('work_change')
        .addColumn('project', 'text', (c) => c.notNull())
        .addColumn('seq', 'bigint', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('op', 'text', (c) => c.notNull())
        .addColumn('fields', 'text', (c) => c.notNull())
        .addColumn('sprint', 'text')
        .addColumn('from_sprint', 'text')
        .addColumn('rev', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('call', 'text')
        .addColumn('external', 'bigint', (c) => c.notNull())
        .addColumn('quiet', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('work_change_key', ['project', 'seq']),
    ],
  },
  {
    name: 'work-002',
    up: (schema) => [
      schema
        .createTable('work_text')
        .addColumn('project', 'text', (c) => c.notNull())
        .addColumn('seq', 'bigint', (c) => c.notNull())
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('base', 'text')
        .addColumn('sha256', 'text', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('work_text_key', ['project', 'seq']),
    ],
  },
]
