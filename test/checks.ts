// Checks of autonomous actions and their effects, on both engines (T11, T13, T14, T16).
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { newId } from '#base/ids.ts'
import { actingTool } from './acting.ts'
import {
  anna,
  approve,
  ben,
  check,
  decide,
  earn,
  getOutcomes,
  override,
  propose,
  proposed,
  sales,
  support,
  trusted,
  fetchTrust,
} from './acts.ts'
import { governed, movableClock, openGoverned } from './governed.ts'
import type { Governed, More, Said, Settings, Store } from './governed.ts'

const day = 24 * 60 * 60 * 1000
const wrong = { decision: 'reject', override: { type: 'agent_wrong' } }
const free = { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 }

type Class = {
  level: string
  cause?: string
  to_go: number
  credit: { now: number }
  strikes: { now: number; forgiven_after?: number }
  checks: { rate: number; unread: number; look_back: number }
  kinds: { kind: string; credit: number; to_go: number }[]
}

/** The standing of one risk class, for people. */
export async function readClass(to: Governed, risk = 'normal', agent = 'sales'): Promise<Class> {
  const result = await to.call('cowork_standing', { agent_id: agent, domain: 'crm' }, anna)
  const [{ classes } = { classes: [] }] = result['standings'] as {
    classes: (Class & { risk: string })[]
  }[]
  const found = classes.find((one) => one.risk === risk)
  if (!found) throw new Error(`no class ${risk}`)
  return found
}

/** Pending checks, oldest first. */
export async function listChecks(to: Governed): Promise<{ id: string; target: string }[]> {
  await to.governance.spotChecks.flush()
  const found = await to.governance.approvals.list({ kind: 'spot_check', limit: 99 })
  return found.filter(({ status }) => status === 'pending').toReversed()
}

/** Opens the item first: only opened items count. */
async function confirm(to: Governed, id: string, by = anna): Promise<Said> {
  await to.governance.inbox.detail(by, id)
  return decide(to, [id], {}, by)
}

const actAlone = async (to: Governed, count: number, more: object = {}) => {
  const replies = []
  for (let n = 0; n < count; n++) replies.push(await propose(to, { target: `deal-${n}`, ...more }))
  return replies
}

/** The counter of an id within its millisecond. */
const placeOf = (id: string) => Number.parseInt(id.slice(15, 18), 16)

