// N7 durable proposals a second on PostgreSQL with 1, 2 and 4 daemons, 64 in flight each
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/postgres-server.ts'
import { interleaved, perSecond, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { proposalMigrations, tallies } from './parts/proposal.ts'
import type { Done, Order } from './parts/proposer.ts'
import { openRecorded } from './parts/store.ts'

const roundMs = 1500
const rounds = 4

const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
const postgres = await startPostgres()
const url = await postgres.createDatabase('bench')
const store = await openRecorded({ state, url }, proposalMigrations)

async function startDaemon(name: string) {
  const child = fork(join(import.meta.dirname, 'parts', 'proposer.ts'), [state, url, name])
  await once(child, 'message')
  return {
    async propose(order: Order): Promise<Done> {
      child.send(order)
      const [done] = (await once(child, 'message')) as [Done]
      return done
    },
    async end() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

const daemons = await Promise.all(['ada', 'ben', 'cleo', 'dan'].map(startDaemon))
const done: Done[] = []
const together = (count: number, way: Order['way']) => async () => {
  const ended = await Promise.all(
    daemons.slice(0, count).map((d) => d.propose({ ms: roundMs, way })),
  )
  done.push(...ended)
  return ended.reduce((sum, { rate }) => sum + rate, 0)
}

const rate = await interleaved(rounds, {
  one: together(1, 'batched'),
  lone: together(1, 'lone'),
  two: together(2, 'batched'),
  four: together(4, 'batched'),
})
await Promise.all(daemons.map((daemon) => daemon.end()))

const proposed = done.reduce((sum, one) => sum + one.proposed, 0)
const shared = done.reduce((sum, one) => sum + one.shared, 0)
const order = await checkOrder()
await store.close()
await postgres.stop()
rmSync(state, { recursive: true })

const line = (
  what: string,
  ours: number,
  goal: string,
  met: boolean,
  beside = rate.lone,
): Finding => ({
  id: 'N7',
  what,
  ours: perSecond(ours),
  beside: perSecond(beside) + (beside === rate.lone ? ', one transaction each' : ', one daemon'),
  ratio: times(ours / beside),
  goal,
  met,
})
report([
  line('durable proposals, PostgreSQL, one daemon', rate.one, '≥ 1,500/s', rate.one >= 1500),
  line('the same, two daemons', rate.two, '≥ one', rate.two >= rate.one, rate.one),
  line('the same, four daemons', rate.four, '–', true, rate.one),
  {
    id: 'N7',
    what: 'one total order, no lost update',
    ours:
      order.join('; ') || `${proposed.toLocaleString('en')} proposals, ${shared} shared updates`,
    beside: '–',
    ratio: '–',
    goal: 'none lost',
    met: order.length === 0,
  },
])

/** Every proposal has its entry, every update its count, and the ledger is one unbroken line. */
async function checkOrder(): Promise<string[]> {
  const { counters, proposals } = tallies('postgres')
  const counts = await store.db.all(counters)
  const rows = await store.db.first(proposals)
  const common = counts.find(({ agent }) => agent === 'shared')?.count
  const own = counts.reduce((sum, { agent, count }) => sum + (agent === 'shared' ? 0 : count), 0)
  const faults: string[] = []
  if (rows?.count !== proposed) faults.push(`${rows?.count} of ${proposed} proposals`)
  if (own !== proposed) faults.push(`${own} of ${proposed} updates`)
  if (common !== shared) faults.push(`${common} of ${shared} shared updates`)
  if ((await store.ledger.size()) !== proposed)
    faults.push(`${await store.ledger.size()} of ${proposed} entries`)
  return faults
}
