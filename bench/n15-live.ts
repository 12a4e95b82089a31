// N15 the live stream: 1,000 listeners, 100 entries a second, from the entry's own time to its arrival
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { configure, startDaemon } from '../test/daemon.ts'
import { inMb, inMs, inPercent, inUs, report } from './harness.ts'
import { startChild } from './parts/child.ts'
import type { Heard, ListenOrder } from './parts/listeners.ts'

const count = 1000
const perSecond = 100
const seconds = 15

const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
configure(state)
const daemon = await startDaemon(state)
const url = `http://127.0.0.1:${daemon.port}`
const headers = { authorization: `Bearer ${daemon.owner}`, 'content-type': 'application/json' }
const measureSize = async () => {
  const reply = await fetch(`${url}/api/ledger?limit=0`, { headers })
  return ((await reply.json()) as { size: number }).size
}
/** Each call leaves one entry. */
async function act() {
  const to = `${url}/api/tools/cowork_status/call`
  const reply = await fetch(to, { method: 'POST', headers, body: '{"arguments":{}}' })
  if (!reply.ok) throw new Error(await reply.text())
  await reply.arrayBuffer()
}
const linux = process.platform === 'linux'
/** Ticks of 10 ms, user and system. */
const cpuSeconds = () => {
  if (!linux) return NaN
  const fields = readFileSync(`/proc/${daemon.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
const memory = () =>
  linux
    ? Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) *
      1024
    : NaN

const child = await startChild(join(import.meta.dirname, 'parts', 'listeners.ts'))
const order: ListenOrder = { port: daemon.port, token: daemon.owner, count }
await child.ask(order)

const cpuBefore = cpuSeconds()
const startedAt = performance.now()
const acts: Promise<void>[] = []
for (let i = 0; i < perSecond * seconds; i++) {
  await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - performance.now()))
  acts.push(act())
}
await Promise.all(acts)
const took = (performance.now() - startedAt) / 1000
// The last reads are recorded within 50 ms.
await sleep(200)
const heard = await child.ask<Heard>({ last: await measureSize() })
const cpu = cpuSeconds() - cpuBefore
const rss = memory()
await child.end()
await daemon.kill('SIGTERM')
rmSync(state, { recursive: true })

report([
  {
    id: 'N15',
    what: `live: 1,000 listeners, ${Math.round((perSecond * seconds) / took)} entries/s, p99 (p50, most)`,
    ours: `${inMs(heard.p99)} (${inMs(heard.p50)}, ${inMs(heard.max)})`,
    beside: '–',
    ratio: `${inUs((cpu / heard.deliveries) * 1e6)} of CPU a delivery, ${inPercent(cpu / took)} of a core, ${inMb(rss)}`,
    goal: '< 250 ms',
    met: heard.p99 < 250 && heard.deliveries > 0,
  },
  {
    id: 'N15',
    what: `entries missed in ${heard.deliveries.toLocaleString('en')} deliveries`,
    ours: String(heard.missed + heard.behind),
    beside: '–',
    ratio: '–',
    goal: '0',
    met: heard.missed === 0 && heard.behind === 0,
  },
])
