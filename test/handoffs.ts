// Guarantees of handoffs, on both engines.
import { describe, expect, onTestFinished, test } from 'vitest'
import { anna, proposal, sales, support } from './acts.ts'
import { movableClock, openGoverned } from './governed.ts'
import type { Governed, Said, Store } from './governed.ts'

export const handoff = (more: object = {}) => ({
  domain: 'crm',
  reason: 'The discount is above what I may give.',
  confidence: 0.4,
  attempted_actions: ['asked the customer', 'looked at the contract'],
  context: { deal: 'deal-1', wanted: 0.3 },
  ...more,
})

export async function handOver(to: Governed, more: object = {}, caller = sales): Promise<string> {
  const result = await to.call('cowork_handoff', handoff(more), caller)
  if (result['fault'] !== undefined) throw new Error(JSON.stringify(result))
  return String(result['handoff_id'])
}

export const resolve = (to: Governed, id: string, more: object = {}): Promise<Said> =>
  to.call('cowork_resolve_handoff', { handoff_id: id, resolution: 'Granted.', ...more }, anna)

export const check = (to: Governed, args: object = {}, caller = sales): Promise<Said> =>
  to.call('cowork_check_handoff', args, caller)

export const toIds = (reply: Said) =>
  (reply['pending_handoffs'] as { handoff_id: string }[]).map(({ handoff_id: id }) => id)

const hour = 3_600_000

