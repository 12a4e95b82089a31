// N17 how soon a waiting agent gets a person's decision, across processes
//
// The agent waits in one process, and the person decides from another: through two daemons on one PostgreSQL, and
// through one daemon on SQLite.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'
import { statePaths } from '#base/state.ts'
import { startDaemon } from '../test/daemon.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { inMs, percentile, report, sharedNow } from './harness.ts'
import type { Finding } from './harness.ts'
import { callTool, post } from './parts/api.ts'
import type { ToolEndpoint } from './parts/api.ts'
import { startChild } from './parts/child.ts'
import type { Child } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import type { WaitOrder, Woken } from './parts/waiter.ts'

const rounds = 250
/** Random delay before the decision, so that no rhythm forms. */
const pauseMs = () => 20 + Math.random() * 40

const agent = 'ada'
const token = `sk-cowork-${randomHex(24)}`
const proposal = {
  domain: 'crm.deals',
  action: 'update_deal',
  target: 'deal_12345',
  // High risk, so that a person is asked at any trust.
  proposed_change: { deal_stage: 'closed_won' },
  confidence: 0.9,
  reasoning: 'The customer signed.',
}

function configure(state: string, more: object = {}): void {
  const config = {
    server: { port: 0 },
    agents: [{ id: agent, token_hash: sha256Hex(token) }],
    authority: { volume_cap: 0, agent_volume_cap: 0 },
    ...more,
  }
  writeFileSync(statePaths(state).config, JSON.stringify(config))
}

/** Returns each round's time from the person's reply to the agent's; negative if the agent was first. */
async function delays(
  waiter: Child,
  agents: ToolEndpoint,
  people: ToolEndpoint,
): Promise<number[]> {
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { proposal_id: approval } = await callTool<{ proposal_id: string }>(
      agents,
      'cowork_propose',
      proposal,
    )
    const woken = waiter.ask<Woken>({ endpoint: agents, approval } satisfies WaitOrder)
    await sleep(pauseMs())
    const decidedAt = sharedNow()
    await post(people, `/api/approvals/${approval}/decide`, { decision: 'approve' })
    const answered = sharedNow()
    const { at, status } = await woken
    if (status !== 'approved' || at < decidedAt)
      throw new Error(`early status ${status} at the agent`)
    taken.push(at - answered)
  }
  return taken
}

function finding(what: string, taken: readonly number[]): Finding {
  const [p50, p99] = [percentile(taken, 0.5), percentile(taken, 0.99)]
  return {
    id: 'N17',
    what: `decision answered → waiting agent answered, ${what}, ${rounds} times: p99 (p50, most)`,
    ours: `${inMs(p99)} (${inMs(p50)}, ${inMs(Math.max(...taken))})`,
    beside: '–',
    ratio: '–',
    goal: '< 100 ms (p50 < 50 ms)',
    met: p99 < 100 && p50 < 50,
  }
}

await using waiter = await startChild(join(import.meta.dirname, 'parts', 'waiter.ts'))

async function onSqlite(): Promise<Finding> {
  using state = tempFolder()
  configure(state.path)
  await using daemon = await startDaemon(state.path)
  const { port, owner } = daemon
  return finding(
    'one daemon on SQLite',
    await delays(waiter, { port, token }, { port, token: owner }),
  )
}

async function onPostgres(): Promise<Finding> {
  using here = tempFolder()
  using there = tempFolder()
  const postgres = await startPostgres()
  try {
    const storage = { url: await postgres.createDatabase('bench') }
    configure(here.path, { storage })
    configure(there.path, { storage, ledger: { key_path: statePaths(here.path).ledgerKey } })
    await using first = await startDaemon(here.path)
    await using second = await startDaemon(there.path)
    const agents = { port: first.port, token }
    const people = { port: second.port, token: second.owner }
    return finding('two daemons on PostgreSQL', await delays(waiter, agents, people))
  } finally {
    await postgres.stop()
  }
}

report([await onSqlite(), await onPostgres()])
