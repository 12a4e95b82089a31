// N7 durable proposals a second on PostgreSQL with 1, 2 and 4 daemons, 64 in flight each
//
// One daemon runs its bodies in turn on one connection, so it is bound by their round trips: five
// statements at about 0.14 ms each on an idle machine, less on a busy one, whose cores do not sleep
// (1,380/s idle, 1,630/s at load 7). A second daemon fills the waits (3,660/s).
import { join } from 'node:path'
import { startPostgres } from '../test/postgres-server.ts'
import { interleaved, perSecond, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import { proposalMigrations, sharedCounter, tallies } from './parts/proposal.ts'
import type { Done, Order } from './parts/proposer.ts'
import { openRecorded, verifyStored } from './parts/store.ts'

const roundMs = 1500
const rounds = 4
using folder = tempFolder()
const state = folder.path
const postgres = await startPostgres()

try {
  report(await measure(await postgres.createDatabase('bench')))
} finally {
  await postgres.stop()
}

async function measure(url: string): Promise<Finding[]> {
  const store = await openRecorded({ state, url }, proposalMigrations)
  const program = join(import.meta.dirname, 'parts', 'proposer.ts')
  const names = ['ada', 'ben', 'cleo', 'dan']
  const daemons = await Promise.all(names.map((name) => startChild(program, [state, url, name])))
  const done: Done[] = []
  const together =
    (count: number, way: Order['way'], contended = false) =>
    async () => {
      const order: Order = { ms: roundMs, way, contended }
      const ended = await Promise.all(
        daemons.slice(0, count).map((daemon) => daemon.ask<Done>(order)),
      )
      done.push(...ended)
      return ended.reduce((sum, one) => sum + one.rate, 0)
    }
  const rate = await interleaved(rounds, {
    one: together(1, 'batched'),
    lone: together(1, 'lone'),
    two: together(2, 'batched'),
    four: together(4, 'batched'),
  })
  const contended = await together(4, 'batched', true)()
  await Promise.all(daemons.map((daemon) => daemon.end()))
  const proposed = done.reduce((sum, one) => sum + one.proposed, 0)
  const shared = done.reduce((sum, one) => sum + one.shared, 0)
  const faults = await faultsOf(store, proposed, shared)
  const { problems } = await verifyStored({ state, url })
  faults.push(...problems.map(({ seq, why }) => `entry ${seq}: ${why}`))
  await store.close()

  const lone = `${perSecond(rate.lone)}, a transaction each`
  const one = `${perSecond(rate.one)}, one daemon`
  const line = (what: string, ours: number, beside: string, ratio: number) => ({
    id: 'N7',
    what,
    ours: perSecond(ours),
    beside,
    ratio: times(ratio),
  })
  return [
    {
      ...line('durable proposals, PostgreSQL, one daemon', rate.one, lone, rate.one / rate.lone),
      goal: '≥ 1,500/s',
      met: rate.one >= 1500,
    },
    {
      ...line('the same, two daemons', rate.two, one, rate.two / rate.one),
      goal: '≥ one',
      met: rate.two >= rate.one,
    },
    {
      ...line('the same, four daemons', rate.four, one, rate.four / rate.one),
      goal: '–',
      met: true,
    },
    {
      id: 'N7',
      what: 'one total order, no lost update on one row of four daemons',
      ours: faults.join('; ') || `${shared} updates at ${perSecond(contended)}`,
      beside: '–',
      ratio: '–',
      goal: 'none lost',
      met: faults.length === 0,
    },
  ]
}

type Store = Awaited<ReturnType<typeof openRecorded>>

/** Every proposal has its row, its update and its entry, and the ledger is one unbroken line. */
async function faultsOf(
  { db, ledger }: Store,
  proposed: number,
  shared: number,
): Promise<string[]> {
  const { counters, proposals } = tallies('postgres')
  const counts = await db.all(counters)
  const sum = (ofShared: boolean) =>
    counts
      .filter(({ agent }) => (agent === sharedCounter) === ofShared)
      .reduce((total, { count }) => total + count, 0)
  const pairs = {
    proposals: [(await db.first(proposals))?.count, proposed],
    updates: [sum(false), proposed],
    'shared updates': [sum(true), shared],
    entries: [await ledger.size(), proposed],
  }
  return Object.entries(pairs)
    .filter(([, [found, expected]]) => found !== expected)
    .map(([what, [found, expected]]) => `${found} of ${expected} ${what}`)
}
