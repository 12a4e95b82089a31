// N6 durable proposals per second on SQLite, 64 in flight, beside one fsync each; and the cost of one
//
// With few agents a commit dirties few pages. With one agent per caller every commit touches as many places of the
// index (217 pages for 64 proposals instead of 110), and sharing a commit gains less. Both are shown.
//
// CPU of a proposal (2026-11-15): 30 µs are JavaScript (dispatch, policy, mode decision, redaction, encoding and hashing,
// promises), measured with a store that does nothing; the rest is SQLite: its rows, index pages and the commit. Sharing
// a commit saves only the fsync and the shared pages.
import { statePaths } from '#base/state.ts'
import { interleaved, inUs, perSecond, ratePerSecond, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { tempFolder } from './parts/folder.ts'
import { createProposing, manyRules, proposalMigrations } from './parts/proposal.ts'
import { openRecorded } from './parts/store.ts'
import { openLoneSqlite } from './peers/lone-sqlite.ts'

const inFlight = 64
const roundMs = 1500
const rounds = 5
const perRound = 8000

async function measure(agents: number): Promise<Finding> {
  using ours = tempFolder()
  using theirs = tempFolder()
  const toAgentId = (caller: number) => `agent-${caller % agents}`
  const store = await openRecorded({ state: ours.path }, proposalMigrations)
  const twin = await openRecorded({ state: theirs.path }, proposalMigrations)
  const lone = openLoneSqlite(statePaths(theirs.path).store, twin.sealer)
  const batched = await createProposing(store)
  const alone = await createProposing(twin, { transact: lone.transact })

  let turn = 0
  const rate = await interleaved(rounds, {
    batched: () => ratePerSecond(roundMs, inFlight, (caller) => batched.propose(toAgentId(caller))),
    // SQLite has one writer: more in flight would only queue.
    lone: () => ratePerSecond(roundMs, 1, () => alone.propose(toAgentId(turn++))),
  })
  await batched.close()
  await alone.close()
  lone.close()
  await store.close()
  await twin.close()

  const ratio = rate.batched / rate.lone
  return {
    id: 'N6',
    what: `durable proposals, SQLite, 64 in flight, ${agents} agents`,
    ours: perSecond(rate.batched),
    beside: `${perSecond(rate.lone)}, one fsync each`,
    ratio: times(ratio),
    goal: '≥ 3.5 ×',
    met: ratio >= 3.5,
  }
}

/** µs of CPU of this process per proposal. */
async function measureCpu(propose: (turn: number) => Promise<unknown>): Promise<number> {
  let turn = 0
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (turn < perRound) await propose(turn++)
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / perRound
}

async function costs(): Promise<Finding[]> {
  using folder = tempFolder()
  const store = await openRecorded({ state: folder.path }, proposalMigrations)
  const plain = await createProposing(store)
  const ruled = await createProposing(store, { rules: manyRules })
  const capped = await createProposing(store, { cap: 50 })
  let capTurn = 0
  const cpu = await interleaved(rounds, {
    plain: () => measureCpu((turn) => plain.propose(`agent-${turn % 8}`)),
    ruled: () => measureCpu((turn) => ruled.propose(`agent-${turn % 8}`)),
    // No agent reaches the cap.
    capped: () => measureCpu(() => capped.propose(`capped-${Math.floor(capTurn++ / 40)}`)),
  })
  await Promise.all([plain.close(), ruled.close(), capped.close()])
  await store.close()
  const line = (what: string, value: number): Finding => ({
    id: 'N6',
    what,
    ours: inUs(value),
    beside: '–',
    ratio: '–',
    goal: '–',
    met: true,
  })
  return [
    line('CPU of a proposal: dispatch, policy, trust, approval, its entry, commit', cpu.plain),
    line('the same with 20 policies and 200 mappings', cpu.ruled),
    line('the same under the default cap of 50 an hour', cpu.capped),
  ]
}

report([await measure(8), await measure(inFlight), ...(await costs())])
