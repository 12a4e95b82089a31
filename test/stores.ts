import { copyFileSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '#base/db/migrate.ts'
import type { Migration } from '#base/db/migrate.ts'
import { noSealer } from '#base/db/port.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'

/** The environment variable with the path of the run's in-memory folder. */
export const memoryVariable = 'COWORK_TEST_MEMORY'

/** Creates a folder for a store, in memory if possible, so that an fsync is free. */
export const storeFolder = (): string =>
  mkdtempSync(join(process.env[memoryVariable] ?? tmpdir(), 'store-'))

/** Returns the path of a new store. */
export const storePath = (): string => join(storeFolder(), 'cowork.db')

/** Opens a SQLite store with these migrations. A new one is a copy of a template, since migrating takes 40 ms. */
export async function openMigrated<P extends object>(
  path: string,
  sealer: Sealer<P>,
  migrations: readonly Migration[],
): Promise<Db> {
  await copyTemplate(path, migrations)
  return openSqlite(path, sealer)
}

/** Puts an empty store with these migrations at the path, unless a store is there. */
export async function copyTemplate(path: string, migrations: readonly Migration[]): Promise<void> {
  if (!existsSync(path)) copyFileSync(await openTemplate(migrations), path)
}

const templates = new Map<string, Promise<string>>()

function openTemplate(migrations: readonly Migration[]): Promise<string> {
  const key = migrations.map(({ name }) => name).join()
  const template = templates.get(key) ?? makeTemplate(migrations)
  templates.set(key, template)
  return template
}

async function makeTemplate(migrations: readonly Migration[]): Promise<string> {
  const path = storePath()
  const db = openSqlite(path, noSealer)
  await migrate(db, migrations, 0)
  await db.close()
  return path
}
