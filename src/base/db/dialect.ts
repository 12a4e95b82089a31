import { sql } from 'kysely'
import type { RawBuilder, SqlBool } from 'kysely'
import type { Dialect } from './port.ts'

/** Quotes a name: some, such as `by`, are keywords of SQL. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Returns the type of a numeric key. In SQLite an `integer` key is the rowid, which saves an index. */
export const keyType = (dialect: Dialect) => (dialect === 'sqlite' ? 'integer' : 'bigint')

/** Selects the stored bytes of a text unchanged: invalid UTF-8 must not be replaced. */
export const rawBytes = (dialect: Dialect, column: string): RawBuilder<Uint8Array> =>
  dialect === 'sqlite'
    ? sql<Uint8Array>`cast(${sql.ref(column)} as blob)`
    : sql<Uint8Array>`convert_to(${sql.ref(column)}, 'UTF8')`

/** Matches a prefix, case-sensitive on both engines. LIKE ignores case in SQLite, and ranges depend on the collation. */
export const startsWith = (column: string, prefix: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`substr(${sql.ref(column)}, 1, length(${prefix})) = ${prefix}`

/** Matches a substring and ignores the case of ASCII letters only, as both engines do. */
export const contains = (dialect: Dialect, column: string, text: string): RawBuilder<SqlBool> =>
  dialect === 'sqlite'
    ? sql<SqlBool>`instr(lower(${sql.ref(column)}), lower(${text})) > 0`
    : sql<SqlBool>`strpos(lower(${sql.ref(column)} collate "C"), lower(${text}::text collate "C")) > 0`
