// N14 memory of the daemon and its file worker: PSS at rest, and its growth over 100,000 calls
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { configure, startDaemon } from '../test/daemon.ts'
import { inMb, inPercent, report, times } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import type { Called, CallOrder } from './parts/http-caller.ts'

const calls = 100_000
/** By then, code is compiled and caches are filled. */
const warmUp = 5000
/** Long enough for an idle daemon to release memory. */
const idleMs = 14_000

using state = tempFolder()
configure(state.path)
await using daemon = await startDaemon(state.path)
await using caller = await startChild(join(import.meta.dirname, 'parts', 'http-caller.ts'))

/** PSS counts shared pages in proportion, so nothing is counted twice. */
function pss(pid = daemon.pid): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024
}
/** The daemon and its child process, the file worker. */
function pssWithWorker(): number {
  const children = readFileSync(`/proc/${daemon.pid}/task/${daemon.pid}/children`, 'utf8')
  const pids = children.split(' ').filter((pid) => pid !== '')
  if (pids.length === 0) throw new Error('the file worker is not running')
  return pids.reduce((sum, pid) => sum + pss(Number(pid)), pss())
}
const call = (count: number, tool: string, input: object) =>
  caller.ask<Called>({
    port: daemon.port,
    tool,
    input,
    inFlight: 16,
    calls: count,
  } satisfies CallOrder)

/** Half of the calls read, including files, and half write; then a pause. */
async function callThenRest(count: number) {
  const action = { domain: 'crm.deals', action: 'update_deal', target: 'deal_12345' }
  await call(count / 4, 'cowork_status', {})
  await call(count / 4, 'list_files', {})
  await call(count / 2, 'cowork_log', action)
  const busy = pss()
  await sleep(idleMs)
  return { busy, rest: pss(), withWorker: pssWithWorker() }
}

await sleep(2000)
const fresh = pss()
const warm = await callThenRest(warmUp)
const after = await callThenRest(calls)

const most = 160 * 2 ** 20
const maxWithWorker = 220 * 2 ** 20
const growth = after.rest / warm.rest - 1
// The plain value includes what the first calls load and compile.
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
  {
    id: 'N14',
    what: 'the same with the file worker, PSS of both',
    ours: inMb(after.withWorker),
    beside: '–',
    ratio: '–',
    goal: '< 220 MB',
    met: after.withWorker < maxWithWorker,
  },
])
