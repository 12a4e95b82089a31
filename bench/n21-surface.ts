// N21 SV17 tokens of tools/list and of whole tasks as four clients show them, beside server-filesystem and Backlog.md
//
// A token is four characters. A task counts the definitions once, the instructions of the server, every call and what
// the client shows of every result. Both servers get the same files, the same items and as many calls.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tool } from '@modelcontextprotocol/client'
import { statePaths } from '#base/state.ts'
import { startDaemon } from '../test/daemon.ts'
import { report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { callTool } from './parts/api.ts'
import { clientViews } from './parts/client-views.ts'
import type { ClientView } from './parts/client-views.ts'
import { tempFolder } from './parts/folder.ts'
import { getLaunch } from './parts/peers.ts'
import { measureCost, openServer, overHttp, overStdio, tokens } from './parts/surface.ts'
import type { Call, Connect, Cost, Task } from './parts/surface.ts'
import { project, writeBacklogMd, writeWork } from './parts/work-data.ts'

const maxListTokens = 4000
const fileCount = 40
const itemCount = 60

using state = tempFolder()
using sources = tempFolder()
using board = tempFolder()

const settings = {
  server: { port: 0 },
  workspace: { path: join(state.path, 'workspace') },
  grants: [{ path: sources.path, permission: 'read-write' }],
}
// JSON is YAML.
writeFileSync(statePaths(state.path).config, JSON.stringify(settings))
// The home of the daemon is the state directory, and the data root is in the home.
writeWork(join(state.path, '.worksync'), itemCount)
writeBacklogMd(board.path, itemCount)

await using daemon = await startDaemon(state.path)
const owner = { port: daemon.port, token: daemon.owner }
const endpoint = `http://127.0.0.1:${daemon.port}/mcp`

type Peer = { readonly name: string; readonly connect: Connect }
const filesystem: Peer = {
  name: 'server-filesystem',
  connect: overStdio(getLaunch('@modelcontextprotocol/server-filesystem', [sources.path])),
}
const backlog: Peer = {
  name: 'backlog.md',
  connect: overStdio(getLaunch('backlog.md', ['mcp', 'start', '--cwd', board.path])),
}

const inTokens = (value: number) => Math.round(value).toLocaleString('en')

async function fetchList(connect: Connect, mode: ClientView['mode'] = 'auto') {
  await using server = await openServer(connect, mode)
  return { tools: await server.list(), instructions: server.instructions }
}

const describeList = ({ tools }: { tools: readonly Tool[] }) =>
  `${inTokens(tokens(JSON.stringify({ tools })))} (${tools.length} tools)`

/** Selections of `tools/list`, each beside the peers for the same work. */
async function listFindings(open: (query?: string) => Connect, who: string): Promise<Finding[]> {
  const selections = [
    { query: '', what: 'default list', peers: [filesystem, backlog], max: maxListTokens },
    { query: '?tools=files', peers: [filesystem] },
    { query: '?tools=work', peers: [backlog] },
    { query: '?read_only=true', peers: [filesystem, backlog] },
    { query: '?tools=all', peers: [filesystem, backlog] },
  ]
  const findings: Finding[] = []
  for (const { query, what = query, peers, max } of selections) {
    const list = await fetchList(open(query))
    const size = tokens(JSON.stringify({ tools: list.tools }))
    const beside: string[] = []
    for (const { name, connect } of peers)
      beside.push(`${describeList(await fetchList(connect))}, ${name}`)
    findings.push({
      id: 'SV17',
      what: `tokens of tools/list, ${what}, ${who}`,
      ours: describeList(list),
      beside: beside.join('; '),
      ratio: '–',
      goal: max === undefined ? '–' : `≤ ${inTokens(max)}`,
      met: max === undefined || size <= max,
    })
  }
  return findings
}

/** The definitions that each client gives its model before any tool is used. */
async function viewFindings(connect: Connect, who: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const view of clientViews) {
    const measureSize = async (server: Connect) => {
      const { tools, instructions } = await fetchList(server, view.mode)
      return inTokens(tokens(view.define(tools, new Set()) + instructions))
    }
    const beside: string[] = []
    for (const peer of [filesystem, backlog])
      beside.push(`${await measureSize(peer.connect)}, ${peer.name}`)
    findings.push({
      id: 'SV17',
      what: `definitions and instructions before the first call, ${view.name}, ${who}`,
      ours: await measureSize(connect),
      beside: beside.join('; '),
      ratio: '–',
      goal: '–',
      met: true,
    })
  }
  return findings
}