export function checksContract(newStore: () => Promise<Store>): void {
  /** An agent with an open gate; `draw` decides which actions are checked. */
  async function proven(draw: More['draw'] = () => 1, settings: Settings = {}, more: More = {}) {
    const clock = movableClock()
    const system = await governed(
      { ...free, ...settings },
      { draw, ...more },
      await newStore(),
      clock,
    )
    await earn(system, 25)
    expect(await fetchTrust(system)).toMatchObject({ mode: 'act', to_go: 0 })
    return system
  }

  describe('the gate', () => {
    test('T11 25 correct actions open the gate, 24 do not', async () => {
      const system = await governed(free, {}, await newStore())
      await earn(system, 24)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true, to_go: 1 })
      await earn(system, 1)
      expect(await propose(system)).toMatchObject({ mode: 'act', gated: false })
    })

    test('T13 a new kind of action needs five correct actions of that kind', async () => {
      const system = await proven()
      const other = { action: 'send_offer' }
      for (let n = 5; n > 0; n--) {
        const reply = await propose(system, other)
        expect(reply).toMatchObject({ mode: 'suggest', gated: true, to_go: n })
        await approve(system, String(reply['proposal_id']))
      }
      expect(await propose(system, other)).toMatchObject({ mode: 'act' })
      expect((await readClass(system)).kinds).toEqual([
        { kind: 'send_offer', credit: 5, to_go: 0 },
        { kind: 'update_deal', credit: 5, to_go: 0 },
      ])
    })

    test('T13 a wrong request costs its kind and no other', async () => {
      const system = await proven()
      const asked = await proposed(system, { action: 'send_offer' })
      await override(system, 'agent_wrong', { proposal_id: asked })
      expect(await readClass(system)).toMatchObject({
        credit: { now: 25 },
        kinds: [
          { kind: 'send_offer', credit: -50, to_go: 55 },
          { kind: 'update_deal', credit: 5 },
        ],
      })
      await trusted(system, 0.9)
      expect(await propose(system)).toMatchObject({ mode: 'act' })
      expect(await propose(system, { action: 'send_offer' })).toMatchObject({ gated: true })
    })

    test.each(['Send_Offer', ' send_offer', 'ｓend_offer', 'send\u200b_offer'])(
      'T13 a kind of action keeps its debt under another spelling: %j',
      async (action) => {
        const system = await proven()
        const asked = await proposed(system, { action: 'send_offer' })
        await override(system, 'agent_wrong', { proposal_id: asked })
        expect(await propose(system, { action })).toMatchObject({ gated: true, to_go: 55 })
      },
    )

    test('T13 invented kinds of action earn nothing and leave no rows', async () => {
      const system = await proven()
      for (let n = 0; n < 300; n++)
        expect(await propose(system, { action: `invented_${n}` })).toMatchObject({
          mode: 'suggest',
          to_go: 5,
        })
      expect(await system.rows('trust_kind')).toHaveLength(1)
    })

    test('T11 an edited or unopened bulk approval changes the score and not the credit', async () => {
      const system = await governed(free, {}, await newStore())
      const [edited, one, two, three] = await Promise.all([1, 2, 3, 4].map(() => proposed(system)))
      await decide(system, [edited ?? ''], { change: { note: 'tomorrow' } })
      expect(await fetchTrust(system)).toMatchObject({ approvals: 1, to_go: 25 })
      await system.governance.inbox.detail(anna, two ?? '')
      await decide(system, [one ?? '', two ?? ''])
      expect(await fetchTrust(system)).toMatchObject({ approvals: 3, to_go: 24 })
      await decide(system, [three ?? ''])
      expect(await fetchTrust(system)).toMatchObject({ approvals: 4, to_go: 23 })
    })

    test('T11 without the gate, modes and promotion follow the COWORK protocol', async () => {
      const system = await governed(
        { ...free, 'trust.evidence_gate': false },
        { draw: () => 0 },
        await newStore(),
      )
      await earn(system, 19)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: false })
      expect(await earn(system, 1)).toMatchObject({ trust_level: 0.8, promoted: true })
      expect(await propose(system, { action: 'never_seen' })).toMatchObject({ mode: 'act' })
      // Checks and look-backs continue, but mistakes close no gate.
      const [found] = await listChecks(system)
      await decide(system, [found?.id ?? ''], wrong)
      await trusted(system, 0.9)
      expect(await propose(system)).toMatchObject({ mode: 'act' })
    })

    test('T14 without checks no agent acts alone', async () => {
      const system = await governed({ ...free, 'trust.spot_check_rate': 0 }, {}, await newStore())
      await earn(system, 30)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true, to_go: 0 })
      expect(await readClass(system)).toMatchObject({ cause: 'unchecked' })
    })
  })

  describe('checks', () => {
    test('T14 a drawn check is opened after the reply, without an entry', async () => {
      let value = 1
      const system = await proven(() => value)
      const pair = { agent: 'sales', domain: 'crm' }
      const grown = async () => {
        const before = await system.ledger.size()
        await propose(system)
        const unopened = await system.governance.spotChecks.unopened(system.db, pair, 'normal')
        await system.governance.spotChecks.flush()
        const since = await system.ledger.find({ limit: 100, after: before })
        // The entry of an earlier read may appear only now (L12).
        const entries = since.filter(({ data }) => data?.['effect'] !== 'read').length
        return { entries, unopened }
      }
      expect(await grown()).toEqual({ entries: 1, unopened: 0 })
      value = 0
      expect(await grown()).toEqual({ entries: 1, unopened: 1 })
      expect(await listChecks(system)).toHaveLength(1)
    })

    test('T14 a drawn action has the same reply and entries as any other', async () => {
      const draws = [0, 1]
      const known = new Map<string, number>()
      const draw = (id: string) => known.get(id) ?? known.set(id, draws.shift() ?? 1).get(id) ?? 1
      const system = await proven(draw)
      const shape = (reply: Said) => ({
        ...reply,
        action_id: '',
        proposal_id: '',
        message: '',
        next: String(reply['next']).replace(String(reply['proposal_id']), ''),
      })
      const [one, two] = await actAlone(system, 2, { target: 'same' })
      expect(shape(one ?? {})).toEqual({ ...shape(two ?? {}), volume_remaining: null })
      const entries = await system.entries(['proposal.created'])
      const [last, other] = entries.toReversed()
      expect(Object.keys(last?.data ?? {})).toEqual(Object.keys(other?.data ?? {}))
      expect(await listChecks(system)).toMatchObject([{ target: 'same' }])
      expect(await system.entries(['approval.requested'])).toEqual([])
    })

    test('RS10 T14 the agent cannot see a check before or after its answer', async () => {
      const system = await proven(() => 0)
      const seen = async () => ({
        trust: await fetchTrust(system),
        status: await system.call('cowork_status', { include_timeline: false }),
        history: (await system.call('cowork_trust_history', { domain: 'crm' }))['points'],
        list: await system.governance.inbox.list(sales, { status: 'all', limit: 99 }),
      })
      await propose(system)
      const before = await seen()
      const [found] = await listChecks(system)
      const id = found?.id ?? ''
      const without = (reply: Awaited<ReturnType<typeof seen>>) =>
        JSON.stringify(reply, (key, value: unknown) =>
          ['last_active_at', 'ledger', 'at'].includes(key) ? undefined : value,
        )
      expect(without(await seen())).toBe(without(before))
      expect(JSON.stringify(before)).not.toContain('spot_check')
      expect(await system.governance.inbox.detail(sales, id)).toBeUndefined()
      expect(await check(system, id)).toMatchObject({ fault: 'not_found' })
      expect(await system.call('cowork_withdraw', { approval_id: id })).toMatchObject({
        fault: 'not_found',
      })
      await confirm(system, id)
      expect(without(await seen())).toBe(without(before))
    })

    test('RS10 T14 an answered check appears in no history that the agent reads', async () => {
      let value = 1
      const system = await proven(() => value)
      const asked = await proposed(system, { proposed_change: { owner: 'me' } })
      const [done] = await actAlone(system, 2, { target: 'deal-1' })
      value = 0
      await actAlone(system, 2, { target: 'deal-1' })
      const [right, bad] = await listChecks(system)
      await confirm(system, right?.id ?? '')
      await decide(system, [bad?.id ?? ''], wrong)
      const checks = [right?.id, bad?.id]
      for (const id of [asked, String(done?.['proposal_id'])]) {
        const idsFor = async (by: Caller) => {
          const found = await system.governance.inbox.detail(by, id)
          return found?.history.map((past) => past.id)
        }
        expect(await idsFor(anna)).toEqual(expect.arrayContaining(checks))
        expect(await idsFor(sales)).not.toEqual(expect.arrayContaining([right?.id]))
        expect(await idsFor(sales)).not.toEqual(expect.arrayContaining([bad?.id]))
        const { trust_points: points } = (await system.governance.inbox.detail(sales, id)) ?? {}
        expect(points).not.toEqual([])
        expect(JSON.stringify(points)).not.toMatch(/look|check/)
      }
    })

    test('RS10 T14 no id that the agent receives reveals the id of a check', async () => {
      const system = await proven(() => 0)
      await propose(system)
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
      onTestFinished(() => void vi.useRealTimers())
      const before = newId()
      await system.governance.spotChecks.flush()
      const after = newId()
      expect(placeOf(after) - placeOf(before)).toBe(1)
      vi.useRealTimers()
      expect(await listChecks(system)).toHaveLength(1)
    })

    test('RS10 T14 changing clients does not reveal drawn checks by the number of entries', async () => {
      let values: number[] = []
      const system = await proven(() => values.shift() ?? 1)
      const by = (name: string) => ({
        ...sales,
        client: { name, version: '1', transport: 'http' as const },
      })
      const changes = async () => (await system.entries(['trust.client_seen'])).length
      const grown = async (value: number) => {
        await propose(system, {}, by('one'))
        await system.governance.spotChecks.flush()
        const before = await changes()
        values = [1, value]
        await Promise.all([propose(system, {}, by('other')), propose(system, {}, by('one'))])
        await system.governance.spotChecks.flush()
        return (await changes()) - before
      }
      const undrawn = await grown(1)
      expect(await grown(0)).toBe(undrawn)
      expect(await listChecks(system)).toHaveLength(1)
    })

    test('RS10 T14 the first call of an unknown agent leaves the same entries', async () => {
      const { tool } = actingTool('crm', 'write')
      const trusting = {
        'trust.default_level': 0.9,
        'trust.evidence_gate': false,
        'authority.default_mode': 'act',
      }
      const grown = async (value: number) => {
        const more = { tools: [tool], draw: () => value }
        const system = await governed({ ...free, ...trusting }, more, await newStore())
        const before = await system.ledger.size()
        expect(await system.call('crm_write', { path: '/a' })).toEqual({ done: '/a' })
        await system.governance.spotChecks.flush()
        const checks = await listChecks(system)
        return { entries: (await system.ledger.size()) - before, checks: checks.length }
      }
      const undrawn = await grown(1)
      expect(await grown(0)).toEqual({ ...undrawn, checks: 1 })
    })

    test('T14 a clean check changes the standing and never the score', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 5)
      for (const { id } of await listChecks(system)) {
        const reply = getOutcomes(await confirm(system, id))
        expect(reply).toEqual([{ id, status: 'approved' }])
      }
      expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.9, approvals: 25 })
      expect(await readClass(system)).toMatchObject({ level: 'autonomous', checks: { rate: 0.1 } })
    })

    test('T14 a check confirmed unopened or skipped is closed and does not count', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 2)
      const [one, two] = await listChecks(system)
      await decide(system, [one?.id ?? ''])
      await system.governance.inbox.detail(anna, two?.id ?? '')
      await decide(system, [two?.id ?? ''], { skip: true })
      const [row] = await system.rows('trust')
      expect(row).toMatchObject({ normal_clean: 0 })
      expect(await listChecks(system)).toEqual([])
      const entries = await system.entries(['approval.approved'])
      for (const { data } of entries.slice(-2)) expect(data).toMatchObject({ counted: false })
    })

    test('T11 T14 a skipped item of any kind gives no credit', async () => {
      const system = await governed(free, {}, await newStore())
      await decide(system, [await proposed(system)], { skip: true })
      expect(await readClass(system)).toMatchObject({ credit: { now: 0 } })
    })

    test('T14 six unread checks close the gate, answering one opens it', async () => {
      const system = await proven(() => 0)
      // The last of these checks is drawn, but not opened yet.
      for (const reply of await actAlone(system, 6)) expect(reply).toMatchObject({ mode: 'act' })
      const closed = await propose(system)
      expect(closed).toMatchObject({ mode: 'suggest', gated: true, to_go: 0 })
      expect(JSON.stringify(closed)).not.toMatch(/unread|spot/)
      const [first] = await listChecks(system)
      expect(await readClass(system)).toMatchObject({
        level: 'supervised',
        cause: 'unread',
        reason: '6 unread checks',
        next: 'answer them to let the agent continue',
      })
      await confirm(system, first?.id ?? '')
      expect(await propose(system)).toMatchObject({ mode: 'act' })
    })

    test('T14 a check unread for more than three days closes the gate and does not expire', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await listChecks(system)
      const rest = async (days: number) => {
        system.move(days * day)
        await trusted(system, 0.9)
        const kept = system.governance.approvals.get(found?.id ?? '')
        return { kept: (await kept)?.status, mode: (await propose(system))['mode'] }
      }
      expect(await rest(0.9)).toEqual({ kept: 'pending', mode: 'act' })
      // Each idle day costs one correct action; vouching covers that.
      expect(await rest(2)).toEqual({ kept: 'pending', mode: 'act' })
      expect(await rest(0.2)).toEqual({ kept: 'pending', mode: 'suggest' })
      expect(await rest(30)).toEqual({ kept: 'pending', mode: 'suggest' })
    })

    test('T14 a clock that is set back gives no credit and opens no gate', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 6)
      const [first] = await listChecks(system)
      await system.governance.inbox.detail(anna, first?.id ?? '')
      const before = await system.rows('trust')
      system.move(-10 * 60_000)
      expect(await propose(system)).toMatchObject({ fault: 'clock_went_back' })
      expect(await decide(system, [first?.id ?? ''])).toMatchObject({ fault: 'clock_went_back' })
      system.move(10 * 60_000)
      expect(await system.rows('trust')).toEqual(before)
      expect(await propose(system)).toMatchObject({ gated: true })
    })

    test('T14 if two reviewers disagree, the first answer counts; a later override costs in full', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const [found] = await listChecks(system)
      await confirm(system, found?.id ?? '')
      const second = await decide(system, [found?.id ?? ''], wrong, ben)
      expect(getOutcomes(second)).toMatchObject([{ error: { code: 'already_decided' } }])
      await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      const [row] = await system.rows('trust')
      expect(row).toMatchObject({ normal_credit: -25, normal_strikes: 1, normal_clean: 0 })
    })

    test('T14 an override of a proposal answers its check once', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const [found] = await listChecks(system)
      await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      expect(await system.governance.approvals.get(found?.id ?? '')).toMatchObject({
        status: 'withdrawn',
      })
      expect(getOutcomes(await confirm(system, found?.id ?? ''))).toMatchObject([
        { error: { code: 'already_decided' } },
      ])
      expect(await readClass(system)).toMatchObject({ credit: { now: -25 }, checks: { unread: 0 } })
      const again = await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      expect(again).toMatchObject({ fault: 'already_decided' })
    })

    test('T14 checks of a revoked agent stay, cost when wrong and give no credit when correct', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 2)
      const [one, two] = await listChecks(system)
      const gone = { ...system.identity }
      await system.db.transact((tx) =>
        gone.addAgent(tx, { id: 'sales' }, { id: 'call-1', caller: anna }),
      )
      await system.db.transact((tx) =>
        gone.revokeAgent(tx, { id: 'sales' }, { id: 'call-2', caller: anna }),
      )
      await confirm(system, one?.id ?? '')
      expect((await system.rows('trust'))[0]).toMatchObject({ normal_clean: 0 })
      await decide(system, [two?.id ?? ''], wrong)
      expect((await system.rows('trust'))[0]).toMatchObject({ normal_strikes: 1 })
    })

    test('T14 a new client under the same name is checked as often as a new agent', async () => {
      const system = await proven(() => 0.3)
      const by = (name: string) => ({
        ...sales,
        client: { name, version: '1', transport: 'http' as const },
      })
      await propose(system, {}, by('claude-code'))
      await system.governance.spotChecks.flush()
      await system.db.transact(async (tx) => {
        await tx.run({ sql: 'UPDATE trust SET normal_clean = 9', parameters: [] })
      })
      expect(await readClass(system)).toMatchObject({ checks: { rate: 0.1 } })
      const waited = (await listChecks(system)).length
      await propose(system, {}, by('claude-code'))
      expect(await listChecks(system)).toHaveLength(waited)
      await propose(system, {}, by('other'))
      expect(await listChecks(system)).toHaveLength(waited + 1)
      expect(await readClass(system)).toMatchObject({ credit: { now: 25 }, checks: { rate: 0.5 } })
      expect(await system.entries(['trust.client_seen'])).toHaveLength(2)
    })

    test('T14 calls are checked like proposals, with their arguments', async () => {
      const { tool } = actingTool('crm', 'write')
      const system = await governed(free, { tools: [tool], draw: () => 0 }, await newStore())
      await trusted(system, 0.9)
      await system.call('crm_write', { path: '/a', text: 'hello' })
      const [found] = await listChecks(system)
      expect(await system.governance.inbox.detail(anna, found?.id ?? '')).toMatchObject({
        kind: 'spot_check',
        action: 'crm_write',
        target: '/a',
        change: { path: '/a', text: 'hello' },
        expires_at: null,
        check: {
          call: expect.any(String),
          record: [{ type: 'call.started' }, { type: 'call.done', outcome: 'done' }],
        },
      })
    })
  })

  describe('a mistake', () => {
    test('T14 opens up to ten checks of other autonomous actions as one look-back', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 12)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await listChecks(system)
      expect(await system.governance.inbox.detail(anna, bad?.id ?? '')).toMatchObject({
        check: {
          consequences: {
            wrong:
              'The gate closes: 50 more correct actions before the agent acts alone again. Up to ten other autonomous actions come to you for review.',
          },
        },
      })
      expect(getOutcomes(await decide(system, [bad?.id ?? ''], wrong))).toMatchObject([
        { status: 'rejected', look_back: 10, trust: { from: 0.9, to: 0.82 } },
      ])
      const rows = await listChecks(system)
      expect(rows).toHaveLength(10)
      const targets = rows.map(({ target }) => target)
      for (const newest of [11, 10, 9, 8, 7]) expect(targets).toContain(`deal-${newest}`)
      const { items } = await system.governance.inbox.list(anna, { status: 'pending', limit: 99 })
      expect(new Set(items.map((item) => item.look_back)).size).toBe(1)
      expect(new Set(items.map(({ group }) => group)).size).toBe(1)
      expect(await readClass(system)).toMatchObject({
        level: 'supervised',
        credit: { now: -25 },
        strikes: { now: 1, forgiven_after: 15 },
        checks: { unread: 10, look_back: 10 },
      })
      expect(await system.entries(['look_back.opened'])).toMatchObject([
        { actor: { kind: 'system' }, subject: 'sales', data: { count: 10, risk: 'normal' } },
      ])

      await trusted(system, 0.9)
      for (const { id } of rows) await confirm(system, id)
      expect(await readClass(system)).toMatchObject({
        level: 'autonomous',
        credit: { now: 25 },
        checks: { unread: 0, rate: 0.5 },
      })
      isDrawn = false
      expect(await propose(system)).toMatchObject({ mode: 'act' })
      const points = (
        await system.call('cowork_trust_history', { agent_id: 'sales', domain: 'crm' }, anna)
      )['points'] as Said[]
      const marks = points.flatMap(({ mark }) => (mark === undefined ? [] : [mark]))
      expect(marks).toEqual(['opened', 'closed', 'look_back', 'opened'])
      const own = (await system.call('cowork_trust_history', { domain: 'crm' }))['points']
      expect(JSON.stringify(own)).not.toMatch(/mark|look|check/)
      expect(await system.verify()).toMatchObject({ ok: true, problems: [] })
    })

    test('T14 another mistake in the look-back costs twice and opens no second look-back', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 4)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await listChecks(system)
      await decide(system, [bad?.id ?? ''], wrong)
      const [first, ...rest] = await listChecks(system)
      expect(rest).toHaveLength(3)
      expect(getOutcomes(await decide(system, [first?.id ?? ''], wrong))[0]).not.toHaveProperty(
        'look_back',
      )
      expect(await listChecks(system)).toHaveLength(3)
      expect(await readClass(system)).toMatchObject({ credit: { now: -125 }, strikes: { now: 2 } })
    })

    test('T14 ten unread checks keep the gate closed though requests have paid the debt', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 12)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await listChecks(system)
      await decide(system, [bad?.id ?? ''], wrong)
      await earn(system, 50)
      expect(await readClass(system)).toMatchObject({ credit: { now: 25 }, cause: 'unread' })
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
    })

    test('T5 an override without a proposal costs the class and opens a look-back', async () => {
      const system = await proven()
      await actAlone(system, 3)
      await override(system, 'agent_wrong')
      expect(await readClass(system)).toMatchObject({
        credit: { now: -25 },
        kinds: [{ kind: 'update_deal', credit: 5 }],
        checks: { look_back: 3 },
      })
    })

    test('T11 a preference costs 0.01 of the score and no credit', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await listChecks(system)
      const taste = { decision: 'reject', override: { type: 'human_preference' } }
      expect(getOutcomes(await decide(system, [found?.id ?? ''], taste))).toMatchObject([
        { trust: { from: 0.9, to: 0.89 } },
      ])
      expect(await readClass(system)).toMatchObject({ credit: { now: 25 }, checks: { unread: 0 } })
    })

    test('T16 a person forgives with a reason, and credit must be earned again', async () => {
      const system = await proven()
      await override(system, 'agent_wrong')
      const asked = { agent_id: 'sales', domain: 'crm' }
      expect(await system.call('cowork_forgive', asked, anna)).toMatchObject({
        fault: 'invalid_input',
      })
      const given = { ...asked, reason: 'The data was wrong.' }
      expect(await system.call('cowork_forgive', given)).toMatchObject({ fault: 'human_required' })
      const nobody = { ...given, agent_id: 'sale' }
      expect(await system.call('cowork_forgive', nobody, anna)).toMatchObject({
        fault: 'not_found',
        hint: 'List agents and domains with `cowork trust`.',
      })
      expect(await system.rows('trust')).toHaveLength(1)
      await system.call('cowork_forgive', given, anna)
      expect(await readClass(system)).toMatchObject({ credit: { now: 0 }, strikes: { now: 0 } })
      expect(await system.entries(['trust.forgiven'])).toMatchObject([
        { subject: 'sales', data: { risk: 'normal', reason: 'The data was wrong.' } },
      ])
      expect(await system.verify()).toMatchObject({ ok: true, problems: [] })
    })

    test('RS2 T16 a vouched agent needs approval again after its first fault', async () => {
      const system = await governed(free, { draw: () => 0 }, await newStore())
      await trusted(system, 0.9)
      await propose(system)
      const [found] = await listChecks(system)
      const small = { decision: 'reject', override: { type: 'edge_case', severity: 'low' } }
      await decide(system, [found?.id ?? ''], small)
      expect(await fetchTrust(system)).toMatchObject({ trust_level: 0.89, mode: 'suggest' })
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
    })

    test('T16 vouching covers a kind of action without debt, and not one with a debt', async () => {
      const system = await governed(free, {}, await newStore())
      await earn(system, 1)
      await override(system, 'agent_wrong', {
        proposal_id: await proposed(system, { action: 'send_offer' }),
      })
      await trusted(system, 0.9)
      expect(await propose(system)).toMatchObject({ mode: 'act' })
      expect(await readClass(system)).toMatchObject({
        kinds: [
          { kind: 'send_offer', credit: -50, to_go: 55 },
          { kind: 'update_deal', credit: 1, to_go: 0 },
        ],
      })
    })

    test('A3 T14 an answer by an unverified caller changes no credit', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await listChecks(system)
      const nobody = { ...anna, id: 'unverified', verified: false }
      const before = await readClass(system)
      await system.call(
        'cowork_override',
        {
          agent_id: 'sales',
          domain: 'crm',
          action_description: 'x',
          override_type: 'agent_wrong',
          description: 'y',
        },
        nobody,
      )
      expect(await readClass(system)).toMatchObject({
        credit: before.credit,
        strikes: before.strikes,
      })
      expect(found).toBeDefined()
    })

    test('A3 T14 an override by an unverified caller removes no check and prevents no override by a person', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const id = done?.['proposal_id']
      const [found] = await listChecks(system)
      const correction = {
        agent_id: 'sales',
        domain: 'crm',
        action_description: 'x',
        override_type: 'policy_change',
        description: 'y',
        proposal_id: id,
      }
      const nobody = { ...anna, id: 'unverified', verified: false }
      await system.call('cowork_override', correction, nobody)
      expect(await listChecks(system)).toMatchObject([{ id: found?.id }])
      expect(await system.call('cowork_override', correction, nobody)).toMatchObject({
        fault: 'already_decided',
      })
      await override(system, 'agent_wrong', { proposal_id: id })
      expect(await readClass(system)).toMatchObject({ strikes: { now: 1 }, checks: { unread: 0 } })
    })

    test('A3 T14 a look-back includes actions that only an unverified caller overrode', async () => {
      const system = await proven()
      const [first] = await actAlone(system, 2)
      const nobody = { ...anna, id: 'unverified', verified: false }
      await system.call(
        'cowork_override',
        {
          agent_id: 'sales',
          domain: 'crm',
          action_description: 'x',
          override_type: 'policy_change',
          description: 'y',
          proposal_id: first?.['proposal_id'],
        },
        nobody,
      )
      await override(system, 'agent_wrong')
      expect(await readClass(system)).toMatchObject({ checks: { look_back: 2 } })
    })

    test('T14 autonomous actions in other domains do not limit a look-back', async () => {
      const system = await proven()
      await actAlone(system, 3)
      await trusted(system, 0.9, 'sales', 'mail')
      await Promise.all(Array.from({ length: 520 }, () => propose(system, { domain: 'mail' })))
      await override(system, 'agent_wrong')
      expect(await readClass(system)).toMatchObject({ checks: { look_back: 3 } })
    })

    test('T14 any number of reads does not limit a look-back', async () => {
      const system = await proven()
      await actAlone(system, 3)
      const read = {
        type: 'call.done',
        actor: { kind: 'agent', id: 'sales' },
        domain: 'crm',
        data: { effect: 'read' },
      } as const
      await system.ledger.transact(async (tx) => {
        for (let n = 0; n < 10_000; n++) tx.append(read)
      })
      await override(system, 'agent_wrong')
      expect(await readClass(system)).toMatchObject({ checks: { look_back: 3 } })
    })

    test('T5 T13 an override without a proposal costs the class of the last autonomous action', async () => {
      const system = await governed(
        {
          ...free,
          policies: [{ id: 'deals', risk: 'low', rules: [] }],
          mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'deals' }],
        },
        {},
        await newStore(),
      )
      await earn(system, 25)
      await actAlone(system, 3)
      await override(system, 'agent_wrong')
      expect(await readClass(system, 'low')).toMatchObject({
        credit: { now: -25 },
        strikes: { now: 1 },
        checks: { look_back: 3 },
      })
      expect(await readClass(system)).toMatchObject({ strikes: { now: 0 } })
      expect(await propose(system)).toMatchObject({ mode: 'suggest' })
    })
  })

  test('T14 T10 checks left unopened by a crash are opened at the next start', async () => {
    const store = await newStore()
    const first = await openGoverned(free, { draw: () => 1 }, store)
    await earn(first, 25)
    await actAlone(first, 2)
    await first.close()
    const second = await governed(free, { draw: () => 0 }, store)
    await second.governance.spotChecks.catchUp(second.ledger, second.now())
    await second.governance.spotChecks.catchUp(second.ledger, second.now())
    // Both were opened within a millisecond, so their order is undefined.
    const targets = (await listChecks(second)).map(({ target }) => target)
    expect(new Set(targets)).toEqual(new Set(['deal-1', 'deal-0']))
    expect(targets).toHaveLength(2)
  })

  test('T14 actions long before the last start are not drawn again, even with a higher rate', async () => {
    const system = await proven(() => 0.3)
    const setClean = (clean: number) =>
      system.db.transact(async (tx) => {
        await tx.run({ sql: `UPDATE trust SET normal_clean = ${clean}`, parameters: [] })
      })
    await setClean(9)
    await actAlone(system, 3)
    await setClean(0)
    system.move(60_000)
    await system.governance.spotChecks.catchUp(system.ledger, system.now())
    expect(await listChecks(system)).toEqual([])
  })

  test('T14 a check that the store rejected is opened later', async () => {
    const system = await governed(free, { draw: () => 0 }, await newStore())
    await trusted(system, 0.9)
    const rename = (from: string, to: string) =>
      system.db.transact(async (tx) => {
        await tx.run({ sql: `ALTER TABLE ${from} RENAME TO ${to}`, parameters: [] })
      })
    await propose(system)
    await rename('spot_check', 'elsewhere')
    await system.governance.spotChecks.flush()
    await rename('elsewhere', 'spot_check')
    await expect
      .poll(async () => (await system.governance.approvals.countPending())['spot_check'])
      .toBe(1)
  })

  test('RS8 V3 an agent that invents domains reaches its total cap', async () => {
    const system = await governed({}, {}, await newStore())
    const replies = []
    for (let n = 0; n < 202; n++) replies.push(await propose(system, { domain: `invented.d${n}` }))
    expect(replies.filter(({ fault }) => fault === undefined)).toHaveLength(200)
    expect(replies.at(-1)).toMatchObject({
      fault: 'VOLUME_CAP_EXCEEDED',
      hint: expect.stringContaining('authority.agent_volume_cap'),
    })
    expect(await propose(system, {}, support)).not.toHaveProperty('fault')
  })
}
