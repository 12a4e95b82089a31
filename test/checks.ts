// Checks of what agents did alone, and what they lead to, on both engines (T11, T13, T14, T16).
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
  outcomesOf,
  override,
  propose,
  proposed,
  sales,
  support,
  trusted,
  trustOf,
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

/** What people read of one class of risk. */
export async function classOf(to: Governed, risk = 'normal', agent = 'sales'): Promise<Class> {
  const said = await to.call('cowork_standing', { agent_id: agent, domain: 'crm' }, anna)
  const [{ classes } = { classes: [] }] = said['standings'] as {
    classes: (Class & { risk: string })[]
  }[]
  const found = classes.find((one) => one.risk === risk)
  if (!found) throw new Error(`no class ${risk}`)
  return found
}

/** Checks that wait, the oldest first. */
export async function checksOf(to: Governed): Promise<{ id: string; target: string }[]> {
  await to.governance.spotChecks.flush()
  const found = await to.governance.approvals.list({ kind: 'spot_check', limit: 99 })
  return found.filter(({ status }) => status === 'pending').toReversed()
}

/** A person opens it first: only what was looked at counts. */
async function confirm(to: Governed, id: string, by = anna): Promise<Said> {
  await to.governance.inbox.detail(by, id)
  return decide(to, [id], {}, by)
}

const actAlone = async (to: Governed, count: number, more: object = {}) => {
  const said = []
  for (let n = 0; n < count; n++) said.push(await propose(to, { target: `deal-${n}`, ...more }))
  return said
}

/** The number among those of its millisecond that an id carries. */
const placeOf = (id: string) => Number.parseInt(id.slice(15, 18), 16)

