import { afterEach, describe, expect, test } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import { createHistoryStore } from '../../src/files/history-store.ts'
import type { Version } from '../../src/files/history-store.ts'
import { fileMigrations } from '../../src/files/migrations.ts'

/** The contract of the file history on both database engines. */
export function historyContract(engine: string, open: () => Promise<Db>): void {
  describe(`history on ${engine}`, () => {
    let db: Db | undefined
    afterEach(() => db?.close())

    async function setup() {
      db = await open()
      await migrate(db, fileMigrations, 0)
      const here = createHistoryStore(db.dialect, 'here')
      return { db, here, there: createHistoryStore(db.dialect, 'there') }
    }
    const version = (id: string, path: string, at: number): Version => ({
      id,
      path,
      origin: path,
      at,
      sha256: `sha-${id}`,
      size: 5,
      mode: 0o644,
      by: 'sales',
      operation: 'update_file',
      call: 'c1',
    })
    const trashed = (id: string, deletedAt: number) => ({
      id,
      path: `/w/${id}`,
      type: 'file' as const,
      size: 7,
      sha256: null,
      by: 'sales',
      call: 'c1',
      deletedAt,
    })

    test('TR3 lists versions of a file newest first, and only those of this node', async () => {
      const { db: store, here, there } = await setup()
      await store.transact(async (tx) => {
        await here.addVersion(tx, version('v1', '/w/a', 1))
        await here.addVersion(tx, version('v2', '/w/a', 2))
        await here.addVersion(tx, version('v3', '/w/b', 3))
        await there.addVersion(tx, version('v4', '/w/a', 4))
      })
      const ids = (found: readonly Version[]) => found.map(({ id }) => id)
      expect(ids(await here.listVersions(store, '/w/a', 10))).toEqual(['v2', 'v1'])
      expect(ids(await here.listVersions(store, '/w/a', 1))).toEqual(['v2'])
      expect(await here.findVersion(store, 'v1')).toEqual(version('v1', '/w/a', 1))
      expect(await here.findVersion(store, 'v4')).toBeUndefined()
      await store.transact((tx) => here.deleteVersion(tx, 'v4'))
      expect(ids(await there.listAllVersions(store))).toEqual(['v4'])
    })

    test('TR3 the history moves with a file, with everything in a folder and nothing else', async () => {
      const { db: store, here, there } = await setup()
      // Names with a common prefix, and characters outside of the BMP.
      const paths = ['/w/𝒹', '/w/𝒹/a', '/w/𝒹/b/c', '/w/𝒹x', '/w/other']
      await store.transact(async (tx) => {
        for (const [n, path] of paths.entries()) {
          await here.recordMade(tx, path, 'sales', n)
          await here.addVersion(tx, version(`v${n}`, path, n))
        }
        // Rows of files that had these paths before.
        await here.recordMade(tx, '/w/new/a', 'gone', 0)
        await here.addVersion(tx, { ...version('v9', '/w/new/a', 9), by: 'gone' })
        await there.addVersion(tx, version('v10', '/w/new/a', 10))
      })
      await store.transact((tx) => here.move(tx, '/w/𝒹', '/w/new'))
      const after = ['/w/new', '/w/new/a', '/w/new/b/c', '/w/other', '/w/𝒹x']
      const made = await here.listMade(store)
      expect(made.map(({ path }) => path).sort()).toEqual(after)
      expect(made.map(({ by }) => by)).not.toContain('gone')
      const versions = await here.listAllVersions(store)
      // Versions of earlier files stay, because people may restore them.
      expect(versions.map(({ path }) => path).sort()).toEqual([...after, '/w/new/a'].sort())
      expect(await there.listAllVersions(store)).toHaveLength(1)
      await store.transact((tx) => here.move(tx, '/w/new', '/w/new'))
      expect(await here.listAllVersions(store)).toEqual(versions)
    })

    test('GR1 stores the path of a version when it was replaced, across moves, deletes and restores', async () => {
      const { db: store, here } = await setup()
      await store.transact(async (tx) => {
        await here.addVersion(tx, version('v1', '/w/t/a', 1))
        await here.move(tx, '/w/t', '/w/t1')
        await here.keepTrash(tx, trashed('t1', 2))
        await here.restoreFromTrash(tx, 't1', '/w/back')
      })
      expect(await here.listAllVersions(store)).toEqual([
        { ...version('v1', '/w/t/a', 1), path: '/w/back/a' },
      ])
    })

    test('GR1 SV8 older versions get their current path, those in the trash the path of the item', async () => {
      db = await open()
      const before = fileMigrations.filter(({ name }) => name < 'files-003')
      await migrate(db, before, 0)
      const [there, gone] = [newId(), newId()]
      const paths = ['/w/a', `trash:${there}`, `trash:${there}/𝒹/b`, `trash:${gone}/c`]
      const here = createHistoryStore(db.dialect, 'here')
      const row = (one: Version) => {
        const { origin: _, ...old } = one
        return { ...old, node: 'here' }
      }
      await db.transact(async (tx) => {
        const rows = paths.map((path, n) => row(version(`v${n}`, path, n)))
        await tx.insert('file_version', rows)
        await here.keepTrash(tx, { ...trashed(there, 5), path: '/w/𝒹ir', type: 'folder' })
        await tx.insert('file_version', [{ ...row(version('v9', `trash:${there}`, 9)), node: 'x' }])
      })
      await migrate(db, fileMigrations, 0)
      const origins = (await here.listAllVersions(db)).map(({ origin }) => origin)
      expect(origins.sort()).toEqual(['/w/a', '/w/𝒹ir', '/w/𝒹ir/𝒹/b', `trash:${gone}/c`].sort())
    })

    test('TR3 an item found in the trash before its call ended takes its versions with it', async () => {
      const { db: store, here } = await setup()
      const item = trashed('t1', 5)
      await store.transact(async (tx) => {
        await here.addVersion(tx, version('v1', item.path, 1))
        await here.addFoundTrashItem(tx, item)
      })
      await store.transact((tx) => here.keepTrash(tx, item))
      expect(await here.listVersions(store, item.path, 10)).toEqual([])
      await store.transact((tx) => here.restoreFromTrash(tx, 't1', item.path))
      expect(await here.listVersions(store, item.path, 10)).toHaveLength(1)
    })

    test('FT9 the history moves with a folder on Windows; elsewhere a backslash is part of a name', async () => {
      const { db: store, here } = await setup()
      const paths = ['C:\\w\\a\\x', 'C:\\w\\ab', '/w/a/x', '/w/a\\x']
      await store.transact(async (tx) => {
        for (const [n, path] of paths.entries())
          await here.addVersion(tx, version(`v${n}`, path, n))
        await here.move(tx, 'C:\\w\\a', 'C:\\w\\b')
        await here.move(tx, '/w/a', '/w/b')
      })
      const versions = await here.listAllVersions(store)
      expect(versions.map(({ path }) => path).sort()).toEqual(
        ['C:\\w\\b\\x', 'C:\\w\\ab', '/w/b/x', '/w/a\\x'].sort(),
      )
    })

    test('FT9 the history of a deleted folder stays in the trash and is restored with it', async () => {
      const { db: store, here } = await setup()
      await store.transact(async (tx) => {
        await here.recordMade(tx, '/w/t/a', 'sales', 1)
        await here.addVersion(tx, version('v1', '/w/t/a', 1))
        await here.keepTrash(tx, { ...trashed('t', 2), type: 'folder' })
        await here.keepTrash(tx, { ...trashed('t2', 3), path: '/w/none' })
      })
      expect(await here.listMade(store)).toEqual([])
      expect(await here.listNewestMade(store, '/w', 5)).toEqual([])
      expect(await here.listVersions(store, '/w/t/a', 5)).toEqual([])
      await store.transact(async (tx) => {
        // Another file takes the path before the restore.
        await here.addVersion(tx, version('v2', '/w/t/a', 4))
        await here.restoreFromTrash(tx, 't', '/w/back')
      })
      expect(await here.findTrashItem(store, 't')).toBeUndefined()
      expect(await here.listMade(store)).toMatchObject([{ path: '/w/back/a', by: 'sales' }])
      expect(await here.listVersions(store, '/w/back/a', 5)).toMatchObject([{ id: 'v1' }])
      expect(await here.listVersions(store, '/w/t/a', 5)).toMatchObject([{ id: 'v2' }])
    })

    test('TR1 an item found in the trash takes no versions from the file at its path', async () => {
      const { db: store, here } = await setup()
      await store.transact(async (tx) => {
        await here.addVersion(tx, version('v1', '/w/t', 5))
        await here.addFoundTrashItem(tx, trashed('t', 2))
      })
      expect(await here.findTrashItem(store, 't')).toMatchObject({ path: '/w/t' })
      expect(await here.listVersions(store, '/w/t', 5)).toMatchObject([{ id: 'v1' }])
    })

    test('TR4 keeps the newest versions of a file and returns the contents of the others', async () => {
      const { db: store, here, there } = await setup()
      const dropped = await store.transact(async (tx) => {
        for (const n of [1, 2, 3, 4]) await here.addVersion(tx, version(`v${n}`, '/w/a', n))
        await here.addVersion(tx, version('v5', '/w/b', 0))
        await there.addVersion(tx, version('v6', '/w/a', 0))
        return here.deleteVersionsBeyond(tx, '/w/a', 2)
      })
      expect(dropped).toEqual(['sha-v2', 'sha-v1'])
      const left = (await here.listAllVersions(store)).map(({ id }) => id)
      expect(left.sort()).toEqual(['v3', 'v4', 'v5'])
      // Contents that another node refers to are not on this node.
      const named = await here.findReferenced(store, ['sha-v1', 'sha-v3', 'sha-v6'])
      expect([...named]).toEqual(['sha-v3'])
      expect(await here.findReferenced(store, [])).toEqual(new Set())
    })

    test('F6 keeps the creator of a file when another agent changes it', async () => {
      const { db: store, here } = await setup()
      await store.transact(async (tx) => {
        await here.recordMade(tx, '/w/a', 'sales', 1)
        await here.recordMade(tx, '/w/b', 'support', 2)
        await here.recordMade(tx, '/w/a', 'support', 3)
        await here.recordMade(tx, '/wide/c', 'support', 4)
      })
      expect(await here.listNewestMade(store, '/w', 1)).toEqual([
        { path: '/w/a', by: 'sales', madeAt: 1, changedAt: 3 },
      ])
    })

    test('TR1 pages the trash newest first, and stores and takes an item once', async () => {
      const { db: store, here, there } = await setup()
      const ids = ['0190-1', '0190-2', '0190-3']
      await store.transact(async (tx) => {
        for (const [n, id] of ids.entries()) await here.keepTrash(tx, trashed(id, n))
        await here.keepTrash(tx, { ...trashed('0190-1', 9), by: 'other' })
        await there.keepTrash(tx, trashed('0190-4', 4))
      })
      const page = await here.listTrashPage(store, 'g', 2)
      expect(page.map(({ id }) => id)).toEqual(['0190-3', '0190-2'])
      expect(await here.listTrashPage(store, '0190-2', 2)).toEqual([trashed('0190-1', 0)])
      const taken = await store.transact(async (tx) => [
        await here.deleteTrashItem(tx, '0190-1'),
        await here.deleteTrashItem(tx, '0190-1'),
        await here.deleteTrashItem(tx, '0190-4'),
      ])
      expect(taken).toEqual([1, 0, 0])
      expect(await here.findTrashItem(store, '0190-1')).toBeUndefined()
    })
  })
}
