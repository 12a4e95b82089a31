import { sql } from 'kysely'
import type { SqlBool } from 'kysely'
import type { Migration } from '#base/db/migrate.ts'

export const fileMigrations: readonly Migration[] = [
  {
    name: 'files-001',
    up: (schema) => [
      schema
        .createTable('file_grant')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('node', 'text', (c) => c.notNull())
        .addColumn('path', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('dev', 'text', (c) => c.notNull())
        .addColumn('ino', 'text', (c) => c.notNull())
        .addColumn('permission', 'text', (c) => c.notNull())
        .addColumn('scope', 'text', (c) => c.notNull())
        .addColumn('session', 'text')
        .addColumn('hard_links', 'bigint', (c) => c.notNull())
        .addColumn('granted_at', 'bigint', (c) => c.notNull())
        .addColumn('granted_by', 'text', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('approval', 'text')
        .addColumn('expires_at', 'bigint')
        .addColumn('last_accessed', 'bigint')
        .addColumn('access_count', 'bigint', (c) => c.notNull())
        .addColumn('revoked_at', 'bigint')
        .addColumn('revoked_by', 'text'),
      schema
        .createIndex('file_grant_live')
        .on('file_grant')
        .columns(['node', 'path'])
        .where(sql<SqlBool>`revoked_at IS NULL`),
    ],
  },
  {
    name: 'files-002',
    up: (schema) => [
      schema
        .createTable('file_trash')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('node', 'text', (c) => c.notNull())
        .addColumn('path', 'text', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('size', 'bigint', (c) => c.notNull())
        .addColumn('sha256', 'text')
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('call', 'text', (c) => c.notNull())
        .addColumn('deleted_at', 'bigint', (c) => c.notNull()),
      schema.createIndex('file_trash_node').on('file_trash').columns(['node', 'id']),
      schema
        .createTable('file_version')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('node', 'text', (c) => c.notNull())
        .addColumn('path', 'text', (c) => c.notNull())
        .addColumn('sha256', 'text', (c) => c.notNull())
        .addColumn('size', 'bigint', (c) => c.notNull())
        .addColumn('mode', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('by', 'text', (c) => c.notNull())
        .addColumn('operation', 'text', (c) => c.notNull())
        .addColumn('call', 'text', (c) => c.notNull()),
      schema.createIndex('file_version_path').on('file_version').columns(['node', 'path', 'at']),
      schema
        .createTable('file_made')
        .addColumn('node', 'text', (c) => c.notNull())
        .addColumn('path', 'text', (c) => c.notNull())
        .addColumn('made_by', 'text', (c) => c.notNull())
        .addColumn('made_at', 'bigint', (c) => c.notNull())
        .addColumn('changed_at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('file_made_key', ['node', 'path']),
      schema.createIndex('file_made_changed').on('file_made').columns(['node', 'changed_at']),
    ],
  },
  {
    name: 'files-003',
    up: (schema) => [
      // With the id, the index has the order of a file's versions: 7 µs instead of 88 µs to find the oldest of 100.
      schema.dropIndex('file_version_path'),
      schema
        .createIndex('file_version_order')
        .on('file_version')
        .columns(['node', 'path', 'at', 'id']),
      // Earlier moves were not recorded; the origin of a trash item is the path of its row.
      schema
        .alterTable('file_version')
        .addColumn('origin', 'text', (c) => c.notNull().defaultTo('')),
      { sql: 'UPDATE file_version SET origin = path', parameters: [] },
      {
        sql: `UPDATE file_version
          SET origin = t.path || substr(file_version.path, 43)
          FROM file_trash t
          WHERE substr(file_version.path, 1, 6) = 'trash:'
            AND t.node = file_version.node AND t.id = substr(file_version.path, 7, 36)`,
        parameters: [],
      },
    ],
  },
  {
    name: 'files-004',
    // Unknown for existing grants.
    up: (schema) => [schema.alterTable('file_grant').addColumn('born', 'text')],
  },
]
