import { sql } from 'kysely'
import type { RawBuilder, SqlBool } from 'kysely'
import type { Dialect } from './port.ts'

/** What the two engines spell differently. Everything else is portable SQL (DESIGN 5). */

/** Names such as `by` are words of SQL, too. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A numeric key. In SQLite `integer` is the row's own address, which saves an index. */
export const keyType = (dialect: Dialect) => (dialect === 'sqlite' ? 'integer' : 'bigint')

/** The stored bytes of a text, as they are: a text that is no longer valid UTF-8 must not be repaired. */
export const rawBytes = (dialect: Dialect, column: string): RawBuilder<Uint8Array> =>
  dialect === 'sqlite'
    ? sql<Uint8Array>`cast(${sql.ref(column)} as blob)`
    : sql<Uint8Array>`convert_to(${sql.ref(column)}, 'UTF8')`

/** LIKE ignores case in SQLite and not in PostgreSQL, and ranges depend on the collation; this does neither. */
export const startsWith = (column: string, prefix: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`substr(${sql.ref(column)}, 1, length(${prefix})) = ${prefix}`

/** Upper and lower case count as one for ASCII letters only: there the two engines agree. */
export const contains = (dialect: Dialect, column: string, text: string): RawBuilder<SqlBool> =>
  dialect === 'sqlite'
    ? sql<SqlBool>`instr(lower(${sql.ref(column)}), lower(${text})) > 0`
    : sql<SqlBool>`strpos(lower(${sql.ref(column)} collate "C"), lower(${text}::text collate "C")) > 0`
