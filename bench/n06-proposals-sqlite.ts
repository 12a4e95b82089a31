// N6 durable proposals a second on SQLite, 64 in flight, beside one fsync for each
//
// With few agents a commit dirties few pages; with an agent for each caller every commit touches as many
// places of the index, and the gain of sharing it shrinks. Both are shown.
import { statePaths } from '#base/state.ts'
import { interleaved, perSecond, ratePerSecond, report, times } from './harness.ts'
import { tempFolder } from './parts/folder.ts'
import { createProposals, proposalMigrations } from './parts/proposal.ts'
import { openRecorded } from './parts/store.ts'
import { openLoneSqlite } from './peers/lone-sqlite.ts'

const inFlight = 64
const roundMs = 1500
const rounds = 5
const { propose, begin } = createProposals('sqlite')

async function measure(agents: number) {
  using ours = tempFolder()
  using theirs = tempFolder()
  const agentOf = (caller: number) => `agent-${caller % agents}`
  const store = await openRecorded({ state: ours.path }, proposalMigrations)
  const twin = await openRecorded({ state: theirs.path }, proposalMigrations)
  for (const { db } of [store, twin])
    await db.transact(async (tx) => {
      for (let agent = 0; agent < agents; agent++) await begin(tx, agentOf(agent))
    })
  await twin.close()
  const lone = openLoneSqlite(statePaths(theirs.path).store, twin.sealer)

  let turn = 0
  const rate = await interleaved(rounds, {
    batched: () =>
      ratePerSecond(roundMs, inFlight, (caller) => store.db.transact(propose(agentOf(caller)))),
    // SQLite has one writer, so more in flight would only wait in line.
    lone: () => ratePerSecond(roundMs, 1, () => lone.transact(propose(agentOf(turn++)))),
  })
  await store.close()
  lone.close()

  const ratio = rate.batched / rate.lone
  return {
    id: 'N6',
    what: `durable proposals, SQLite, 64 in flight, ${agents} agents`,
    ours: perSecond(rate.batched),
    beside: `${perSecond(rate.lone)}, one fsync each`,
    ratio: times(ratio),
    goal: '≥ 5 ×',
    met: ratio >= 5,
  }
}

report([await measure(8), await measure(inFlight)])
