// Ours for N10: the whole system with a plan of work in a process of its own, which tells what it used.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '#base/hash.ts'
import { startTestApp } from '../../test/app.ts'
import { writeWork } from './work-data.ts'
import type { Written } from './work-data.ts'

export type WorkApp = Written & { readonly port: number; readonly root: string }
/** Since the last question: µs of CPU, and the most of it, in ms, that went by before others had a turn. */
export type Used = { readonly cpu: number; readonly longestTurn: number }

const [count, ...tokens] = process.argv.slice(2)
const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
const root = join(state, 'worksync')
const written = writeWork(root, Number(count))
const agents = tokens.map((token, at) => ({ id: `agent-${at}`, token_hash: sha256Hex(token) }))
const app = await startTestApp({ agents }, { state })

let longestTurn = 0
let turn = process.threadCpuUsage()
setInterval(() => {
  // By the CPU of this thread: what other programs took meanwhile is not ours.
  const { user, system } = process.threadCpuUsage(turn)
  turn = process.threadCpuUsage()
  longestTurn = Math.max(longestTurn, (user + system) / 1000)
}, 1).unref()
let cpu = process.cpuUsage()
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu)
  process.send?.({ cpu: user + system, longestTurn } satisfies Used)
  cpu = process.cpuUsage()
  longestTurn = 0
})
process.on('disconnect', () => void app.close().then(() => rmSync(state, { recursive: true })))
process.send?.({ ...written, port: app.port, root } satisfies WorkApp)
