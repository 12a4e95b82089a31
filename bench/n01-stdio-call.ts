// N1 a governed call over stdio with a durable ledger, beside a direct call of server-everything
import { configure, cowork, startDaemon } from '../test/daemon.ts'
import { inMs, interleaved, medianMs, report } from './harness.ts'
import { tempFolder } from './parts/folder.ts'
import { getLaunch } from './parts/peers.ts'
import { startStdio } from './parts/stdio.ts'

const rounds = 10
const perRound = 300

const peer = getLaunch('@modelcontextprotocol/server-everything')
using state = tempFolder()
configure(state.path)
await using _daemon = await startDaemon(state.path)
const { command, args, env } = cowork(state.path)
await using ours = await startStdio({ command, args: [...args, 'mcp'], env })
await using theirs = await startStdio(peer)

const action = { domain: 'crm.deals', action: 'update_deal', target: 'deal_12345' }
const p50 = await interleaved(rounds, {
  direct: () => medianMs(perRound, () => theirs.call('echo', { message: 'hello' })),
  // A small reply, like the echo; `cowork_status` grows with the state.
  read: () => medianMs(perRound, () => ours.call('cowork_check_trust', { domain: 'crm.deals' })),
  write: () => medianMs(perRound, () => ours.call('cowork_log', action)),
})

const line = (what: string, total: number, most: number) => ({
  id: 'N1',
  what,
  ours: `+${inMs(total - p50.direct)} (${inMs(total)})`,
  beside: `${inMs(p50.direct)}, direct`,
  ratio: '–',
  goal: `≤ ${inMs(most)} added`,
  met: total - p50.direct <= most,
})
report([
  line('governed read over stdio, p50', p50.read, 0.35),
  line('governed write over stdio, fsync included, p50', p50.write, 1.3),
])
