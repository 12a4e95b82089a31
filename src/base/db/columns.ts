import { sql } from 'kysely'
import type { ColumnDataType, CreateTableBuilder, SchemaModule, SqlBool } from 'kysely'

/**
 * Adds columns to a table: `columns('id text key, agent text!, ended_at bigint')`. Each name has a type, then `!` for
 * NOT NULL or `key` for the primary key.
 */
export const columns =
  (list: string) =>
  <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
    list.split(',').reduce<CreateTableBuilder<T, string>>((built, column) => {
      const [, name, type, mark] = /^(\w+) ([a-z ]+?)(!| key)?$/.exec(column.trim()) ?? []
      if (name === undefined) throw new Error(`not a column: ${column}`)
      return built.addColumn(name, type as ColumnDataType, (c) =>
        mark === '!' ? c.notNull() : mark ? c.primaryKey() : c,
      )
    }, table)

/** Builds a partial index: `partialIndex(schema, 'job_due', 'job(at)', '…')`. */
export function partialIndex(schema: SchemaModule, name: string, on: string, condition: string) {
  const [, table = '', names = ''] = /^(\w+)\((.+)\)$/.exec(on) ?? []
  const index = schema.createIndex(name).on(table).columns(names.split(', '))
  return index.where(sql.raw<SqlBool>(condition))
}
