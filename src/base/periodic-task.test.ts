import { expect, test } from 'vitest'
import { startPeriodicTask } from './periodic-task.ts'
import type { Timers } from './periodic-task.ts'

/** A clock that the test advances. */
function fakeTimers() {
  let now = 0
  const due = new Map<() => void, number>()
  const timers: Timers = {
    now: () => now,
    schedule(delayMs, run) {
      due.set(run, now + delayMs)
      return () => due.delete(run)
    },
  }
  async function pass(ms: number): Promise<void> {
    now += ms
    for (const [run, at] of due)
      if (at <= now) {
        due.delete(run)
        run()
      }
    await turn()
  }
  return { timers, pass, waiting: () => due.size }
}

/** Runs all pending microtasks and immediates. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

function setup(run: () => Promise<number | void>, more: { runsAtStart?: boolean } = {}) {
  const { timers, pass, waiting } = fakeTimers()
  const errors: unknown[] = []
  const log = { error: (message: string, fields?: object) => void errors.push([message, fields]) }
  const task = startPeriodicTask({
    intervalMs: 100,
    run,
    failure: 'it failed',
    log,
    timers,
    ...more,
  })
  return { task, pass, waiting, errors }
}

test('RH8 a periodic task runs at startup and then once per interval', async () => {
  let runs = 0
  const { pass } = setup(async () => void runs++)
  await pass(0)
  expect(runs).toBe(1)
  await pass(99)
  expect(runs).toBe(1)
  await pass(1)
  await pass(100)
  expect(runs).toBe(3)
})

test('RH8 a run may set the next delay, and the earliest request wins', async () => {
  let runs = 0
  const { task, pass } = setup(async () => (runs++ === 0 ? 10 : undefined), { runsAtStart: false })
  task.runWithin(500)
  await pass(100)
  expect(runs).toBe(1)
  await pass(10)
  expect(runs).toBe(2)
  task.runWithin(5)
  task.runWithin(50)
  await pass(5)
  expect(runs).toBe(3)
})

test('RH8 runs never overlap: requests during a run cause one further run', async () => {
  const ends: (() => void)[] = []
  let most = 0
  let under = 0
  const { task, pass } = setup(async () => {
    most = Math.max(most, ++under)
    await new Promise<void>((resolve) => ends.push(resolve))
    under--
  })
  await pass(0)
  const more = Promise.all([task.runNow(), task.runNow()])
  task.runWithin(1)
  await pass(1)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await turn()
  expect(ends).toHaveLength(2)
  ends[1]?.()
  await more
  expect([most, ends.length]).toEqual([1, 2])
})

test('RH8 a failed run is logged and the next run follows', async () => {
  let runs = 0
  const { pass, errors } = setup(async () => {
    if (++runs === 1) throw new Error('no disk')
  })
  await pass(0)
  expect(errors).toEqual([['it failed', { error: 'no disk' }]])
  await pass(100)
  expect([runs, errors.length]).toEqual([2, 1])
})

test('RH8 close waits for the current run and starts no other', async () => {
  const end = Promise.withResolvers<void>()
  let runs = 0
  const { task, pass, waiting } = setup(async () => {
    runs++
    await end.promise
  })
  await pass(0)
  void task.runNow()
  let isClosed = false
  const closing = task.close().then(() => (isClosed = true))
  await turn()
  expect(isClosed).toBe(false)
  end.resolve()
  await closing
  task.runWithin(0)
  await task.runNow()
  await pass(1000)
  expect([runs, waiting()]).toEqual([1, 0])
})