export function handoffsContract(create: () => Promise<Store>) {
  async function setup(settings: Record<string, unknown> = {}) {
    const store = await create()
    const clock = movableClock()
    const start = async () => {
      const opened = await openGoverned(settings, {}, store, clock)
      onTestFinished(opened.close)
      return opened
    }
    /** Starts a daemon, lets it send due reminders, and stops it. */
    const restart = async () => (await openGoverned(settings, {}, store, clock)).close()
    return { ...clock, start, restart, system: await start() }
  }

  describe('delivery', () => {
    test('H3 a hand-back repeats until it is acknowledged, also after a restart', async () => {
      const { system, start } = await setup()
      const id = await handOver(system)
      expect(await check(system)).toMatchObject({ count: 0, pending_handoffs: [] })
      await resolve(system, id, { instructions: 'At most 20 %.' })
      const first = await check(system)
      expect(first).toEqual({
        pending_handoffs: [
          {
            handoff_id: id,
            domain: 'crm',
            resolution: 'Granted.',
            resolved_at: expect.stringMatching(/^\d{4}-.*Z$/),
            hand_back: true,
            instructions: 'At most 20 %.',
            original_reason: 'The discount is above what I may give.',
          },
        ],
        pending_instructions: first['pending_handoffs'],
        count: 1,
        acknowledged: [],
      })
      // The agent and the daemon crashed before the agent used the answer.
      const again = await start()
      expect(await check(again)).toEqual(first)
      expect(await check(again, { ack: [id] })).toMatchObject({ count: 0, acknowledged: [id] })
      expect(await check(again, { ack: [id] })).toMatchObject({ count: 0, acknowledged: [id] })
      expect(await again.entries(['handoff.acknowledged'])).toHaveLength(1)
      expect((await again.governance.approvals.get(id))?.status).toBe('consumed')
    })

    test('H3 a proposal with its handoff_id acknowledges it, in the same transaction', async () => {
      const { system } = await setup()
      const id = await handOver(system)
      await resolve(system, id, { hand_back: true })
      const refused = proposal({ handoff_id: id, proposed_change: { text: 'half \ud83d' } })
      expect(await system.call('cowork_propose', refused)).toMatchObject({ fault: 'invalid_input' })
      expect(await check(system)).toMatchObject({ count: 1 })
      const made = await system.call('cowork_propose', proposal({ handoff_id: id }))
      expect(await check(system)).toMatchObject({ count: 0 })
      const [entry] = await system.entries(['handoff.acknowledged'])
      expect(entry?.ids).toMatchObject({ handoff: id, approval: id, proposal: made['proposal_id'] })
    })

    test('H3 a refused proposal, or one before the answer, acknowledges nothing', async () => {
      const { system } = await setup({
        policies: [{ id: 'p', rules: [{ field: 'owner', constraint: 'readonly' }] }],
        mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
      })
      const id = await handOver(system)
      const early = await system.call('cowork_propose', proposal({ handoff_id: id }))
      expect(early).toMatchObject({ status: 'pending' })
      await resolve(system, id, { hand_back: true })
      const blocked = proposal({ handoff_id: id, proposed_change: { owner: 'me' } })
      expect(await system.call('cowork_propose', blocked)).toMatchObject({
        fault: 'policy_blocked',
      })
      expect(await check(system)).toMatchObject({ count: 1 })
    })

    test('H3 a domain filters the list, and no agent gets hand-backs of another', async () => {
      const { system } = await setup()
      const [crm, mail] = [await handOver(system), await handOver(system, { domain: 'mail' })]
      const other = await handOver(system, {}, support)
      for (const id of [crm, mail, other]) await resolve(system, id, { hand_back: true })
      expect(toIds(await check(system))).toEqual([crm, mail])
      expect(toIds(await check(system, { domain: 'mail' }))).toEqual([mail])
      expect(toIds(await check(system, {}, support))).toEqual([other])
      expect(await check(system, { ack: [other, 'nothing'] })).toMatchObject({
        acknowledged: [],
        count: 2,
      })
      expect(await check(system, {}, support)).toMatchObject({ count: 1 })
    })

    test('H3 more than a hundred are counted and listed as earlier ones are acknowledged', async () => {
      const { system } = await setup()
      const ids: string[] = []
      for (let n = 0; n < 102; n++) {
        const id = await handOver(system)
        await resolve(system, id, { hand_back: true })
        ids.push(id)
      }
      const first = await check(system)
      expect(first).toMatchObject({ count: 102 })
      expect(toIds(first)).toHaveLength(100)
      const rest = await check(system, { ack: toIds(first) })
      expect([...toIds(first), ...toIds(rest)].toSorted()).toEqual(ids.toSorted())
    })
  })

  describe('reminders', () => {
    const reminded = async (system: Governed) =>
      (await system.entries(['handoff.reminded'])).map(({ ids }) => ids?.handoff)

    test('H4 there is no reminder before the timeout, and one per timeout afterwards', async () => {
      const { system, restart, move } = await setup()
      const id = await handOver(system)
      move(hour - 60_000)
      await restart()
      expect(await reminded(system)).toEqual([])
      move(60_000)
      // Both would remind, like two daemons on one database.
      await Promise.all([restart(), restart()])
      expect(await reminded(system)).toEqual([id])
      await restart()
      expect(await reminded(system)).toEqual([id])
      // A daemon that was off for long reminds once.
      move(10 * hour)
      await restart()
      expect(await reminded(system)).toEqual([id, id])
      const [, last] = await system.entries(['handoff.reminded'])
      expect(last).toMatchObject({
        actor: { kind: 'system' },
        domain: 'crm',
        ids: { handoff: id, approval: id },
        data: { requester: 'sales', times: 2 },
      })
    })

    test('H4 a resolved or withdrawn handoff has no reminders', async () => {
      const { system, restart, move } = await setup()
      const [done, gone, open] = [
        await handOver(system),
        await handOver(system),
        await handOver(system),
      ]
      await resolve(system, done)
      await system.call('cowork_withdraw', { approval_id: gone })
      move(hour)
      await restart()
      expect(await reminded(system)).toEqual([open])
    })

    test('H4 a running daemon sends reminders', async () => {
      const { system } = await setup({ 'handoff.timeout_seconds': 1 })
      const id = await handOver(system)
      await expect.poll(() => reminded(system)).toContain(id)
    })
  })

  describe('the record', () => {
    test('H6 a follow-up handoff stays in one thread', async () => {
      const { system, move } = await setup()
      const first = await handOver(system)
      await resolve(system, first, { hand_back: true, instructions: 'Ask legal.' })
      move(1000)
      const second = await handOver(system, { parent_handoff_id: first, reason: 'Whom there?' })
      move(1000)
      const third = await handOver(system, { parent_handoff_id: second, reason: 'Out of office.' })
      const alone = await handOver(system)
      const { inbox } = system.governance
      const detail = await inbox.detail(anna, second)
      expect(detail).toMatchObject({
        kind: 'handoff',
        expires_at: null,
        handoff: {
          parent_handoff_id: first,
          proposal_id: null,
          handoff_mode: 'escalate',
          confidence: 0.4,
          attempted_actions: ['asked the customer', 'looked at the contract'],
          context: { deal: 'deal-1', wanted: 0.3 },
          overdue: false,
          reminded: 0,
        },
      })
      expect(detail?.handoff?.thread).toEqual([
        expect.objectContaining({
          handoff_id: first,
          resolution: 'Granted.',
          hand_back: true,
          instructions: 'Ask legal.',
        }),
        { handoff_id: second, reason: 'Whom there?', at: expect.any(String) },
        { handoff_id: third, reason: 'Out of office.', at: expect.any(String) },
      ])
      expect((await inbox.detail(anna, alone))?.handoff?.thread).toHaveLength(1)
      const { items } = await inbox.list(anna, { status: 'all', limit: 10 })
      const group = (id: string) => items.find((item) => item.id === id)?.group
      expect(group(second)).toBe(group(first))
      expect(group(alone)).not.toBe(group(first))
    })

    test('SV9 the view of the COWORK protocol lists handoffs', async () => {
      const { system } = await setup()
      const id = await handOver(system, { handoff_mode: 'review' })
      await resolve(system, id, { hand_back: true })
      expect(await system.rows('handoffs')).toEqual([
        expect.objectContaining({
          id,
          agent_id: 'sales',
          domain: 'crm',
          handoff_mode: 'review',
          status: 'approved',
          resolved_by: 'anna',
        }),
      ])
    })

    test('H5 the packet contains only the last actions of the agent in that domain', async () => {
      const { system } = await setup()
      const made = await system.call('cowork_propose', proposal())
      const log = { action: 'send_mail', target: 'mail-1' }
      await system.call('cowork_log', { domain: 'mail', ...log })
      await system.call('cowork_log', { domain: 'crm', ...log }, support)
      await system.call('cowork_log', { domain: 'crm', ...log, target: 'mail-2' })
      const reply = await system.call('cowork_handoff', handoff())
      expect((reply['context_packet'] as { recent: unknown[] }).recent).toEqual([
        {
          seq: expect.any(Number),
          at: expect.any(String),
          type: 'proposal.created',
          action: 'update_deal',
          subject: 'deal-1',
          outcome: made['mode'],
        },
        expect.objectContaining({ type: 'action.logged', action: 'send_mail', subject: 'mail-2' }),
      ])
    })
  })
}
