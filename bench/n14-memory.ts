// N14 memory of the daemon: PSS at rest, and its growth over 100,000 calls
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { configure, startDaemon } from '../test/daemon.ts'
import { inMb, inPercent, report, times } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import type { Called, CallOrder } from './parts/http-caller.ts'

const calls = 100_000
/** Code is compiled and caches are filled by then. */
const warmUp = 5000
/** Long enough for a daemon that nobody calls to give back what it took. */
const idleMs = 14_000

using state = tempFolder()
configure(state.path)
await using daemon = await startDaemon(state.path)
await using caller = await startChild(join(import.meta.dirname, 'parts', 'http-caller.ts'))

/** Pages that several processes share are counted in parts, so that nothing is counted twice. */
function pss(): number {
  const rollup = readFileSync(`/proc/${daemon.pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024
}
const call = (count: number, tool: string, input: object) =>
  caller.ask<Called>({
    port: daemon.port,
    tool,
    input,
    inFlight: 16,
    calls: count,
  } satisfies CallOrder)

/** Half of them reads, half writes; then nothing for a while. */
async function callThenRest(count: number) {
  const action = { domain: 'crm.deals', action: 'update_deal', target: 'deal_12345' }
  await call(count / 2, 'cowork_status', {})
  await call(count / 2, 'cowork_log', action)
  const busy = pss()
  await sleep(idleMs)
  return { busy, rest: pss() }
}

await sleep(2000)
const fresh = pss()
const warm = await callThenRest(warmUp)
const after = await callThenRest(calls)

const most = 160 * 2 ** 20
const growth = after.rest / warm.rest - 1
// The plain reading counts what the first calls load and compile, too.
const sinceFresh = after.rest / fresh - 1
report([
  {
    id: 'N14',
    what: 'daemon at rest, PSS',
    ours: inMb(fresh),
    beside: '–',
    ratio: '–',
    goal: '< 160 MB',
    met: fresh < most,
  },
  {
    id: 'N14',
    what: `at rest after ${calls.toLocaleString('en')} calls (${inMb(after.busy)} while called)`,
    ours: `${inMb(after.rest)}, +${inPercent(growth)}`,
    beside: `${inMb(warm.rest)}, after ${warmUp.toLocaleString('en')}`,
    ratio: times(1 + growth),
    goal: '< 160 MB, growth < 20 %',
    met: after.rest < most && growth < 0.2,
  },
  {
    id: 'N14',
    what: 'the same, over a daemon that nobody has called yet',
    ours: `${inMb(after.rest)}, +${inPercent(sinceFresh)}`,
    beside: inMb(fresh),
    ratio: times(1 + sinceFresh),
    goal: 'growth < 20 %',
    met: sinceFresh < 0.2,
  },
])
