import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Call } from '#base/tool.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { createHistoryStore } from './history-store.ts'
import { createHistory } from './history.ts'
import { fileMigrations } from './migrations.ts'

const call: Call = {
  id: 'c1',
  caller: { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] },
  signal: new AbortController().signal,
  progress: () => undefined,
  addDetails: () => undefined,
}

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

async function setup() {
  open = await openTestLedger(fileMigrations)
  const { db, ledger } = open
  let time = 0
  const store = createHistoryStore(db.dialect, 'here')
  const history = createHistory(store, () => time, 3)
  const replaced = (sha256: string) => ({
    operation: 'update_file',
    made: '/w/a',
    replaced: { path: '/w/a', before: { sha256, size: 1, mode: 0o644 } },
  })
  return {
    db,
    store,
    history,
    transact: ledger.transact,
    replaced,
    pass: (ms: number) => (time += ms),
  }
}

test('TR3 what a call changed is written when it is recorded, and not before', async () => {
  const { db, store, history, transact, replaced } = await setup()
  const finalize = history.recordChange(call, replaced('s1'))
  expect(await store.listAllVersions(db)).toEqual([])
  await transact(finalize)
  expect(await store.listAllVersions(db)).toMatchObject([
    { path: '/w/a', sha256: 's1', by: call.caller.id, call: call.id, operation: 'update_file' },
  ])
  expect(await store.listMade(db)).toMatchObject([{ path: '/w/a', by: call.caller.id }])
})

test('TR4 of one file no more than the limit are kept from one change to the next', async () => {
  const { db, store, history, transact, replaced, pass } = await setup()
  for (const n of [1, 2, 3, 4, 5]) {
    pass(1)
    await transact(history.recordChange(call, replaced(`s${n}`)))
  }
  const kept = await store.listVersions(db, '/w/a', 10)
  expect(kept.map(({ sha256 }) => sha256)).toEqual(['s5', 's4', 's3'])
  expect(history.takeAdded()).toEqual({ bytes: 5, surplus: ['s1', 's2'] })
  expect(history.takeAdded()).toEqual({ bytes: 0, surplus: [] })
})

test('TR4 a content that a row is about to name is spared, for as long as that may take', async () => {
  const { history, replaced, pass } = await setup()
  history.recordChange(call, replaced('s1'))
  const spared: boolean[] = []
  const look = () => history.withCleanupLock(async (is) => void spared.push(is('s1'), is('other')))
  await look()
  pass(11 * 60_000)
  history.recordChange(call, replaced('s2'))
  await look()
  expect(spared).toEqual([true, false, false, false])
})

test('TR4 cleanup waits for writes, and writes wait for cleanup', async () => {
  const { history } = await setup()
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  const writing = history.withWriteLock(async () => {
    order.push('write begins')
    await first.promise
    order.push('write ends')
  })
  await sleep(0)
  const second = Promise.withResolvers<void>()
  const cleaning = history.withCleanupLock(async () => {
    order.push('cleaning begins')
    await second.promise
    order.push('cleaning ends')
  })
  await sleep(0)
  first.resolve()
  await writing
  await sleep(0)
  const later = history.withWriteLock(async () => void order.push('later write'))
  await sleep(0)
  second.resolve()
  await Promise.all([cleaning, later])
  expect(order).toEqual([
    'write begins',
    'write ends',
    'cleaning begins',
    'cleaning ends',
    'later write',
  ])
})

test('TR4 a failed write or cleaning blocks nothing', async () => {
  const { history } = await setup()
  const fail = () => Promise.reject(new Error('no'))
  await expect(history.withWriteLock(fail)).rejects.toThrow('no')
  await expect(history.withCleanupLock(fail)).rejects.toThrow('no')
  expect(await history.withWriteLock(async () => 'done')).toBe('done')
})

test('TR4 a write and a cleaning that begin in the same moment do not overlap', async () => {
  const { history } = await setup()
  let writers = 0
  const overlaps: number[] = []
  const write = () =>
    history.withWriteLock(async () => {
      writers++
      await sleep(5)
      writers--
    })
  const clean = () =>
    history.withCleanupLock(async () => {
      await sleep(2)
      overlaps.push(writers)
    })
  await Promise.all([write(), clean(), write(), clean(), write()])
  expect(overlaps).toEqual([0, 0])
})

test('TR4 a cleaning that waited for a write spares what that write is about to name', async () => {
  const { history, replaced } = await setup()
  const written = Promise.withResolvers<void>()
  const change = async () => {
    await history.withWriteLock(() => written.promise)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    history.recordChange(call, replaced('s1'))
  }
  const changing = change()
  let isSpared: boolean | undefined
  const cleaning = history.withCleanupLock(async (isExpected) => void (isSpared = isExpected('s1')))
  written.resolve()
  await Promise.all([changing, cleaning])
  expect(isSpared).toBe(true)
})
