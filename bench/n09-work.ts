// N9 W40 work at 10,000 items: list, search, ready, update over MCP, beside Backlog.md with the same items
//
// Both over stdio, both kept running, called in turn; ours with policy, ledger and fsync. Backlog.md keeps a file per
// task and reads the files for most calls; it runs without Git, its fastest setup. W40 in the same run: each read
// directly after a change, so that no cache helps.
import { join } from 'node:path'
import { configure, cowork, startDaemon } from '../test/daemon.ts'
import { inMs, interleaved, median, medianMs, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { callTool } from './parts/api.ts'
import { tempFolder } from './parts/folder.ts'
import { getLaunch } from './parts/peers.ts'
import { startStdio } from './parts/stdio.ts'
import { project, writeBacklogMd, writeWork } from './parts/work-data.ts'

const items = 10_000
const rounds = 3
const perRound = 20
const perRead = 15
const starts = 5

using ourFolder = tempFolder()
using theirFolder = tempFolder()
const state = ourFolder.path
// The home of the daemon is the state directory, and the data root is in the home.
const ourIds = writeWork(join(state, '.worksync'), items).open
const theirIds = writeBacklogMd(theirFolder.path, items).open
configure(state)

/** Time from the start to the first reply about work items. */
async function start(): Promise<number> {
  const begun = performance.now()
  await using daemon = await startDaemon(state)
  await callTool({ port: daemon.port, token: daemon.owner }, 'worksync_status', { project })
  const took = performance.now() - begun
  await daemon.kill('SIGTERM')
  return took
}
const first = await start()
const began: number[] = []
for (let n = 0; n < starts; n++) began.push(await start())

await using _daemon = await startDaemon(state)
const { command, args, env } = cowork(state)
await using ours = await startStdio({ command, args: [...args, 'mcp'], env })
await using theirs = await startStdio(
  getLaunch('backlog.md', ['mcp', 'start', '--cwd', theirFolder.path]),
)

/** Fails if the reply lacks the expected text: such a call must not be measured. */
async function assertContains(answer: Promise<object>, word: string): Promise<void> {
  const text = JSON.stringify(await answer)
  if (!text.includes(word)) throw new Error(`${word} is missing in ${text.slice(0, 500)}`)
}
let turn = 0
const next = (ids: readonly string[]) => ids[turn++ % ids.length] ?? ''
const query = 'runner guests'
const begin = (story_id: string) => ({ project, story_id, status: 'in_progress' })
const our = {
  list: () => assertContains(ours.call('worksync_search', { project, kind: 'story' }), 'STORY-'),
  search: () => assertContains(ours.call('worksync_search', { project, query }), 'runner'),
  ready: () => assertContains(ours.call('worksync_ready', { project }), 'STORY-'),
  update: () =>
    assertContains(ours.call('worksync_update_story', begin(next(ourIds))), 'in_progress'),
}
const edit = (id: string) => ({ id, status: 'In Progress' })
const their = {
  list: () => assertContains(theirs.call('task_list', { limit: 50 }), 'TASK-'),
  search: () => assertContains(theirs.call('task_search', { query, limit: 50 }), 'runner'),
  ready: () => assertContains(theirs.call('task_list', { ready: true, limit: 20 }), 'TASK-'),
  update: () => assertContains(theirs.call('task_edit', edit(next(theirIds))), 'In Progress'),
}

async function compare(act: keyof typeof our, what: string): Promise<Finding> {
  const ms = await interleaved(rounds, {
    ours: () => medianMs(perRound, our[act]),
    theirs: () => medianMs(1, their[act]),
  })
  const ratio = ms.ours / ms.theirs
  return {
    id: 'N9',
    what: `${what}, ${items.toLocaleString('en')} items, p50`,
    ours: inMs(ms.ours),
    beside: `${inMs(ms.theirs)}, backlog.md`,
    ratio: `${ratio.toFixed(4)} ×`,
    goal: '≤ 0.05 ×',
    met: ratio <= 0.05,
  }
}
const compared = [
  await compare('list', 'list'),
  await compare('search', 'search of two words'),
  await compare('ready', 'what can be begun'),
  await compare('update', 'update'),
]

const reads: readonly (readonly [tool: string, input: object])[] = [
  ['worksync_status', { project }],
  ['worksync_projects', { project }],
  ['worksync_ready', { project }],
  ['worksync_search', { project, query }],
  ['worksync_get', { project, story_id: ourIds[7] }],
  ['worksync_get', { project, sprint_id: 'sprint-7' }],
  ['worksync_history', { project }],
  ['worksync_guidance', { project }],
]
let slowest = { tool: '', ms: 0 }
for (const [tool, input] of reads) {
  const taken: number[] = []
  for (let n = 0; n < perRead; n++) {
    await our.update()
    taken.push(await medianMs(1, () => ours.call(tool, input)))
  }
  if (median(taken) > slowest.ms) slowest = { tool, ms: median(taken) }
}

report([
  ...compared,
  {
    id: 'W40',
    what: `the slowest of ${reads.length} reads, each after a change, p50`,
    ours: `${inMs(slowest.ms)}, ${slowest.tool}`,
    beside: '–',
    ratio: '–',
    goal: '< 10 ms',
    met: slowest.ms < 10,
  },
  {
    id: 'W40',
    what: 'daemon started to its first answer about them',
    ours: inMs(median(began)),
    beside: `${inMs(first)}, taking the file over`,
    ratio: times(median(began) / first),
    goal: '< 1,000 ms',
    met: median(began) < 1000,
  },
])