/** A small module that writes to the console in two places. */
const buildSource = (n: number) => `import { readFile } from 'node:fs/promises'
import type { Order, Total } from './types.ts'

/** Adds up the orders of region ${n}; an order without a price counts as nothing. */
export async function totalOfRegion${n}(file: string): Promise<Total> {
  const orders = JSON.parse(await readFile(file, 'utf8')) as readonly Order[]
  let sum = 0
  let skipped = 0
  for (const order of orders) {
    if (order.region !== ${n}) continue
    if (order.price === undefined) {
      skipped++
      console.log("region ${n}: order " + order.id + " has no price")
      continue
    }
    sum += order.price * (order.count ?? 1)
  }
  console.log("region ${n}: " + orders.length + " orders, " + skipped + " skipped")
  return { region: ${n}, sum: Math.round(sum * 100) / 100, skipped }
}

export const nameOfRegion${n} = (names: ReadonlyMap<number, string>): string =>
  names.get(${n}) ?? 'region ${n}'
`
type Edit = readonly [before: string, after: string]
const buildEdits = (n: number): readonly Edit[] => [
  [
    `console.log("region ${n}: order " + order.id + " has no price")`,
    `log.warn('no price', { region: ${n}, order: order.id })`,
  ],
  [
    `console.log("region ${n}: " + orders.length + " orders, " + skipped + " skipped")`,
    `log.info('added up', { region: ${n}, orders: orders.length, skipped })`,
  ],
]

let runs = 0

/** A new folder per run: a task changes the files. Names have the same length on both sides. */
function writeSources() {
  const folder = join(sources.path, `run-${++runs}`)
  mkdirSync(folder)
  return {
    folder,
    files: Array.from({ length: fileCount }, (_, at) => {
      const path = join(folder, `region-${at + 1}.ts`)
      writeFileSync(path, buildSource(at + 1))
      return { path, edits: buildEdits(at + 1) }
    }),
  }
}

/** Fails if the model would not find the expected text. */
async function ask(call: Call, tool: string, input: object, word: string): Promise<string> {
  const shown = await call(tool, input)
  if (!shown.includes(word))
    throw new Error(`${word} is missing in the reply of ${tool}: ${shown.slice(0, 500)}`)
  return shown
}

type FileTools = {
  readonly list: string
  readonly read: string
  readonly edit: string
  readonly editsInput: (edits: readonly Edit[]) => object
}
const ourFileTools: FileTools = {
  list: 'list_files',
  read: 'read_file',
  edit: 'update_file',
  editsInput: (edits) => ({ edits: edits.map(([before, after]) => ({ old: before, new: after })) }),
}
const theirFileTools: FileTools = {
  list: 'list_directory',
  read: 'read_text_file',
  edit: 'edit_file',
  editsInput: (edits) => ({
    edits: edits.map(([oldText, newText]) => ({ oldText, newText })),
  }),
}

const refactor =
  ({ list, read, edit, editsInput }: FileTools): Task =>
  async (call) => {
    const { folder, files } = writeSources()
    await ask(call, list, { path: folder }, `region-${fileCount}.ts`)
    for (const { path } of files) await ask(call, read, { path }, 'has no price')
    for (const { path, edits } of files) await call(edit, { path, ...editsInput(edits) })
    if (files.some(({ path }) => readFileSync(path, 'utf8').includes('console.log')))
      throw new Error(`${edit} did not change a file`)
  }

