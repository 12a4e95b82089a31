// Concurrent agents and people, and the invariants afterwards.
import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Risk } from '#approvals'
import type { Entry } from '#ledger'
import {
  applyApproval,
  initialTrust,
  applyOverride,
  overrideTypes,
  severities,
  markActive,
  toTrustRules,
} from '../src/governance/rules/trust.ts'
import type { Change, OverrideKind, Trust } from '../src/governance/rules/trust.ts'
import { actingTool } from './acting.ts'
import { anna, ben, decide, getOutcomes, propose, sales, support } from './acts.ts'
import { testConfig } from './governance.ts'
import { movableClock, openGoverned } from './governed.ts'
import type { Governed, Said, Store } from './governed.ts'

const settings = {
  'authority.volume_cap': 0,
  'authority.agent_volume_cap': 0,
  'approvals.undo_hold': '150ms',
  'trust.auto_promote_after': 4,
}
const rules = toTrustRules(testConfig(settings))
const agents = [sales, support]
const people = [anna, ben]
// Past every expiry, and no whole number of days: an entry is dated some milliseconds after its decision.
const longRest = (8 * 24 + 1) * 60 * 60 * 1000

/** One action of an agent or person at one daemon; `which` selects an existing item. */
type Act = {
  readonly act: string
  readonly who: 0 | 1
  readonly at: 0 | 1
  readonly which: number
  readonly risky: boolean
  readonly kind: OverrideKind
}
const verbs = ['propose', 'call', 'approve', 'reject', 'hold', 'undo', 'withdraw', 'correct']
/** Actions with their weights. */
const verb = fc.oneof(
  fc.constantFrom(...verbs),
  fc.constantFrom('propose', 'call', 'approve', 'approve', 'reject'),
)

/** Rounds of concurrent actions. After a round a daemon may stop, or a long time may pass. */
type Round = { readonly acts: readonly Act[]; readonly after: 'nothing' | 'restart' | 'rest' }

const story: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    acts: fc.array(
      fc.record({
        act: verb,
        who: fc.constantFrom(0, 1),
        at: fc.constantFrom(0, 1),
        which: fc.nat({ max: 1000 }),
        risky: fc.boolean(),
        kind: fc.record({
          type: fc.constantFrom(...overrideTypes),
          severity: fc.constantFrom(...severities),
        }),
      }),
      { minLength: 2, maxLength: 8, size: 'max' },
    ),
    after: fc
      .nat({ max: 9 })
      .map((n) => (n === 0 ? ('rest' as const) : n === 1 ? ('restart' as const) : 'nothing')),
  }),
  { minLength: 6, maxLength: 12, size: 'max' },
)

/** Runs random stories, each on its own store with several daemons, and checks the invariants. Returns the events. */
export async function tellStories(
  newStore: () => Promise<Store>,
  { daemons, stories }: { daemons: 1 | 2; stories: number },
) {
  const seen = { approved: 0, rejected: 0, expired: 0, withdrawn: 0, undone: 0, started: 0 }
  const property = fc.asyncProperty(story, async (rounds) => {
    for (const { type } of await live(rounds, await newStore(), daemons)) {
      const name = type.slice(type.indexOf('.') + 1)
      if (name in seen) seen[name as keyof typeof seen]++
    }
  })
  await fc.assert(property, { numRuns: stories, endOnFailure: true })
  return seen
}

