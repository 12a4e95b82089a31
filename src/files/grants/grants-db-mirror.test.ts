import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'

/** As seed 004 makes it. */
function seedDatabase(rows: Record<string, string | number | null>[]): string {
  const path = join(mkdtempSync(join(tmpdir(), 'cowork-seed-')), 'data', 'grants.db')
  mkdirSync(dirname(path))
  const db = new DatabaseSync(path)
  db.exec(`CREATE TABLE grants (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, permission TEXT NOT NULL, scope TEXT NOT NULL,
    granted_at TIMESTAMP NOT NULL, granted_by TEXT NOT NULL, expires_at TIMESTAMP,
    last_accessed TIMESTAMP, access_count INTEGER DEFAULT 0
  )`)
  for (const row of rows) {
    const all = {
      permission: 'read',
      scope: 'permanent',
      granted_at: '2026-02-01T10:30:00Z',
      granted_by: 'user_explicit',
      ...row,
    }
    const names = Object.keys(all)
    db.prepare(
      `INSERT INTO grants (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ).run(...Object.values(all))
  }
  db.close()
  return path
}

function rowsOf(path: string) {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare('SELECT * FROM grants ORDER BY id').all()
  db.close()
  return rows
}

test('GR1 a grants.db of the seed is taken over at start, and what cannot be is left in it', async () => {
  const { start, docs, home } = await createWorld(sqliteStore())
  const path = seedDatabase([
    {
      id: 'grant_abc123',
      path: docs,
      permission: 'read-write',
      last_accessed: '2026-02-01 14:20:00',
      access_count: 15,
    },
    { id: 'grant_gone', path: join(home, 'none') },
    { id: 'grant_closed', path: join(home, '.ssh') },
    { id: 'grant_session', path: docs, scope: 'session' },
    { id: 'grant_over', path: docs, expires_at: '2026-02-02T00:00:00Z' },
    { id: 'grant_odd_end', path: docs, expires_at: 'next week' },
    { id: 'grant_odd', path: docs, permission: 'everything' },
  ])
  const here = await start({ 'grants.database': path })
  expect(await here.listed(anna)).toMatchObject([
    {
      id: 'grant_abc123',
      agent: '*',
      path: docs,
      permission: 'read-write',
      granted_at: '2026-02-01T10:30:00.000Z',
      last_accessed: '2026-02-01T14:20:00.000Z',
      access_count: 15,
    },
  ])
  expect(rowsOf(path).map(({ id }) => id)).toHaveLength(7)
  expect(await here.entries(['grant.made'])).toHaveLength(1)
})

test('GR1 the file is kept as a copy, and what was revoked does not come back from it', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const path = seedDatabase([{ id: 'grant_abc123', path: docs }])
  const first = await start({ 'grants.database': path })
  const added = await first.add(join(docs, 'Work'), 'read-write', { agent: 'sales' })
  expect(rowsOf(path)).toMatchObject([
    { id: added['id'], path: join(docs, 'Work'), permission: 'read-write', agent: 'sales' },
    { id: 'grant_abc123', agent: '*' },
  ])
  await first.revoke('grant_abc123')
  expect(rowsOf(path)).toMatchObject([{ id: added['id'] }])
  await first.stop()
  const back = new DatabaseSync(path)
  back
    .prepare(
      "INSERT INTO grants (id, path, permission, scope, granted_at, granted_by) VALUES ('grant_abc123', ?, 'read', 'permanent', '2026-02-01', 'user_explicit')",
    )
    .run(docs)
  back.close()
  const second = await start({ 'grants.database': path })
  expect((await second.listed(anna)).map(({ id }) => id)).toEqual([added['id']])
  await second.stop()
})

test('GR1 a copy that went to a new store opens for nobody else than before', async () => {
  const one = await createWorld(sqliteStore())
  const path = join(one.root, 'grants.db')
  const first = await one.start({ 'grants.database': path })
  await first.add(one.docs, 'read', { agent: 'support' })
  await first.stop()
  const other = await createWorld(sqliteStore())
  const second = await other.start({ 'grants.database': path })
  expect(await second.listed(anna)).toMatchObject([{ agent: 'support', path: one.docs }])
  expect(await second.listed(second.sales)).toEqual([])
})

test('GR1 a grants.db that is not a database does not prevent the start and is not changed', async () => {
  const { start, docs, root } = await createWorld(sqliteStore())
  const path = join(root, 'grants.db')
  writeFileSync(path, 'not a database at all, but long enough to be taken for one')
  const here = await start({ 'grants.database': path })
  expect(await here.add(docs)).toMatchObject({ path: docs })
})

test('GR1 an id that is not a grant id is not imported, because worker roots have names too', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const ids = ['workspace', 'trash', 'versions', 'grant_', 'grant_../x', 'Grant_a']
  const path = seedDatabase(ids.map((id) => ({ id, path: docs })))
  const here = await start({ 'grants.database': path })
  expect(await here.listed(anna)).toEqual([])
  expect(rowsOf(path)).toHaveLength(ids.length)
})

test('GR1 a grants.db that names a grant of another node stops no start and opens nothing', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const path = seedDatabase([{ id: 'grant_abc123', path: docs }])
  const there = await start({ 'grants.database': path }, 'there')
  await there.stop()
  const here = await start({ 'grants.database': path }, 'here')
  expect(await here.listed(anna)).toMatchObject([{ id: 'grant_abc123', node: 'there' }])
  expect(await here.listed(here.sales)).toEqual([])
  expect(rowsOf(path)).toMatchObject([{ id: 'grant_abc123' }])
})

test('GR1 paths of grants.db are read from / or ~/, never from where the daemon was started', async () => {
  const { start, docs, workspace } = await createWorld(sqliteStore())
  const path = seedDatabase([
    { id: 'grant_home', path: '~/Documents' },
    { id: 'grant_relative', path: 'src' },
    { id: 'grant_climbing', path: join(docs, '..').concat('/../home/Documents/Work') },
    { id: 'grant_own', path: workspace },
    { id: 'grant_drop', path: join(docs, 'report.txt'), permission: 'write' },
  ])
  const here = await start({ 'grants.database': path })
  expect(await here.listed(anna)).toMatchObject([{ id: 'grant_home', path: docs }])
  expect(rowsOf(path)).toHaveLength(5)
})

test('GR1 GR6 a grants.db does not open a permanently denied path, and the daemon starts', async () => {
  const { start, docs } = await createWorld(sqliteStore())
  const path = seedDatabase([])
  const first = await start({ 'grants.database': path })
  const { request_id: id } = await first.ask(docs, first.sales)
  await first.decide(id, { decision: 'reject', grant: { choice: 'deny_always' } })
  await first.stop()
  const db = new DatabaseSync(path)
  db.prepare(
    "INSERT INTO grants (id, path, permission, scope, granted_at, granted_by, agent) VALUES ('grant_a', ?, 'read', 'permanent', '2026-02-01T10:30:00Z', 'user_explicit', 'sales')",
  ).run(join(docs, 'Work'))
  db.close()
  const here = await start({ 'grants.database': path })
  expect(await here.listed(here.sales)).toEqual([])
})