const note = 'The cause was a stale entry; the fix reloads it.'
const summary = 'Reload stale entries.'

const finishOurs: Task = async (call) => {
  const ready = await ask(call, 'worksync_ready', { project }, 'STORY-')
  const story = { project, story_id: /STORY-\d+/.exec(ready)?.[0] }
  await call('worksync_claim', story)
  await ask(call, 'worksync_get', story, 'Reported by team')
  await call('worksync_update_story', { ...story, append_notes: note })
  await call('worksync_done', { ...story, summary })
}
const finishTheirs: Task = async (call) => {
  const ready = await ask(call, 'task_list', { ready: true, status: 'To Do', limit: 20 }, 'TASK-')
  const task = { id: /TASK-\d+/.exec(ready)?.[0] }
  await call('task_edit', { ...task, status: 'In Progress', assignee: ['bench'] })
  await ask(call, 'task_view', task, 'Reported by team')
  await call('task_edit', { ...task, notesAppend: [note] })
  await call('task_edit', { ...task, status: 'Done', finalSummary: summary })
}

const askAndContinue: Task = async (call) => {
  const action = { domain: 'billing', action: 'refund', target: 'order-7' }
  const proposed = await call('cowork_propose', {
    ...action,
    proposed_change: { amount: 500 },
    confidence: 0.9,
    reasoning: 'The parcel was lost.',
  })
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(proposed)?.[0] ?? ''
  const proposal = { proposal_id: id }
  await call('cowork_check_approval', proposal)
  const change = { amount: 50 }
  await callTool(owner, 'cowork_decide', { approval_ids: [id], decision: 'approve', change })
  await call('cowork_check_approval', { ...proposal, wait_seconds: 25 })
  await call('cowork_log', { ...action, ...proposal, details: change })
}

const formatParts = ({ definitions, calls, results, total }: Cost) =>
  `${inTokens(total)} (${[definitions, calls, results].map(inTokens).join(' + ')})`

function taskFinding(
  what: string,
  ours: Cost,
  peer: { readonly name: string; readonly cost: Cost } | undefined,
): Finding {
  const ratio = peer ? ours.total / peer.cost.total : 0
  return {
    id: 'N21',
    what: `${what}, tokens (definitions + calls + results)`,
    ours: formatParts(ours),
    beside: peer ? `${formatParts(peer.cost)}, ${peer.name}` : '–',
    ratio: peer ? times(ratio) : '–',
    goal: peer ? `≤ ${times(1)}` : '–',
    met: ratio <= 1,
  }
}

async function taskFindings(view: ClientView, connect: Connect): Promise<Finding[]> {
  const compare = async (what: string, task: Task, peer?: Peer & { task: Task }) => {
    const ours = await measureCost(view, connect, task)
    const theirs = peer && {
      name: peer.name,
      cost: await measureCost(view, peer.connect, peer.task),
    }
    return taskFinding(`${what}, ${view.name}`, ours, theirs)
  }
  return [
    await compare(`read and refactor ${fileCount} files`, refactor(ourFileTools), {
      ...filesystem,
      task: refactor(theirFileTools),
    }),
    await compare('find and finish a story', finishOurs, { ...backlog, task: finishTheirs }),
    await compare('ask, wait, continue', askAndContinue),
  ]
}

// Adding the first agent turns on authentication, so the lists without a token come first.
const off = (query = '') => overHttp(`${endpoint}${query}`)
const listsOff = await listFindings(off, 'authentication off')
const viewsOff = await viewFindings(off(), 'authentication off')
const { token } = await callTool<{ token: string }>(owner, 'cowork_add_agent', { id: 'bench' })
const ours = (query = '') => overHttp(`${endpoint}${query}`, token)
const lists = await listFindings(ours, 'with a token')
const views = await viewFindings(ours(), 'with a token')
const tasks: Finding[] = []
for (const view of clientViews) tasks.push(...(await taskFindings(view, ours())))
report([...lists, ...listsOff, ...views, ...viewsOff, ...tasks])
