import { expect, onTestFinished, test } from 'vitest'
import type { Query, Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { silentLog } from '#base/log.ts'
import { createWorld, opening, sqliteEngine } from '../../test/approvals/approvals.fixture.ts'
import { createProtectedStore } from './protected-store.ts'
import { createApprovalStore } from './store.ts'
import type { ApprovalStore } from './store.ts'
import { startSweeper } from './sweeper.ts'

/** Opens a real store with a sweeper whose attempts fail while errors remain. */
async function setup(errors: Error[] = [], more: Partial<ApprovalStore> = {}) {
  const world = await createWorld(sqliteEngine)
  const daemon = await world.start({ undoHoldMs: 0 })
  // Stops the regular sweeper.
  await daemon.approvals.close()
  async function held() {
    const id = await daemon.open(opening('question'))
    await daemon.hold(id)
    return id
  }
  const seen: string[] = []
  function start() {
    const sweeper = startSweeper({
      db: daemon.db,
      store: { ...createApprovalStore('sqlite'), ...createProtectedStore('sqlite'), ...more },
      async processDue(_, id) {
        const error = errors.shift()
        seen.push(error ? 'failed' : `made ${id}`)
        if (error) throw error
      },
      endLost: () => Promise.resolve(),
      claimableSince: () => 0,
      releaseDeferred: async (_, __, why) => (seen.push(`given back: ${why}`), true),
      now: Date.now,
      log: silentLog,
    })
    onTestFinished(async () => {
      await sweeper.close()
      await daemon.stop()
    })
    return sweeper
  }
  return { seen, held, start, db: daemon.db }
}

test.each(['store_unavailable', 'outcome_unknown', 'clock_went_back'] as const)(
  'A7 a deferred decision is retried after a temporary error (%s)',
  async (code) => {
    const { seen, held, start } = await setup([new CoworkError(code, 'not now')])
    const id = await held()
    const sweeper = start()
    await expect.poll(() => seen).toEqual(['failed'])
    const again = () => (sweeper.expect(id, Date.now()), seen.slice(0, 2))
    await expect.poll(again).toEqual(['failed', `made ${id}`])
  },
)

test('A7 a deferred decision that can never be applied is undone with the reason', async () => {
  const { seen, held, start } = await setup([new CoworkError('policy_needed', 'Say which.')])
  await held()
  start()
  await expect.poll(() => seen.slice(0, 2)).toEqual(['failed', 'given back: Say which.'])
})

test('A6 a decision deferred during a sweep is not lost', async () => {
  let looks = 0
  const { promise, resolve: saw } = Promise.withResolvers<number>()
  const nextDueAt = () => (looks++ === 0 ? promise : Promise.resolve(Infinity))
  const { seen, held, start } = await setup([], { nextDueAt })
  const sweeper = start()
  await expect.poll(() => looks).toBe(1)
  const id = await held()
  sweeper.expect(id, Date.now())
  saw(Infinity)
  await expect.poll(() => seen[0]).toBe(`made ${id}`)
})

test('A7 due approvals are found by an index on their time', async () => {
  const { db } = await setup()
  const asked: Query[] = []
  const reader: Reader = {
    all: async (query) => (asked.push(query), db.all(query)),
    first: async (query) => (asked.push(query), db.first(query)),
  }
  const store = createApprovalStore('sqlite')
  await store.listDue(reader, Date.now(), 200)
  await store.nextDueAt(reader)
  for (const { sql, parameters } of asked) {
    const steps = await db.all<{ detail: string }>({
      sql: `EXPLAIN QUERY PLAN ${sql}`,
      parameters,
    })
    const reads = steps.map(({ detail }) => detail).filter((detail) => detail.includes('approval'))
    expect(reads).not.toHaveLength(0)
    for (const read of reads)
      expect(read).toMatch(/^SEARCH approval USING .*INDEX approval_(held|expires)/)
  }
})
