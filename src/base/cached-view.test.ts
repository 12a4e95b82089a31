import { afterEach, expect, test } from 'vitest'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createCachedView } from './cached-view.ts'
import { systemActor } from './entry.ts'
import { silentLog } from './log.ts'

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const query = (sql: string, ...parameters: string[]) => ({ sql, parameters })
const noted = { type: 'thing.noted', actor: systemActor }

async function setup() {
  open = await openTestLedger()
  const { db } = open
  await db.transact((tx) => tx.run(query('CREATE TABLE thing (name TEXT)')))
  const seen: [readonly string[], number][] = []
  let reads = 0
  const view = createCachedView<readonly string[]>({
    db,
    name: 'things',
    initial: [],
    async read(tx) {
      reads++
      const rows = await tx.all<{ name: string }>(query('SELECT name FROM thing ORDER BY name'))
      return rows.map(({ name }) => name)
    },
    onRead: (value, upTo) => void seen.push([value, upTo]),
    log: silentLog,
  })
  const add = (name: string, fails = false) =>
    db.transact(async (tx) => {
      await tx.run(query('INSERT INTO thing VALUES (?)', name))
      tx.append(noted)
      const change = view.invalidate()
      if (fails) throw new Error('rolled back')
      return change
    })
  return { db, view, add, seen, reads: () => reads }
}

test('RH8 a cached view reads once and again only after a change', async () => {
  const { view, add, reads } = await setup()
  expect(view.latest()).toEqual([])
  expect(await view.current()).toEqual([])
  await view.current()
  expect([view.isCurrent(), reads()]).toEqual([true, 1])
  await add('a')
  expect(await view.current()).toEqual(['a'])
  expect(view.latest()).toEqual(['a'])
})

test('RH8 a commit refreshes the view and reports the change number', async () => {
  const { view, add, seen } = await setup()
  await view.current()
  const change = await add('a')
  await expect.poll(() => seen.at(-1)).toEqual([['a'], change])
  expect(view.isCurrent()).toBe(true)
})

test('RH8 a view never shows rolled back data', async () => {
  const { view, add, seen } = await setup()
  const [first] = await Promise.allSettled([add('a', true), add('b')])
  expect(first.status).toBe('rejected')
  expect(await view.current()).toEqual(['b'])
  expect(seen.map(([value]) => value).flat()).not.toContain('a')
})

test('RH8 refresh reads changes without invalidate, and update lasts until the next read', async () => {
  const { db, view } = await setup()
  await view.current()
  await db.transact((tx) => tx.run(query('INSERT INTO thing VALUES (?)', 'other')))
  expect(await view.current()).toEqual([])
  view.update((before) => [...before, 'mine'])
  expect(view.latest()).toEqual(['mine'])
  expect(await view.refresh()).toEqual(['other'])
})

test('RH8 a closed view does not refresh', async () => {
  const { view, add, reads } = await setup()
  await view.current()
  view.close()
  await add('a')
  expect([view.isCurrent(), reads()]).toEqual([false, 1])
})

test('RH8 a caller that waits during a refresh gets the newer value', async () => {
  open = await openTestLedger()
  let reads = 0
  let refreshed: Promise<number> | undefined
  const view = createCachedView<number>({
    db: open.db,
    name: 'reads',
    initial: 0,
    async read(tx) {
      await tx.all(query('SELECT 1'))
      reads++
      // Another daemon changes the value after this read.
      refreshed ??= view.refresh()
      return reads
    },
    log: silentLog,
  })
  expect(await view.current()).toBe(2)
  expect(await refreshed).toBeGreaterThanOrEqual(2)
})
