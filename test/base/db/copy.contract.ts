import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyTables } from '../../../src/base/db/copy.ts'
import { migrate } from '../../../src/base/db/migrate.ts'
import type { Migration } from '../../../src/base/db/migrate.ts'
import type { Db, Dialect, StoreImport, Query, Snapshot } from '../../../src/base/db/port.ts'
import { openSqliteImport, openSqlite, readSqlite } from '../../../src/base/db/sqlite.ts'

/** The location of a store of one engine. */
export type Engine = {
  readonly dialect: Dialect
  create(): Promise<{
    open(): Promise<Db>
    read(): Promise<Snapshot>
    fill(): Promise<StoreImport>
  }>
}

export const sqliteEngine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-copy-')), 'a.db')
    return {
      open: async () => openSqlite(path),
      read: async () => readSqlite(path),
      fill: async () => openSqliteImport(path),
    }
  },
}

/** Tables with SQL keywords as names, forward references and every column type. */
const things: Migration = {
  name: 'thing-001',
  up: (schema, dialect) => [
    schema
      .createTable('order')
      .addColumn('by', 'text', (c) => c.primaryKey())
      .addColumn('group', 'text', (c) => c.references('order.by'))
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('score', 'double precision')
      .addColumn('is_open', dialect === 'sqlite' ? 'integer' : 'boolean')
      .addColumn('bytes', dialect === 'sqlite' ? 'blob' : 'bytea')
      .addColumn('text', 'text'),
    plain('CREATE TABLE seeded (id bigint PRIMARY KEY)'),
    plain('INSERT INTO seeded VALUES (1)'),
    plain('CREATE VIEW shown AS SELECT 1 AS one'),
  ],
}

const plain = <R>(sql: string): Query<R> => ({ sql, parameters: [] })

const texts = (i: number) => (i % 3 === 0 ? null : `line\nquote " back\\slash 🙂 \u2028 ${i}`)
const rows = (dialect: Dialect) =>
  Array.from({ length: 1000 }, (_, i) => ({
    by: `n${i}`,
    at: 2 ** 52 + i,
    score: i === 0 ? null : 1 / i,
    is_open: dialect === 'sqlite' ? i % 2 : i % 2 === 1,
    bytes: dialect === 'sqlite' ? Buffer.of(0, 255) : '\\x00ff',
    text: texts(i),
  }))

export function copyContract(from: Engine, to: Engine) {
  const ways = `from ${from.dialect} to ${to.dialect}`

  async function setup() {
    const [source, target] = [await from.create(), await to.create()]
    const empty = await target.open()
    await migrate(empty, [things], 1)
    await empty.close()
    const full = await source.open()
    await migrate(full, [things], 1)
    await full.transact(async (tx) => {
      await tx.insert('order', rows(from.dialect))
      await tx.run(plain(`UPDATE "order" SET "group" = 'n999'`))
      await tx.run(plain('DELETE FROM seeded'))
      await tx.run(plain('INSERT INTO seeded VALUES (2), (3)'))
    })
    await full.close()
    return { source, target }
  }

  test(`SV7 a copy ${ways} contains every row of every table`, async () => {
    const { source, target } = await setup()
    await using reading = await source.read()
    await using filling = await target.fill()
    const reported: string[] = []
    const copied = await copyTables(reading, filling, (table, done, of) =>
      reported.push(`${table} ${done}/${of}`),
    )
    expect(copied).toEqual([
      { table: 'migration', rows: 1 },
      { table: 'order', rows: 1000 },
      { table: 'seeded', rows: 2 },
    ])
    expect(reported).toContain('order 250/1000')
    await filling.commit()
    await using copy = await target.read()
    const found = await copy.all(
      plain<Record<string, unknown>>('SELECT * FROM "order" ORDER BY "at"'),
    )
    const wanted = rows(from.dialect)
    expect(found.map(({ at }) => at)).toEqual(wanted.map(({ at }) => at))
    expect(found.map(({ score }) => score)).toEqual(wanted.map(({ score }) => score))
    expect(found.map(({ text }) => text)).toEqual(wanted.map(({ text }) => text))
    expect(found.map(({ is_open: open }) => Number(open))).toEqual(wanted.map((_, i) => i % 2))
    expect(found.every(({ bytes }) => Buffer.of(0, 255).equals(bytes as Buffer))).toBe(true)
    expect(await copy.all(plain('SELECT id FROM seeded ORDER BY id'))).toEqual([
      { id: 2 },
      { id: 3 },
    ])
  })

  test(`SV7 a copy ${ways} is invisible before the commit, and a dangling reference is refused`, async () => {
    const { source, target } = await setup()
    await using reading = await source.read()
    const filling = await target.fill()
    await copyTables(reading, filling)
    await filling.close()
    const left = await target.read()
    expect(await left.all(plain('SELECT * FROM "order"'))).toEqual([])
    expect(await left.all(plain('SELECT id FROM seeded'))).toEqual([{ id: 1 }])
    await left.close()

    const stray = await target.fill()
    await stray.run(plain(`INSERT INTO "order" ("by", "group", "at") VALUES ('a', 'b', 1)`))
    await expect(stray.commit()).rejects.toThrow(/refers|foreign key/)
    await stray.close()
    const db = await target.open()
    await expect(
      db.transact((tx) =>
        tx.run(plain(`INSERT INTO "order" ("by", "group", "at") VALUES ('a', 'b', 1)`)),
      ),
    ).rejects.toThrow(/foreign key/i)
    await db.close()
  })

  test(`SV7 a row lost or changed during a copy ${ways} is detected`, async () => {
    const { source, target } = await setup()
    const changes: ((row: Record<string, unknown>) => object | undefined)[] = [
      (row) => (row['by'] === 'n7' ? undefined : row),
      (row) => ({ ...row, ...(row['by'] === 'n7' && { text: 'other' }) }),
    ]
    for (const change of changes) {
      await using reading = await source.read()
      await using filling = await target.fill()
      const insert: StoreImport['insert'] = (table, sent) =>
        filling.insert(table, sent.flatMap((row) => change(row) ?? []) as typeof sent)
      await expect(copyTables(reading, { ...filling, insert })).rejects.toThrow(/order/)
    }
  })
}
