// N10 W40 work at 10,000 items: durable mutations a second at 64 clients over HTTP, and claims under race
//
// A mutation is in the store with its entry when it is acknowledged; the file of 4 MB is written four times a second.
// At the end the file is read: it must contain every acknowledged mutation.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { load } from 'js-yaml'
import { randomHex } from '#base/ids.ts'
import { inMs, interleaved, inUs, median, perSecond, report } from './harness.ts'
import { startChild } from './parts/child.ts'
import type { Called, CallOrder } from './parts/http-caller.ts'
import type { Used, WorkApp } from './parts/work-app.ts'
import { project } from './parts/work-data.ts'

const items = 10_000
const clients = 64
const roundMs = 4000
const rounds = 4
const racers = 16
const races = 200

const tokens = Array.from({ length: racers }, () => `sk-cowork-${randomHex(24)}`)
const parts = join(import.meta.dirname, 'parts')
await using ours = await startChild(join(parts, 'work-app.ts'), [String(items), ...tokens])
await using caller = await startChild(join(parts, 'http-caller.ts'))
const { port, root, open, free } = ours.ready as WorkApp
const contested = new Set(free.slice(0, races))

let answered = 0
async function mutate(inFlight: number, tool: string, input: readonly object[]): Promise<Called> {
  const order: CallOrder = {
    port,
    tool,
    input,
    inFlight,
    ms: roundMs,
    ...(tokens[0] && { token: tokens[0] }),
  }
  const called = await caller.ask<Called>(order)
  answered += called.calls
  return called
}
const left = open.filter((id) => !contested.has(id))
const updates = left.map((story_id, at) => ({
  project,
  story_id,
  estimate: at % 13,
  append_notes: 'Seen again.',
}))
const additions = Array.from({ length: 500 }, (_, at) => ({
  project,
  sprint_id: `sprint-${1 + (at % 40)}`,
  title: `Another part ${at}`,
}))

const used: Used[] = []
const tails: number[] = []
const value = await interleaved(rounds, {
  async update() {
    await ours.ask<Used>('reset')
    const { calls, seconds, p99 } = await mutate(clients, 'worksync_update_story', updates)
    const { cpu, maxTurnMs } = await ours.ask<Used>('told')
    used.push({ cpu: cpu / calls, maxTurnMs })
    tails.push(p99)
    return calls / seconds
  },
  async add() {
    const { calls, seconds } = await mutate(clients, 'worksync_add_story', additions)
    return calls / seconds
  },
  alone: async () => (await mutate(1, 'worksync_update_story', updates)).p50,
})

type Claim = { readonly status: number; readonly code: string | undefined }
async function claim(token: string, story: string): Promise<Claim> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/tools/worksync_claim/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { project, story_id: story } }),
  })
  const { error } = (await reply.json()) as { error?: { code: string } }
  return { status: reply.status, code: error?.code }
}
let single = 0
const begun = performance.now()
for (const story of contested) {
  const claims = await Promise.all(tokens.map((token) => claim(token, story)))
  const winners = claims.filter(({ status }) => status === 200).length
  const losers = claims.filter(({ code }) => code === 'lease_held').length
  if (winners === 1 && losers === racers - 1) single++
  answered += winners
}
const claimRate = (races * racers * 1000) / (performance.now() - begun)

/** Counts the changes in the file. */
function changesInFile(): number {
  const path = join(root, 'projects', project, 'work-index.yaml')
  const { sprints } = load(readFileSync(path, 'utf8')) as {
    sprints: { stories: { id: string; rev: number }[] }[]
  }
  const stories = sprints.flatMap((sprint) => sprint.stories)
  const first = (id: string) => (Number(id.slice('STORY-'.length)) > items ? 0 : 1)
  return stories.reduce((sum, { id, rev }) => sum + rev - first(id), 0)
}
let inFile = 0
for (let wait = 0; wait < 50 && inFile !== answered; wait++) {
  await sleep(200)
  inFile = changesInFile()
}

const cpuOfOne = median(used.map(({ cpu }) => cpu))
const longest = median(used.map(({ maxTurnMs }) => maxTurnMs))
report([
  {
    id: 'N10',
    what: `durable mutations, ${items.toLocaleString('en')} items, ${clients} clients over HTTP`,
    ours: perSecond(value.update),
    beside: '–',
    ratio: `${inUs(cpuOfOne)} of CPU each, p99 ${inMs(median(tails))}, longest turn ${inMs(longest)}`,
    goal: '≥ 1,000/s',
    met: value.update >= 1000,
  },
  {
    id: 'N10',
    what: 'the same, each a new story',
    ours: perSecond(value.add),
    beside: '–',
    ratio: '–',
    goal: '≥ 1,000/s',
    met: value.add >= 1000,
  },
  {
    id: 'N10',
    what: `claims of one story by ${racers} agents at once, ${races} times: one winner`,
    ours: `${single} of ${races}`,
    beside: '–',
    ratio: `${perSecond(claimRate)} answered`,
    goal: `${races} of ${races}`,
    met: single === races,
  },
  {
    id: 'N10',
    what: `of ${answered.toLocaleString('en')} answered mutations, in the file at the end`,
    ours: inFile.toLocaleString('en'),
    beside: '–',
    ratio: '–',
    goal: 'all',
    met: inFile === answered,
  },
  {
    id: 'W40',
    what: `durable mutation, ${items.toLocaleString('en')} items, one client, p50`,
    ours: inMs(value.alone),
    beside: '–',
    ratio: '–',
    goal: '< 5 ms',
    met: value.alone < 5,
  },
])
