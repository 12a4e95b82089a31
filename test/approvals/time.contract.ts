import { describe, expect, onTestFinished, test } from 'vitest'
import { createWorld, opening, sales, ttl } from './approvals.fixture.ts'
import type { Engine } from './approvals.fixture.ts'
import { createApprovalStore } from '../../src/approvals/store.ts'

const minute = 60_000
const never = new AbortController().signal

/** The effect of time and restarts on approvals, on both engines. */
export function timeContract(engine: Engine) {
  describe(`approvals over time on ${engine.dialect}`, () => {
    async function begin(settings: { undoHoldMs?: number } = {}) {
      const world = await createWorld(engine)
      let daemon = await world.start(settings)
      onTestFinished(() => daemon.stop())
      return {
        ...world,
        daemon,
        /** Simulates a crash: only committed data is left. */
        async restart() {
          await daemon.stop()
          daemon = await world.start(settings)
          return daemon
        },
      }
    }

    describe('expiry', () => {
      test('P7 an expired request is refused before and after the sweep', async () => {
        const { daemon, move, restart } = await begin()
        // Stops the sweeper.
        await daemon.approvals.close()
        const id = await daemon.open(opening('question'))
        move(ttl.question - minute)
        expect(await daemon.status(id)).toBe('pending')
        move(minute)
        expect(await daemon.status(id)).toBe('expired')
        expect(await daemon.stored(id)).toBe('pending')
        await expect(daemon.decide(id)).rejects.toMatchObject({ code: 'approval_expired' })
        await expect(daemon.hold(id)).rejects.toMatchObject({ code: 'approval_expired' })
        const swept = await restart()
        await expect.poll(() => swept.stored(id)).toBe('expired')
        await expect(swept.decide(id)).rejects.toMatchObject({
          code: 'already_decided',
          details: { status: 'expired' },
        })
        expect(await swept.types(id)).toEqual([
          'approval.requested',
          'answer.dropped',
          'approval.expired',
        ])
      })

      test('P7 an expired call opens a new request, and a kind without a limit never expires', async () => {
        const { daemon, move } = await begin()
        const { approval } = await daemon.pass()
        const lasting = await daemon.open(opening('broken'))
        move(ttl.call)
        expect((await daemon.pass()).approval.id).not.toBe(approval.id)
        move(1000 * ttl.question)
        expect(await daemon.status(lasting)).toBe('pending')
      })
    })

    test('A7 due approvals are deferred decisions first, then expired requests, oldest first', async () => {
      const { daemon, now, move } = await begin()
      await daemon.approvals.close()
      const store = createApprovalStore(engine.dialect)
      expect(await store.nextDueAt(daemon.db)).toBe(Infinity)
      const ask = () => daemon.open(opening('question'))
      const [old, decided, heldOld] = [await ask(), await ask(), await ask()]
      await daemon.decide(decided)
      await daemon.open(opening('broken'))
      move(minute)
      const held = await ask()
      move(1)
      const waiting = await ask()
      const due = (limit = 10) => store.listDue(daemon.db, now(), limit)
      expect(await due()).toEqual([])
      const { until } = await daemon.hold(held)
      expect(await store.nextDueAt(daemon.db)).toBe(until)
      move(minute)
      await daemon.hold(heldOld)
      move(ttl.question - 90_000)
      expect(await due()).toEqual([held, heldOld, old])
      expect(await due(2)).toEqual([held, heldOld])
      await daemon.undo(held)
      expect(await due()).toEqual([heldOld, old])
      move(minute)
      expect(await due()).toEqual([heldOld, old, held, waiting])
    })

    describe('the undo window', () => {
      test('C2 a deferred decision has no effect yet and can be undone', async () => {
        const { daemon } = await begin()
        const id = await daemon.open(opening('question'))
        const { until } = await daemon.hold(id, 'anna', { reason: 'fine' })
        expect(await daemon.approvals.get(id)).toMatchObject({
          status: 'pending',
          deferred: { until, decision: { verdict: 'approve', by: { id: 'anna' }, reason: 'fine' } },
        })
        await daemon.undo(id)
        expect((await daemon.approvals.get(id))?.deferred).toBeUndefined()
        await expect(daemon.undo(id)).rejects.toMatchObject({ code: 'nothing_to_undo' })
        expect(await daemon.types(id)).toEqual([
          'approval.requested',
          'approval.held',
          'approval.undone',
        ])
        expect(await daemon.decide(id, 'ben')).toMatchObject({ status: 'approved' })
        await expect(daemon.undo(id)).rejects.toMatchObject({ code: 'already_decided' })
      })

      test('C2 neither another person nor the agent can override a deferred decision', async () => {
        const { daemon } = await begin()
        const id = await daemon.open(opening('question'))
        await daemon.hold(id, 'anna', { verdict: 'reject' })
        const held = {
          code: 'already_decided',
          message: expect.stringContaining('anna'),
          details: { status: 'held', decided_by: 'anna' },
        }
        for (const act of [daemon.hold, daemon.decide, daemon.reject])
          await expect(act(id, 'ben')).rejects.toMatchObject(held)
        await expect(daemon.withdraw(id)).rejects.toMatchObject(held)
      })

      test('C2 a deferred decision is applied when it is due', async () => {
        const { daemon } = await begin({ undoHoldMs: 30 })
        const [one, two] = [
          await daemon.open(opening('question')),
          await daemon.open(opening('plan')),
        ]
        await daemon.hold(one, 'anna', { verdict: 'reject', reason: 'no' })
        await daemon.hold(two, 'anna', { change: { to: 'b' } })
        await expect.poll(() => daemon.status(one)).toBe('rejected')
        await expect.poll(() => daemon.status(two)).toBe('approved')
        expect(await daemon.approvals.get(one)).toMatchObject({ decidedBy: 'anna', reason: 'no' })
        expect(await daemon.approvals.get(two)).toMatchObject({ approved: { to: 'b' } })
        expect(await daemon.types(one)).toEqual([
          'approval.requested',
          'approval.held',
          'answer.given',
          'approval.rejected',
        ])
      })

      test('A7 the next daemon applies a deferred decision once after a restart', async () => {
        const { daemon, move, restart, start } = await begin()
        const ids = [await daemon.open(opening('question')), await daemon.open(opening('question'))]
        for (const id of ids) await daemon.hold(id)
        const next = await restart()
        expect((await next.approvals.get(ids[0] ?? ''))?.deferred).toBeDefined()
        move(minute)
        const after = await restart()
        const twin = engine.dialect === 'postgres' ? await start() : after
        for (const id of ids) {
          await expect.poll(() => after.status(id)).toBe('approved')
          const types = await twin.types(id)
          expect(types.filter((type) => type === 'approval.approved')).toHaveLength(1)
          expect(types.filter((type) => type === 'answer.given')).toHaveLength(1)
        }
        if (twin !== after) await twin.stop()
      })

      test('P7 a decision made in time counts even if it is applied after the expiry', async () => {
        const { daemon, move, restart } = await begin()
        await daemon.approvals.close()
        const id = await daemon.open(opening('question'))
        move(ttl.question - 1000)
        await daemon.hold(id)
        move(minute)
        expect(await daemon.status(id)).toBe('pending')
        const next = await restart()
        await expect.poll(() => next.status(id)).toBe('approved')
      })

      test('P7 a request undone after its expiry expires', async () => {
        const { daemon, move } = await begin()
        await daemon.approvals.close()
        const id = await daemon.open(opening('question'))
        move(ttl.question - 1000)
        await daemon.hold(id)
        move(minute)
        await daemon.undo(id)
        expect(await daemon.status(id)).toBe('expired')
      })

      test('A4 a deferred approval counts as one of the required approvals', async () => {
        const { daemon } = await begin({ undoHoldMs: 30 })
        const id = await daemon.open({ ...opening('question'), requiredApprovals: 2 })
        await daemon.hold(id, 'anna')
        await expect.poll(() => daemon.approvals.votes(id)).toEqual(['anna'])
        expect(await daemon.approvals.get(id)).not.toHaveProperty('deferred')
        await daemon.hold(id, 'ben')
        await expect.poll(() => daemon.status(id)).toBe('approved')
        expect(await daemon.types(id)).toEqual([
          'approval.requested',
          'approval.held',
          'approval.voted',
          'approval.held',
          'answer.given',
          'approval.approved',
        ])
      })

      test('A7 a deferred decision that cannot be applied is undone', async () => {
        const { daemon } = await begin({ undoHoldMs: 30 })
        const id = await daemon.open(opening('broken'))
        await daemon.hold(id)
        await expect
          .poll(() => daemon.types(id))
          .toEqual(['approval.requested', 'approval.held', 'approval.undone'])
        expect(await daemon.approvals.get(id)).not.toHaveProperty('deferred')
        expect(await daemon.status(id)).toBe('pending')
      })
    })

    test('A7 a restart keeps pending requests, votes and decisions', async () => {
      const { daemon, restart } = await begin()
      const waiting = await daemon.open(opening('question'))
      const voted = await daemon.open({ ...opening('question'), requiredApprovals: 2 })
      await daemon.decide(voted, 'anna')
      const { approval: call } = await daemon.pass({ to: 'c' })
      await daemon.decide(call.id)
      const denied = await daemon.open(opening('plan'))
      await daemon.reject(denied)
      const plan = await daemon.open(opening('plan', { to: 'p' }))
      await daemon.decide(plan)
      const token = (await daemon.approvals.get(plan))?.token?.value ?? ''
      const next = await restart()
      expect(await next.status(waiting)).toBe('pending')
      expect(await next.status(denied)).toBe('rejected')
      expect(await next.decide(voted, 'ben')).toMatchObject({ status: 'approved' })
      expect(await next.resume(call.id)).toMatchObject({
        as: 'claimed',
        approval: { id: call.id },
      })
      expect(await next.redeem(token, { to: 'p' })).toMatchObject({ status: 'consumed' })
    })

    describe('withdrawing', () => {
      test('P8 an agent withdraws its own undecided request', async () => {
        const { daemon } = await begin()
        const id = await daemon.open(opening('question'))
        await expect(daemon.withdraw(id, { ...sales, id: 'support' })).rejects.toMatchObject({
          code: 'not_found',
        })
        await daemon.withdraw(id)
        expect(await daemon.status(id)).toBe('withdrawn')
        for (const late of [daemon.withdraw(id), daemon.decide(id)])
          await expect(late).rejects.toMatchObject({ code: 'already_decided' })
        expect(await daemon.types(id)).toEqual([
          'approval.requested',
          'answer.dropped',
          'approval.withdrawn',
        ])
        const done = await daemon.open(opening('question'))
        await daemon.decide(done)
        await expect(daemon.withdraw(done)).rejects.toMatchObject({ code: 'already_decided' })
      })
    })

    describe('a revoked agent', () => {
      test('I4 A2 pending, deferred and approved requests are withdrawn', async () => {
        const { daemon } = await begin()
        const ids = await daemon.db.transact(async (tx) => {
          const made: string[] = []
          for (let i = 0; i < 1100; i++) {
            const { id } = await daemon.approvals.open(
              tx,
              sales,
              'c',
              opening('call', { to: `${i}` }),
            )
            made.push(id)
          }
          return made
        })
        const [held = '', approved = '', claimed = '', denied = ''] = ids
        const other = await daemon.open(opening('call'), { ...sales, id: 'support' })
        await daemon.hold(held)
        await daemon.decide(approved)
        await daemon.decide(claimed)
        expect(await daemon.resume(claimed)).toMatchObject({ as: 'claimed' })
        await daemon.reject(denied)
        const by = { id: 'call-9', caller: { ...sales, kind: 'human', id: 'anna' } as const }
        await daemon.db.transact(async (tx) => {
          await daemon.approvals.withdrawAll(tx, { kind: 'call', requester: 'sales' }, by)
          await daemon.approvals.withdrawApprovedCalls(tx, 'sales', by)
        })
        const left = await daemon.approvals.list({ statuses: ['pending', 'approved'], limit: 2000 })
        expect(left.map(({ id }) => id)).toEqual([other])
        expect(await daemon.status(claimed)).toBe('consumed')
        expect(await daemon.status(denied)).toBe('rejected')
        expect(await daemon.approvals.get(approved)).toMatchObject({
          status: 'withdrawn',
          decidedBy: 'anna',
        })
        expect(await daemon.types(held)).toContain('approval.withdrawn')
        expect((await daemon.types(approved)).slice(-2)).toEqual([
          'approval.approved',
          'approval.withdrawn',
        ])
        expect(await daemon.types(claimed)).not.toContain('approval.withdrawn')
      })

      test('A2 a new agent with the same id inherits no earlier decision', async () => {
        const { daemon, now, move } = await begin()
        const yes = await daemon.open(opening('call', { to: 'yes' }))
        const no = await daemon.open(opening('call', { to: 'no' }))
        await daemon.decide(yes)
        await daemon.reject(no)
        move(1000)
        const next = { ...sales, since: now() }
        for (const to of ['yes', 'no'])
          expect(await daemon.pass({ to }, next)).toMatchObject({ as: 'waiting' })
        await expect(daemon.withdraw(yes, next)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('I4 A2 P8 a new agent owns its first request even if the clock of the daemon that added it is ahead', async () => {
        const { daemon, now, move } = await begin()
        const since = now() + minute
        const next = { ...sales, since }
        const { approval } = await daemon.pass({ to: 'c' }, next)
        expect(await daemon.pass({ to: 'c' }, next)).toMatchObject({
          as: 'waiting',
          approval: { id: approval.id },
        })
        const mine = { requester: 'sales', since, limit: 10 }
        expect(await daemon.approvals.list(mine)).toMatchObject([{ id: approval.id }])
        await daemon.decide(approval.id)
        expect(await daemon.resume(approval.id, {}, next)).toMatchObject({ as: 'claimed' })
        await daemon.withdraw(await daemon.open(opening('question'), next), next)
        // It expires like other requests.
        const late = await daemon.open(opening('question'), next)
        move(ttl.question)
        expect(await daemon.status(late)).toBe('expired')
      })
    })

    describe('waiting', () => {
      test('A6 a decision in any process wakes waiting calls', async () => {
        const { daemon, start } = await begin()
        const twin = engine.dialect === 'postgres' ? await start() : daemon
        const [one, two] = [
          await daemon.open(opening('question')),
          await daemon.open(opening('question')),
        ]
        const waits = [one, one, two].map((id) =>
          daemon.approvals.waitUntilFinished(id, 600_000, never),
        )
        await twin.decide(one)
        expect(await Promise.all(waits.slice(0, 2))).toMatchObject([
          { status: 'approved' },
          { status: 'approved' },
        ])
        await twin.withdraw(two)
        expect(await waits[2]).toMatchObject({ status: 'withdrawn' })
        if (twin !== daemon) await twin.stop()
      })

      test('A6 a wait ends immediately if the approval is decided or the caller is gone', async () => {
        const { daemon } = await begin()
        const id = await daemon.open(opening('question'))
        const gone = new AbortController()
        const wait = daemon.approvals.waitUntilFinished(id, 600_000, gone.signal)
        gone.abort()
        expect(await wait).toMatchObject({ status: 'pending' })
        expect(await daemon.approvals.waitUntilFinished(id, 1, never)).toMatchObject({
          status: 'pending',
        })
        await daemon.decide(id)
        expect(await daemon.approvals.waitUntilFinished(id, 600_000, never)).toMatchObject({
          status: 'approved',
        })
        const last = await daemon.open(opening('question'))
        const ended = daemon.approvals.waitUntilFinished(last, 600_000, never)
        await daemon.approvals.close()
        expect(await ended).toMatchObject({ status: 'pending' })
      })
    })

    test('A11 while the ledger cannot be written, no decision is made or stored', async () => {
      const { daemon, move } = await begin()
      const id = await daemon.open(opening('question'))
      const { approval: call } = await daemon.pass({ to: 'c' })
      await daemon.decide(call.id)
      const before = await daemon.entries()
      // The ledger refuses entries dated before its latest entry.
      move(-10 * minute)
      const code = 'clock_went_back'
      for (const act of [daemon.decide, daemon.reject, daemon.hold])
        await expect(act(id)).rejects.toMatchObject({ code })
      await expect(daemon.withdraw(id)).rejects.toMatchObject({ code })
      await expect(daemon.open(opening('question'))).rejects.toMatchObject({ code })
      move(10 * minute)
      expect(await daemon.status(id)).toBe('pending')
      expect(await daemon.status(call.id)).toBe('approved')
      expect(await daemon.entries()).toEqual(before)
      expect(await daemon.decide(id)).toMatchObject({ status: 'approved' })
    })
  })
}
