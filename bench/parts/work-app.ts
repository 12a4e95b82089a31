// cowork for N10: the whole system with work items in a separate process, which reports its usage.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '#base/hash.ts'
import { startTestApp } from '../../test/app.ts'
import { writeWork } from './work-data.ts'
import type { Written } from './work-data.ts'

export type WorkApp = Written & { readonly port: number; readonly root: string }
/** Since the last report: µs of CPU, and the longest time in ms without a yield. */
export type Used = { readonly cpu: number; readonly maxTurnMs: number }

const [count, ...tokens] = process.argv.slice(2)
const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
const root = join(state, 'worksync')
const written = writeWork(root, Number(count))
const agents = tokens.map((token, at) => ({ id: `agent-${at}`, token_hash: sha256Hex(token) }))
const app = await startTestApp({ agents }, { state })

let maxTurnMs = 0
let turn = process.threadCpuUsage()
setInterval(() => {
  // Measured by the CPU of this thread, so that other programs do not count.
  const { user, system } = process.threadCpuUsage(turn)
  turn = process.threadCpuUsage()
  maxTurnMs = Math.max(maxTurnMs, (user + system) / 1000)
}, 1).unref()
let cpu = process.cpuUsage()
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu)
  process.send?.({ cpu: user + system, maxTurnMs } satisfies Used)
  cpu = process.cpuUsage()
  maxTurnMs = 0
})
process.on('disconnect', () => void app.close().then(() => rmSync(state, { recursive: true })))
process.send?.({ ...written, port: app.port, root } satisfies WorkApp)
