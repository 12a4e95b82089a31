// N8 the ledger: CPU of a batched append, and verifying 1,000,000 entries
//
// Where the time goes (--cpu-prof, 2026-11-15). Append: commit 30 %, insert 16 %, canonical JSON 18 %, SHA-256 8 %,
// redaction 5 %; secure_delete, which physically erases a payload, costs 2 µs of it.
// Verify: JSON.parse 22 %, rows out of SQLite 20 %, SHA-256 13 %, the ids of calls 12 %.
import { join } from 'node:path'
import type { EntryDraft } from '#base/entry.ts'
import { newId } from '#base/ids.ts'
import { inMb, inPercent, inSeconds, interleaved, inUs, report, times } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import { openRecorded } from './parts/store.ts'
import type { Read } from './parts/verifier.ts'

const entries = 1_000_000
const inFlight = 256
const rounds = 5
const perRound = 20_000

using folder = tempFolder()
const state = folder.path
const store = await openRecorded({ state })
const { ledger, db } = store

/** The record of a read through dispatch. */
const draft = (): EntryDraft => ({
  type: 'call.done',
  actor: {
    kind: 'agent',
    id: 'ada',
    session: 'bench',
    verified: true,
    client: { name: 'bench', version: '1', transport: 'stdio' },
  },
  domain: 'files',
  subject: '/reports/2026/summary.md',
  ids: { call: newId() },
  outcome: 'done',
  data: { tool: 'read_file', effect: 'read', ms: 3 },
})

/** µs of CPU per entry in this process; each caller waits for its own entry. */
async function appendCost(): Promise<number> {
  let left = perRound
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await ledger.record(draft())
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / perRound
}

const { append } = await interleaved(rounds, { append: appendCost })
for (let size = await ledger.size(); size < entries; size = await ledger.size())
  await db.transact(async (tx) => {
    for (let i = Math.min(5000, entries - size); i > 0; i--) tx.append(draft())
  })
await store.close()

await using child = await startChild(join(import.meta.dirname, 'parts', 'verifier.ts'), [
  state,
  String(entries),
])
const floor = await child.ask<Read>('hash')
const verified = await child.ask<Read>('verify')
if (!verified.ok || verified.entries !== entries || floor.entries !== entries)
  throw new Error(`the ledger did not verify: ${JSON.stringify({ verified, floor })}`)

const growth = verified.maxBytes / verified.settledBytes - 1
const hashing = (floor.seconds / entries) * 1e6
report([
  {
    id: 'N8',
    what: 'append, batched, CPU an entry',
    ours: inUs(append),
    beside: `${inUs(hashing)}, SHA-256 of stored bytes`,
    ratio: times(append / hashing),
    goal: '≤ 25 µs',
    met: append <= 25,
  },
  {
    id: 'N8',
    what: 'verify 1,000,000 entries',
    ours: inSeconds(verified.seconds),
    beside: `${inSeconds(floor.seconds)}, SHA-256 of the same`,
    ratio: times(verified.seconds / floor.seconds),
    goal: '< 10 s',
    met: verified.seconds < 10,
  },
  {
    id: 'N8',
    what: 'memory while verifying, most over settled',
    ours: `${inMb(verified.maxBytes)}, +${inPercent(growth)}`,
    beside: inMb(verified.settledBytes),
    ratio: times(1 + growth),
    goal: 'flat (< 1.25 ×)',
    met: growth < 0.25,
  },
])