/** Runs one story and checks the invariants. */
async function live(rounds: readonly Round[], store: Store, daemons: 1 | 2): Promise<Entry[]> {
  const clock = movableClock()
  const { tool, runs } = actingTool('crm', 'write')
  const start = () => openGoverned(settings, { tools: [tool] }, store, clock)
  const systems = [await start()]
  if (daemons === 2) systems.push(await start())
  const known: string[] = []
  const held: string[] = []
  /** Decisions reported as made. */
  const details: string[] = []
  let entries: Entry[] = []

  async function perform({ act, who, at, which, risky, kind }: Act): Promise<void> {
    const system = oneOf(systems, at)
    const id = act === 'undo' ? oneOf(held, which) : oneOf(known, which)
    const person = oneOf(people, who)
    const agent = oneOf(agents, who)
    const remember = ({ proposal_id: one, approval_id: other = one }: Said) => {
      if (typeof other === 'string' && !known.includes(other)) known.push(other)
    }
    const decided = async (more: object) => {
      // Bulk items have separate outcomes, and only bulk items are deferred.
      const ids = act === 'hold' ? [id, oneOf(known, which + 1)] : [id]
      for (const outcome of getOutcomes(await decide(system, ids, more, person))) {
        const { id: one, status } = outcome as { id: string; status: string }
        if (status === 'held') held.unshift(one)
        if (status === 'approved' || status === 'rejected')
          details.push(`${one} ${status} ${person.id}`)
      }
    }
    const change = risky ? { deal_stage: 'won' } : { note: which }
    if (id === undefined && !['propose', 'call', 'correct'].includes(act)) return undefined
    switch (act) {
      case 'propose':
        return remember(await propose(system, { proposed_change: change }, agent))
      case 'call':
        return remember(await system.call('crm_write', { path: `/${which % 3}` }, agent))
      case 'approve':
        return decided({})
      case 'reject':
        return decided({ decision: 'reject', override: kind })
      case 'hold':
        return decided({ decision: risky ? 'approve' : 'reject', override: kind, hold: true })
      case 'undo':
        return void (await system.call('cowork_undo', { approval_ids: [id] }, person))
      case 'withdraw': {
        const result = await system.call('cowork_withdraw', { approval_id: id }, agent)
        if (!('fault' in result)) details.push(`${id} withdrawn ${agent.id}`)
        return undefined
      }
      default: {
        const about = { agent_id: agent.id, domain: 'crm', action_description: '', description: '' }
        const overrideArguments = { ...about, override_type: kind.type, severity: kind.severity }
        expect(await system.call('cowork_override', overrideArguments, person)).not.toHaveProperty(
          'fault',
        )
      }
    }
  }

  /** Neither deferred nor about to expire. */
  async function nothingIsDue(by: number): Promise<void> {
    const rows = async () => (await oneOf(systems, 0).rows('approval')) as Row[]
    await expect.poll(async () => (await rows()).some(due(by))).toBe(false)
  }

  /** No approved call is about to run or running: later reads are consistent. */
  async function nothingRuns(): Promise<void> {
    const isLive = ({ kind, status, decided_at, run_until }: Row) =>
      kind === 'call' &&
      ((status === 'approved' && (decided_at ?? 0) > clock.now() - hour) || run_until !== null)
    const rows = async () => (await oneOf(systems, 0).rows('approval')) as Row[]
    await expect.poll(async () => (await rows()).some(isLive), { timeout: 30_000 }).toBe(false)
  }

  try {
    for (const { acts, after } of rounds) {
      await Promise.all(acts.map(perform))
      if (after === 'nothing') continue
      if (after === 'rest') {
        // The clock does not move by days during a decision.
        await nothingIsDue(0)
        clock.move(longRest)
      }
      await systems.pop()?.close()
      systems.push(await start())
    }
    await nothingIsDue(clock.now())
    await nothingRuns()
    const last = oneOf(systems, 0)
    entries = await everyEntry(last)
    await checkAll(last, entries, details, runs.length)
  } finally {
    for (const system of systems) await system.close()
  }
  const { ok, problems } = await oneOf(systems, 0).verify()
  expect({ ok, problems }).toEqual({ ok: true, problems: [] })
  return entries
}

const oneOf = <T>(list: readonly T[], place: number): T => list[place % list.length] as T

type Row = {
  id: string
  status: string
  kind: string
  held: string | null
  expires_at: number
  decided_at: number | null
  run_until: number | null
}
const hour = 60 * 60 * 1000
const due = (by: number) => (row: Row) =>
  row.status === 'pending' && (row.held !== null || row.expires_at <= by)
type Stored = Record<string, number> & { agent: string; domain: string; active_at: number }

const ends = ['approved', 'rejected', 'expired', 'withdrawn']

