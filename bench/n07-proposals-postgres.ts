// N7 durable proposals a second on PostgreSQL with 1, 2 and 4 daemons, 64 in flight each
//
// One daemon runs its transactions one after another on one connection, so its round trips limit it, about 0.14 ms each
// on an idle machine: one per proposal without a cap (trust is read, locked and touched; the approvals of a batch are
// stored together at its end), three with a cap. A second daemon uses the waiting time.
// approvals of a batch are stored together at its end), three under a cap. A second daemon fills the waits.
import { join } from 'node:path'
import type { Db } from '#base/db/port.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { interleaved, perSecond, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import { proposalMigrations } from './parts/proposal.ts'
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
  const together = (count: number, way: Order['way']) => async () => {
    const order: Order = { ms: roundMs, way }
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
  const contended = await together(4, 'contended')()
  await Promise.all(daemons.map((daemon) => daemon.end()))
  const proposed = done.reduce((sum, one) => sum + one.proposed, 0)
  const approved = done.reduce((sum, one) => sum + one.approved, 0)
  const faults = await findFaults(store.db, { proposed, approved })
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
      what: 'one total order, no lost update: four daemons raise the trust of one agent',
      ours: faults.join('; ') || `${approved} approvals at ${perSecond(contended)}`,
      beside: '–',
      ratio: '–',
      goal: 'none lost',
      met: faults.length === 0,
    },
  ]
}

/** Checks that every proposal has its row, every approval its trust increase, and each its entries. */
async function findFaults(
  db: Db,
  { proposed, approved }: { proposed: number; approved: number },
): Promise<string[]> {
  const count = async (what: string, from: string) => {
    const sql = `SELECT ${what} AS found FROM ${from}`
    return Number((await db.first<{ found: number }>({ sql, parameters: [] }))?.found)
  }
  const entries = (type: string) => count('count(*)', `ledger_entry WHERE type = '${type}'`)
  const pairs = {
    proposals: [await count('count(*)', 'approval'), proposed],
    approvals: [await count('count(*)', "approval WHERE status = 'approved'"), approved],
    'rises of trust': [await count('sum(approvals)', 'trust'), approved],
    'entries of proposals': [await entries('proposal.created'), proposed],
    'entries of approvals': [await entries('approval.approved'), approved],
    'entries of calls': [await entries('call.done'), approved],
  }
  return Object.entries(pairs)
    .filter(([, [found, expected]]) => found !== expected)
    .map(([what, [found, expected]]) => `${found} of ${expected} ${what}`)
}
