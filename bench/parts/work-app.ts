// Ours for N10: the whole system with a plan of work in a process of its own, which tells what it used.
import { rmSync } from 'node:fs'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { sha256Hex } from '#base/hash.ts'
import { startTestApp } from '../../test/app.ts'
import { writeWork } from './work-data.ts'

export type WorkApp = {
  readonly port: number
  readonly root: string
  readonly open: readonly string[]
}
/** Since the last question. */
export type Used = { readonly cpu: number; readonly longestBlockMs: number }

const [count, ...tokens] = process.argv.slice(2)
const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
const root = join(state, 'worksync')
const open = writeWork(root, Number(count))
const agents = tokens.map((token, at) => ({ id: `agent-${at}`, token_hash: sha256Hex(token) }))
const app = await startTestApp({ agents }, { state })
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let cpu = process.cpuUsage()

process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu)
  process.send?.({ cpu: user + system, longestBlockMs: delay.max / 1e6 } satisfies Used)
  cpu = process.cpuUsage()
  delay.reset()
})
process.on('disconnect', () => void app.close().then(() => rmSync(state, { recursive: true })))
process.send?.({ port: app.port, root, open } satisfies WorkApp)
