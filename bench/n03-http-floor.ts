// N3 the MCP endpoint over HTTP with 60 tools listed, beside a bare low-level server of the SDK
import { join } from 'node:path'
import { interleaved, inUs, median, perSecond, report, times } from './harness.ts'
import { startChild } from './parts/child.ts'
import type { Child } from './parts/child.ts'
import type { Called, CallOrder } from './parts/http-caller.ts'
import type { OurServer } from './parts/sixty-tools.ts'
import type { BareServer } from './peers/bare-server.ts'

const roundMs = 1500
const rounds = 7
const inFlight = 16

await using ours = await startChild(join(import.meta.dirname, 'parts', 'sixty-tools.ts'))
await using bare = await startChild(join(import.meta.dirname, 'peers', 'bare-server.ts'))
await using caller = await startChild(join(import.meta.dirname, 'parts', 'http-caller.ts'))

const measureCpu = async (server: Child) => {
  const { user, system } = await server.ask<NodeJS.CpuUsage>('cpu')
  return user + system
}
const cpu = new Map<Child, number[]>([
  [ours, []],
  [bare, []],
])
const createRateMeter = (server: Child) => async () => {
  const order: CallOrder = {
    port: (server.ready as OurServer | BareServer).port,
    tool: 'echo',
    input: { text: 'hello' },
    inFlight,
    ms: roundMs,
  }
  const before = await measureCpu(server)
  const { calls, seconds } = await caller.ask<Called>(order)
  cpu.get(server)?.push(((await measureCpu(server)) - before) / calls)
  return calls / seconds
}
const rate = await interleaved(rounds, { ours: createRateMeter(ours), bare: createRateMeter(bare) })

const ratio = rate.ours / rate.bare
const shown = (server: Child, value: number) =>
  `${perSecond(value)} (${inUs(median(cpu.get(server) ?? []))} CPU)`
report([
  {
    id: 'N3',
    what: 'trivial tool over HTTP, 60 listed, 16 in flight',
    ours: shown(ours, rate.ours),
    beside: `${shown(bare, rate.bare)}, bare SDK`,
    ratio: times(ratio),
    goal: '≥ 0.7 ×',
    met: ratio >= 0.7,
  },
])