export function checksContract(newStore: () => Promise<Store>): void {
  /** An agent that has earned the gate; `draw` says which actions are checked. */
  async function proven(draw: More['draw'] = () => 1, settings: Settings = {}, more: More = {}) {
    const clock = movableClock()
    const system = await governed(
      { ...free, ...settings },
      { draw, ...more },
      await newStore(),
      clock,
    )
    await earn(system, 25)
    expect(await trustOf(system)).toMatchObject({ mode: 'act', to_go: 0 })
    return system
  }

  describe('the gate', () => {
    test('T11 25 right actions open it, 24 do not', async () => {
      const system = await governed(free, {}, await newStore())
      await earn(system, 24)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true, to_go: 1 })
      await earn(system, 1)
      expect(await propose(system)).toMatchObject({ mode: 'act', gated: false })
    })

    test('T13 a new kind of action needs five right ones of its own', async () => {
      const system = await proven()
      const other = { action: 'send_offer' }
      for (let n = 5; n > 0; n--) {
        const said = await propose(system, other)
        expect(said).toMatchObject({ mode: 'suggest', gated: true, to_go: n })
        await approve(system, String(said['proposal_id']))
      }
      expect(await propose(system, other)).toMatchObject({ mode: 'act' })
      expect((await classOf(system)).kinds).toEqual([
        { kind: 'send_offer', credit: 5, to_go: 0 },
        { kind: 'update_deal', credit: 5, to_go: 0 },
      ])
    })

    test('T13 a wrong action that was asked about costs its kind, and no other', async () => {
      const system = await proven()
      const asked = await proposed(system, { action: 'send_offer' })
      await override(system, 'agent_wrong', { proposal_id: asked })
      expect(await classOf(system)).toMatchObject({
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
      'T13 a kind of action keeps its debt when it is spelled otherwise: %j',
      async (action) => {
        const system = await proven()
        const asked = await proposed(system, { action: 'send_offer' })
        await override(system, 'agent_wrong', { proposal_id: asked })
        expect(await propose(system, { action })).toMatchObject({ gated: true, to_go: 55 })
      },
    )

    test('T13 however many kinds an agent invents, they buy nothing and leave nothing behind', async () => {
      const system = await proven()
      for (let n = 0; n < 300; n++)
        expect(await propose(system, { action: `invented_${n}` })).toMatchObject({
          mode: 'suggest',
          to_go: 5,
        })
      expect(await system.rows('trust_kind')).toHaveLength(1)
    })

    test('T11 what a person changed first, or approved unopened among many, is score and no credit', async () => {
      const system = await governed(free, {}, await newStore())
      const [edited, one, two, three] = await Promise.all([1, 2, 3, 4].map(() => proposed(system)))
      await decide(system, [edited ?? ''], { change: { note: 'tomorrow' } })
      expect(await trustOf(system)).toMatchObject({ approvals: 1, to_go: 25 })
      await system.governance.inbox.detail(anna, two ?? '')
      await decide(system, [one ?? '', two ?? ''])
      expect(await trustOf(system)).toMatchObject({ approvals: 3, to_go: 24 })
      await decide(system, [three ?? ''])
      expect(await trustOf(system)).toMatchObject({ approvals: 4, to_go: 23 })
    })

    test('T11 without the gate the modes and promotion are those of the seed', async () => {
      const system = await governed(
        { ...free, 'trust.evidence_gate': false },
        { draw: () => 0 },
        await newStore(),
      )
      await earn(system, 19)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: false })
      expect(await earn(system, 1)).toMatchObject({ trust_level: 0.8, promoted: true })
      expect(await propose(system, { action: 'never_seen' })).toMatchObject({ mode: 'act' })
      // Checks and look-backs go on; what they find closes no gate.
      const [found] = await checksOf(system)
      await decide(system, [found?.id ?? ''], wrong)
      await trusted(system, 0.9)
      expect(await propose(system)).toMatchObject({ mode: 'act' })
    })

    test('T14 without checks nobody acts alone', async () => {
      const system = await governed({ ...free, 'trust.spot_check_rate': 0 }, {}, await newStore())
      await earn(system, 30)
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true, to_go: 0 })
      expect(await classOf(system)).toMatchObject({ cause: 'unchecked' })
    })
  })

  describe('checks', () => {
    test('T14 what is drawn is opened after the answer, and adds no entry', async () => {
      let value = 1
      const system = await proven(() => value)
      const pair = { agent: 'sales', domain: 'crm' }
      const grown = async () => {
        const before = await system.ledger.size()
        await propose(system)
        const unopened = await system.governance.spotChecks.unopened(system.db, pair, 'normal')
        await system.governance.spotChecks.flush()
        const since = await system.ledger.find({ limit: 100, after: before })
        // An earlier read may be recorded as late as this (L12).
        const entries = since.filter(({ data }) => data?.['effect'] !== 'read').length
        return { entries, unopened }
      }
      expect(await grown()).toEqual({ entries: 1, unopened: 0 })
      value = 0
      expect(await grown()).toEqual({ entries: 1, unopened: 1 })
      expect(await checksOf(system)).toHaveLength(1)
    })

    test('T14 a drawn action is answered and recorded like any other', async () => {
      const draws = [0, 1]
      const known = new Map<string, number>()
      const draw = (id: string) => known.get(id) ?? known.set(id, draws.shift() ?? 1).get(id) ?? 1
      const system = await proven(draw)
      const shape = (said: Said) => ({
        ...said,
        action_id: '',
        proposal_id: '',
        message: '',
        next: String(said['next']).replace(String(said['proposal_id']), ''),
      })
      const [one, two] = await actAlone(system, 2, { target: 'same' })
      expect(shape(one ?? {})).toEqual({ ...shape(two ?? {}), volume_remaining: null })
      const entries = await system.entries(['proposal.created'])
      const [last, other] = entries.toReversed()
      expect(Object.keys(last?.data ?? {})).toEqual(Object.keys(other?.data ?? {}))
      expect(await checksOf(system)).toMatchObject([{ target: 'same' }])
      expect(await system.entries(['approval.requested'])).toEqual([])
    })

    test('RS10 T14 the agent sees nothing of a check, before and after it is answered', async () => {
      const system = await proven(() => 0)
      const seen = async () => ({
        trust: await trustOf(system),
        status: await system.call('cowork_status', { include_timeline: false }),
        history: (await system.call('cowork_trust_history', { domain: 'crm' }))['points'],
        list: await system.governance.inbox.list(sales, { status: 'all', limit: 99 }),
      })
      await propose(system)
      const before = await seen()
      const [found] = await checksOf(system)
      const id = found?.id ?? ''
      const without = (said: Awaited<ReturnType<typeof seen>>) =>
        JSON.stringify(said, (key, value: unknown) =>
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

    test('RS10 T14 an answered check shows in no history that the agent reads', async () => {
      let value = 1
      const system = await proven(() => value)
      const asked = await proposed(system, { proposed_change: { owner: 'me' } })
      const [done] = await actAlone(system, 2, { target: 'deal-1' })
      value = 0
      await actAlone(system, 2, { target: 'deal-1' })
      const [right, bad] = await checksOf(system)
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

    test('RS10 T14 no id that the agent is given shows that one was made for a check', async () => {
      const system = await proven(() => 0)
      await propose(system)
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
      onTestFinished(() => void vi.useRealTimers())
      const before = newId()
      await system.governance.spotChecks.flush()
      const after = newId()
      expect(placeOf(after) - placeOf(before)).toBe(1)
      vi.useRealTimers()
      expect(await checksOf(system)).toHaveLength(1)
    })

    test('RS10 T14 who changes clients learns nothing of what is drawn from the number of entries', async () => {
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
      expect(await checksOf(system)).toHaveLength(1)
    })

    test('RS10 T14 the first call of an agent of whom nothing is kept leaves the same entries', async () => {
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
        const checks = await checksOf(system)
        return { entries: (await system.ledger.size()) - before, checks: checks.length }
      }
      const undrawn = await grown(1)
      expect(await grown(0)).toEqual({ ...undrawn, checks: 1 })
    })

    test('T14 a clean one counts for the standing and never for the score', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 5)
      for (const { id } of await checksOf(system)) {
        const said = outcomesOf(await confirm(system, id))
        expect(said).toEqual([{ id, status: 'approved' }])
      }
      expect(await trustOf(system)).toMatchObject({ trust_level: 0.9, approvals: 25 })
      expect(await classOf(system)).toMatchObject({ level: 'autonomous', checks: { rate: 0.1 } })
    })

    test('T14 who confirms without opening it, or skips it, closes it and it counts for nothing', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 2)
      const [one, two] = await checksOf(system)
      await decide(system, [one?.id ?? ''])
      await system.governance.inbox.detail(anna, two?.id ?? '')
      await decide(system, [two?.id ?? ''], { skip: true })
      const [row] = await system.rows('trust')
      expect(row).toMatchObject({ normal_clean: 0 })
      expect(await checksOf(system)).toEqual([])
      const entries = await system.entries(['approval.approved'])
      for (const { data } of entries.slice(-2)) expect(data).toMatchObject({ counted: false })
    })

    test('T11 T14 what was to be skipped is no credit, whatever it was', async () => {
      const system = await governed(free, {}, await newStore())
      await decide(system, [await proposed(system)], { skip: true })
      expect(await classOf(system)).toMatchObject({ credit: { now: 0 } })
    })

    test('T14 six that nobody answers close the gate, answering one opens it', async () => {
      const system = await proven(() => 0)
      // The last of these is drawn, but not opened yet.
      for (const said of await actAlone(system, 6)) expect(said).toMatchObject({ mode: 'act' })
      const closed = await propose(system)
      expect(closed).toMatchObject({ mode: 'suggest', gated: true, to_go: 0 })
      expect(JSON.stringify(closed)).not.toMatch(/unread|spot/)
      const [first] = await checksOf(system)
      expect(await classOf(system)).toMatchObject({
        level: 'supervised',
        cause: 'unread',
        reason: '6 unread checks',
        next: 'answer them to let the agent continue',
      })
      await confirm(system, first?.id ?? '')
      expect(await propose(system)).toMatchObject({ mode: 'act' })
    })

    test('T14 one that has waited for more than three days closes the gate; it does not expire', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await checksOf(system)
      const rest = async (days: number) => {
        system.move(days * day)
        await trusted(system, 0.9)
        const kept = system.governance.approvals.get(found?.id ?? '')
        return { kept: (await kept)?.status, mode: (await propose(system))['mode'] }
      }
      expect(await rest(0.9)).toEqual({ kept: 'pending', mode: 'act' })
      // One right action for each idle day would have to be made up for; vouching covers that.
      expect(await rest(2)).toEqual({ kept: 'pending', mode: 'act' })
      expect(await rest(0.2)).toEqual({ kept: 'pending', mode: 'suggest' })
      expect(await rest(30)).toEqual({ kept: 'pending', mode: 'suggest' })
    })

    test('T14 a clock that is set back pays nothing and opens nothing', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 6)
      const [first] = await checksOf(system)
      await system.governance.inbox.detail(anna, first?.id ?? '')
      const before = await system.rows('trust')
      system.move(-10 * 60_000)
      expect(await propose(system)).toMatchObject({ fault: 'clock_went_back' })
      expect(await decide(system, [first?.id ?? ''])).toMatchObject({ fault: 'clock_went_back' })
      system.move(10 * 60_000)
      expect(await system.rows('trust')).toEqual(before)
      expect(await propose(system)).toMatchObject({ gated: true })
    })

    test('T14 of two reviewers who disagree the first answer counts; a correction after it costs in full', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const [found] = await checksOf(system)
      await confirm(system, found?.id ?? '')
      const second = await decide(system, [found?.id ?? ''], wrong, ben)
      expect(outcomesOf(second)).toMatchObject([{ error: { code: 'already_decided' } }])
      await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      const [row] = await system.rows('trust')
      expect(row).toMatchObject({ normal_credit: -25, normal_strikes: 1, normal_clean: 0 })
    })

    test('T14 a correction of a proposal answers its check, once', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const [found] = await checksOf(system)
      await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      expect(await system.governance.approvals.get(found?.id ?? '')).toMatchObject({
        status: 'withdrawn',
      })
      expect(outcomesOf(await confirm(system, found?.id ?? ''))).toMatchObject([
        { error: { code: 'already_decided' } },
      ])
      expect(await classOf(system)).toMatchObject({ credit: { now: -25 }, checks: { unread: 0 } })
      const again = await override(system, 'agent_wrong', { proposal_id: done?.['proposal_id'] })
      expect(again).toMatchObject({ fault: 'already_decided' })
    })

    test('T14 checks of an agent that was revoked stay, cost when wrong and pay nothing when right', async () => {
      const system = await proven(() => 0)
      await actAlone(system, 2)
      const [one, two] = await checksOf(system)
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

    test('T14 another client under the same name is checked as often as a new agent', async () => {
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
      expect(await classOf(system)).toMatchObject({ checks: { rate: 0.1 } })
      const waited = (await checksOf(system)).length
      await propose(system, {}, by('claude-code'))
      expect(await checksOf(system)).toHaveLength(waited)
      await propose(system, {}, by('other'))
      expect(await checksOf(system)).toHaveLength(waited + 1)
      expect(await classOf(system)).toMatchObject({ credit: { now: 25 }, checks: { rate: 0.5 } })
      expect(await system.entries(['trust.client_seen'])).toHaveLength(2)
    })

    test('T14 calls are checked like proposals, with what they were called with', async () => {
      const { tool } = actingTool('crm', 'write')
      const system = await governed(free, { tools: [tool], draw: () => 0 }, await newStore())
      await trusted(system, 0.9)
      await system.call('crm_write', { path: '/a', text: 'hello' })
      const [found] = await checksOf(system)
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
    test('T14 brings up to ten others that it did alone as one look-back', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 12)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await checksOf(system)
      expect(await system.governance.inbox.detail(anna, bad?.id ?? '')).toMatchObject({
        check: {
          consequences: {
            wrong:
              'The gate closes: 50 more correct actions before the agent acts alone again. Up to ten other autonomous actions come to you for review.',
          },
        },
      })
      expect(outcomesOf(await decide(system, [bad?.id ?? ''], wrong))).toMatchObject([
        { status: 'rejected', look_back: 10, trust: { from: 0.9, to: 0.82 } },
      ])
      const rows = await checksOf(system)
      expect(rows).toHaveLength(10)
      const targets = rows.map(({ target }) => target)
      for (const newest of [11, 10, 9, 8, 7]) expect(targets).toContain(`deal-${newest}`)
      const { items } = await system.governance.inbox.list(anna, { status: 'pending', limit: 99 })
      expect(new Set(items.map((item) => item.look_back)).size).toBe(1)
      expect(new Set(items.map(({ group }) => group)).size).toBe(1)
      expect(await classOf(system)).toMatchObject({
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
      expect(await classOf(system)).toMatchObject({
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

    test('T14 another one in the look-back costs twice and brings no second look-back', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 4)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await checksOf(system)
      await decide(system, [bad?.id ?? ''], wrong)
      const [first, ...rest] = await checksOf(system)
      expect(rest).toHaveLength(3)
      expect(outcomesOf(await decide(system, [first?.id ?? ''], wrong))[0]).not.toHaveProperty(
        'look_back',
      )
      expect(await checksOf(system)).toHaveLength(3)
      expect(await classOf(system)).toMatchObject({ credit: { now: -125 }, strikes: { now: 2 } })
    })

    test('T14 ten unread ones keep the gate closed though asked actions have paid the debt', async () => {
      let isDrawn = false
      const system = await proven(() => (isDrawn ? 0 : 1))
      await actAlone(system, 12)
      isDrawn = true
      await propose(system, { target: 'bad' })
      const [bad] = await checksOf(system)
      await decide(system, [bad?.id ?? ''], wrong)
      await earn(system, 50)
      expect(await classOf(system)).toMatchObject({ credit: { now: 25 }, cause: 'unread' })
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
    })

    test('T5 a correction without a proposal costs the class and brings a look-back', async () => {
      const system = await proven()
      await actAlone(system, 3)
      await override(system, 'agent_wrong')
      expect(await classOf(system)).toMatchObject({
        credit: { now: -25 },
        kinds: [{ kind: 'update_deal', credit: 5 }],
        checks: { look_back: 3 },
      })
    })

    test('T11 a matter of taste costs 0.01 of the score and no credit', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await checksOf(system)
      const taste = { decision: 'reject', override: { type: 'human_preference' } }
      expect(outcomesOf(await decide(system, [found?.id ?? ''], taste))).toMatchObject([
        { trust: { from: 0.9, to: 0.89 } },
      ])
      expect(await classOf(system)).toMatchObject({ credit: { now: 25 }, checks: { unread: 0 } })
    })

    test('T16 a person forgives with a reason, and credit is earned anew', async () => {
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
      expect(await classOf(system)).toMatchObject({ credit: { now: 0 }, strikes: { now: 0 } })
      expect(await system.entries(['trust.forgiven'])).toMatchObject([
        { subject: 'sales', data: { risk: 'normal', reason: 'The data was wrong.' } },
      ])
      expect(await system.verify()).toMatchObject({ ok: true, problems: [] })
    })

    test('RS2 T16 a vouched agent asks again after its first fault', async () => {
      const system = await governed(free, { draw: () => 0 }, await newStore())
      await trusted(system, 0.9)
      await propose(system)
      const [found] = await checksOf(system)
      const small = { decision: 'reject', override: { type: 'edge_case', severity: 'low' } }
      await decide(system, [found?.id ?? ''], small)
      expect(await trustOf(system)).toMatchObject({ trust_level: 0.89, mode: 'suggest' })
      expect(await propose(system)).toMatchObject({ mode: 'suggest', gated: true })
    })

    test('T16 a kind of action that vouching covers needs nothing more, one with a debt does', async () => {
      const system = await governed(free, {}, await newStore())
      await earn(system, 1)
      await override(system, 'agent_wrong', {
        proposal_id: await proposed(system, { action: 'send_offer' }),
      })
      await trusted(system, 0.9)
      expect(await propose(system)).toMatchObject({ mode: 'act' })
      expect(await classOf(system)).toMatchObject({
        kinds: [
          { kind: 'send_offer', credit: -50, to_go: 55 },
          { kind: 'update_deal', credit: 1, to_go: 0 },
        ],
      })
    })

    test('A3 T14 what nobody known answers moves no credit', async () => {
      const system = await proven(() => 0)
      await propose(system)
      const [found] = await checksOf(system)
      const nobody = { ...anna, id: 'unverified', verified: false }
      const before = await classOf(system)
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
      expect(await classOf(system)).toMatchObject({
        credit: before.credit,
        strikes: before.strikes,
      })
      expect(found).toBeDefined()
    })

    test('A3 T14 what nobody known corrects takes no check away, and no correction by a person', async () => {
      const system = await proven(() => 0)
      const [done] = await actAlone(system, 1)
      const id = done?.['proposal_id']
      const [found] = await checksOf(system)
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
      expect(await checksOf(system)).toMatchObject([{ id: found?.id }])
      expect(await system.call('cowork_override', correction, nobody)).toMatchObject({
        fault: 'already_decided',
      })
      await override(system, 'agent_wrong', { proposal_id: id })
      expect(await classOf(system)).toMatchObject({ strikes: { now: 1 }, checks: { unread: 0 } })
    })

    test('A3 T14 a look-back brings what only somebody unknown corrected', async () => {
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
      expect(await classOf(system)).toMatchObject({ checks: { look_back: 2 } })
    })

    test('T14 what it did alone in other domains hides nothing from a look-back', async () => {
      const system = await proven()
      await actAlone(system, 3)
      await trusted(system, 0.9, 'sales', 'mail')
      await Promise.all(Array.from({ length: 520 }, () => propose(system, { domain: 'mail' })))
      await override(system, 'agent_wrong')
      expect(await classOf(system)).toMatchObject({ checks: { look_back: 3 } })
    })

    test('T14 however much it reads, a look-back brings what it did alone', async () => {
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
      expect(await classOf(system)).toMatchObject({ checks: { look_back: 3 } })
    })

    test('T5 T13 a correction without a proposal costs the class in which it last acted alone', async () => {
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
      expect(await classOf(system, 'low')).toMatchObject({
        credit: { now: -25 },
        strikes: { now: 1 },
        checks: { look_back: 3 },
      })
      expect(await classOf(system)).toMatchObject({ strikes: { now: 0 } })
      expect(await propose(system)).toMatchObject({ mode: 'suggest' })
    })
  })

  test('T14 T10 the checks of an action that a crash left unopened are opened at the next start', async () => {
    const store = await newStore()
    const first = await openGoverned(free, { draw: () => 1 }, store)
    await earn(first, 25)
    await actAlone(first, 2)
    await first.close()
    const second = await governed(free, { draw: () => 0 }, store)
    await second.governance.spotChecks.catchUp(second.ledger, second.now())
    await second.governance.spotChecks.catchUp(second.ledger, second.now())
    // Both were opened within a millisecond, so their order says nothing.
    const targets = (await checksOf(second)).map(({ target }) => target)
    expect(new Set(targets)).toEqual(new Set(['deal-1', 'deal-0']))
    expect(targets).toHaveLength(2)
  })

  test('T14 what was done long before the last start is not drawn anew, though more is drawn now', async () => {
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
    expect(await checksOf(system)).toEqual([])
  })

  test('T14 a check that the store did not take is opened when it does', async () => {
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

  test('RS8 V3 an agent that invents domains meets the cap of all its domains', async () => {
    const system = await governed({}, {}, await newStore())
    const said = []
    for (let n = 0; n < 202; n++) said.push(await propose(system, { domain: `invented.d${n}` }))
    expect(said.filter(({ fault }) => fault === undefined)).toHaveLength(200)
    expect(said.at(-1)).toMatchObject({
      fault: 'VOLUME_CAP_EXCEEDED',
      hint: expect.stringContaining('authority.agent_volume_cap'),
    })
    expect(await propose(system, {}, support)).not.toHaveProperty('fault')
  })
}
