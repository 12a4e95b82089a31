import type { Compilable, SchemaModule } from 'kysely'
import { CoworkError } from '../errors.ts'
import type { Db, Dialect, Query } from './port.ts'
import { builder, query, statement } from './statement.ts'

/** A schema migration. Numbered by module and never edited after release. */
export type Migration = {
  /** `<module>-<number>`, as in `ledger-001` */
  readonly name: string
  up(schema: SchemaModule, dialect: Dialect): (Compilable | Query)[]
}

type Tables = { migration: { name: string; at: number } }

const migrationLock = { sql: 'SELECT pg_advisory_xact_lock(1668249452)', parameters: [] }

/** Applies missing migrations after a backup. Refuses a store with unknown migrations (SV8). */
export async function migrate(
  db: Db,
  migrations: readonly Migration[],
  now: number,
): Promise<{ applied: string[]; backup?: string }> {
  const sql = builder<Tables>(db.dialect)
  const table = sql.schema
    .createTable('migration')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
  await db.transact(async (tx) => {
    // `if not exists` alone races in PostgreSQL when two daemons start on an empty database.
    if (db.dialect === 'postgres') await tx.run(migrationLock)
    await tx.run(query(table))
  })
  const done = (await db.all(query(sql.selectFrom('migration').select('name')))).map((m) => m.name)
  const unknown = done.filter((name) => !migrations.some((m) => m.name === name))
  if (unknown.length > 0)
    throw new CoworkError(
      'store_is_newer',
      `The store was written by a newer version of cowork: it has ${unknown.join(', ')}.`,
      { hint: 'Start the newer version, or restore a backup made with this version.' },
    )
  const todo = migrations.filter((m) => !done.includes(m.name))
  if (todo.length === 0) return { applied: [] }

  const backup = done.length > 0 ? await db.backup(`before-${todo[0]?.name}-${now}`) : undefined
  const record = statement((p: { name: string; at: number }) =>
    sql
      .insertInto('migration')
      .values({ name: p.name, at: p.at })
      .onConflict((conflict) => conflict.column('name').doNothing()),
  )
  const applied: string[] = []
  for (const migration of todo) {
    const isApplied = await db.transact(async (tx) => {
      // When several daemons start together, one inserts this row; the others wait and skip the migration.
      if ((await tx.run(record({ name: migration.name, at: now }))) === 0) return false
      for (const step of migration.up(sql.schema, db.dialect))
        await tx.run('compile' in step ? query(step) : step)
      return true
    })
    if (isApplied) applied.push(migration.name)
  }
  return { applied, ...(backup && { backup }) }
}
