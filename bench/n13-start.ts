// N13 the start: `cowork up` to ready, `cowork mcp` to its first answer, beside server-filesystem's start
import { setTimeout as sleep } from 'node:timers/promises'
import { isLocked, readDaemonInfo, statePaths } from '#base/state.ts'
import { configure, cowork, startDaemon } from '../test/daemon.ts'
import { inMs, interleaved, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { tempFolder } from './parts/folder.ts'
import { getLaunch } from './parts/peers.ts'
import { startStdio } from './parts/stdio.ts'
import type { Launch } from './parts/stdio.ts'

const rounds = 7

using folder = tempFolder()
const state = folder.path
const paths = statePaths(state)
configure(state)
const { command, args, env } = cowork(state)
const bridge: Launch = { command, args: [...args, 'mcp'], env }
const filesystem = getLaunch('@modelcontextprotocol/server-filesystem', [state])

async function took(start: () => Promise<AsyncDisposable>): Promise<number> {
  const begun = performance.now()
  await using _started = await start()
  return performance.now() - begun
}
const firstAnswer = (launch: Launch) => took(() => startStdio(launch))

async function endDaemon() {
  const daemon = readDaemonInfo(paths)
  if (!daemon) throw new Error('no daemon was started')
  process.kill(daemon.pid, 'SIGTERM')
  while (isLocked(paths)) await sleep(10)
}

const ms = await interleaved(rounds, {
  filesystem: () => firstAnswer(filesystem),
  up: () => took(() => startDaemon(state)),
  async without() {
    const value = await firstAnswer(bridge)
    await endDaemon()
    return value
  },
  async running() {
    await using _daemon = await startDaemon(state)
    return await firstAnswer(bridge)
  },
})

const line = (what: string, ours: number, most: number): Finding => ({
  id: 'N13',
  what,
  ours: inMs(ours),
  beside: `${inMs(ms.filesystem)}, server-filesystem`,
  ratio: times(ours / ms.filesystem),
  goal: `< ${inMs(most)}`,
  met: ours < most,
})
report([
  line('cowork up to ready', ms.up, 1000),
  line('cowork mcp to first answer, daemon running', ms.running, 400),
  line('cowork mcp to first answer, no daemon', ms.without, 1400),
])