async function checkAll(
  system: Governed,
  entries: readonly Entry[],
  reported: readonly string[],
  runs: number,
): Promise<void> {
  const approvals = (await system.rows('approval')) as Row[]
  const trust = (await system.rows('trust')) as Stored[]

  // Each item is decided at most once, and the row matches the ledger.
  const endings = entries.filter(({ type }) => ends.includes(type.replace('approval.', '')))
  for (const { id, status } of approvals) {
    const found = endings.filter(({ ids }) => ids?.approval === id).map(({ type }) => type)
    const expected = status === 'consumed' ? 'approved' : status
    expect(found).toEqual(status === 'pending' ? [] : [`approval.${expected}`])
  }
  // Every reported decision is recorded, and no decision was reported to two people.
  const recorded = endings.map(
    ({ type, ids, actor }) => `${ids?.approval} ${type.replace('approval.', '')} ${actor.id}`,
  )
  expect(recorded).toEqual(expect.arrayContaining([...reported]))
  expect(new Set(reported).size).toBe(reported.length)

  // Approved calls ran at most once, and no other call ran.
  const started = entries.filter(({ type }) => type === 'call.started')
  const used = started.map(({ ids }) => ids?.approval)
  expect(new Set(used).size).toBe(used.length)
  const consumed = approvals.filter(({ status }) => status === 'consumed').map(({ id }) => id)
  expect(new Set(used)).toEqual(new Set(consumed))
  expect(used).toHaveLength(consumed.length)
  expect(runs).toBe(used.length)

  checkTrust(entries, trust)
  const moved = entries.filter(
    ({ type, data }) => type !== 'trust.created' && data?.['trust'] !== undefined,
  )
  expect(await system.rows('trust_point')).toHaveLength(moved.length)
  const overrides = entries.filter(({ data }) => data?.['override'] !== undefined)
  expect(await system.rows('overrides')).toHaveLength(overrides.length)
  const counts = await system.governance.approvals.countPending()
  expect(counts['all']).toBe(approvals.filter(({ status }) => status === 'pending').length)
}

/** Replaying the ledger with the pure rules gives the stored trust and each step. */
function checkTrust(entries: readonly Entry[], stored: readonly Stored[]): void {
  const folded = new Map<string, Trust>()
  const risks = new Map<string, Risk>()
  const held = new Set<string | undefined>()
  for (const { type, at, actor, domain, ids, data } of entries) {
    const opens = type === 'proposal.created' || type === 'approval.requested'
    const agent = opens ? actor.id : (data?.['requester'] as string)
    const pair = `${agent} ${domain}`
    const before = folded.get(pair) ?? initialTrust(rules, at)
    const risk = risks.get(ids?.approval ?? '') ?? 'normal'
    if (opens) {
      risks.set(ids?.approval ?? '', data?.['risk'] as Risk)
      folded.set(pair, type === 'proposal.created' ? markActive(rules, before, at) : before)
      continue
    }
    if (type === 'approval.held') held.add(ids?.approval)
    if (type === 'approval.undone') held.delete(ids?.approval)
    let change: Change
    const override = data?.['override'] as OverrideKind | undefined
    if (override)
      change = applyOverride(rules, before, risk, override, at, type === 'override.recorded')
    else if (type === 'approval.approved') {
      // Deferred items were decided in bulk, and nobody opened them.
      const worth = held.has(ids?.approval) ? 'score' : 'credit'
      change = applyApproval(rules, before, risk, at, worth)
    } else continue
    expect(data?.['trust']).toMatchObject({ from: change.from, to: change.to })
    folded.set(pair, change.trust)
  }
  expect(stored.map(({ agent, domain }) => `${agent} ${domain}`).toSorted()).toEqual(
    [...folded.keys()].toSorted(),
  )
  for (const row of stored) {
    const trust = folded.get(`${row.agent} ${row.domain}`)
    const { approvals, overrides, streak, score } = row
    expect({ approvals, overrides, streak, score }).toEqual({
      approvals: trust?.approvals,
      overrides: trust?.overrides,
      streak: trust?.streak,
      score: trust?.score,
    })
    expect(row['promoted']).toBe(trust?.promoted ? 1 : 0)
    for (const name of ['low', 'normal', 'high'] as const)
      expect({
        credit: row[`${name}_credit`],
        strikes: row[`${name}_strikes`],
        clean: row[`${name}_clean`],
      }).toEqual(trust?.standings[name])
  }
}

async function everyEntry({ ledger }: Governed): Promise<Entry[]> {
  const found: Entry[] = []
  for (;;) {
    const more = await ledger.find({ after: found.at(-1)?.seq ?? 0, limit: 1000 })
    found.push(...more)
    if (more.length < 1000) return found
  }
}
