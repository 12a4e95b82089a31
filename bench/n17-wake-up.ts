// N17 how soon an agent that waits is answered once a person's decision is, across processes
//
// The agent waits in one process, the person decides from another: through two daemons on one PostgreSQL,
// and through the one daemon there is on SQLite.
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
import type { Door } from './parts/api.ts'
import { startChild } from './parts/child.ts'
import type { Child } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import type { WaitOrder, Woken } from './parts/waiter.ts'

const rounds = 250
/** For the wait to be under way, and for no rhythm to form. */
const pauseMs = () => 20 + Math.random() * 40

const agent = 'ada'
const token = `sk-cowork-${randomHex(24)}`
const proposal = {
  domain: 'crm.deals',
  action: 'update_deal',
  target: 'deal_12345',
  // High risk, so a person is asked however trusted the agent becomes.
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

/** Each round's time from the person's answer to the agent's; below 0 the agent had its answer first. */
async function delays(waiter: Child, agents: Door, people: Door): Promise<number[]> {
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { proposal_id: approval } = await callTool<{ proposal_id: string }>(
      agents,
      'cowork_propose',
      proposal,
    )
    const woken = waiter.ask<Woken>({ door: agents, approval } satisfies WaitOrder)
    await sleep(pauseMs())
    const asked = sharedNow()
    await post(people, `/api/approvals/${approval}/decide`, { decision: 'approve' })
    const answered = sharedNow()
    const { at, status } = await woken
    if (status !== 'approved' || at < asked) throw new Error(`the agent was told ${status} early`)
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
