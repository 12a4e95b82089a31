import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toFingerprint } from '../../src/approvals/rules.ts'
import { createWorld, digestFor, opening, sales, ttl } from './approvals.fixture.ts'
import type { Daemon, Engine, World } from './approvals.fixture.ts'
import type { Binding } from '../../src/approvals/service.ts'

const decided = { code: 'already_decided', message: expect.stringContaining('already decided') }
const refusedToken = { code: 'token_refused' }
const minute = 60_000
const all = (count: number, one: string) => Array.from({ length: count }, () => one)

/** Approvals on both engines. */
export function approvalsContract(engine: Engine) {
  describe(`approvals on ${engine.dialect}`, () => {
    let world: World
    let daemon: Daemon
    /**
     * A second process if the engine supports it, otherwise a second caller of the same process.
     */
    let other: Daemon
    beforeAll(async () => {
      world = await createWorld(engine)
      daemon = await world.start()
      other = engine.dialect === 'postgres' ? await world.start() : daemon
    })
    afterAll(async () => {
      if (other !== daemon) await other.stop()
      await daemon.stop()
    })

    describe('opening', () => {
      test('A1 an approval is stored with everything that it covers, and recorded', async () => {
        const id = await daemon.open(opening('question'))
        expect(await daemon.approvals.get(id)).toMatchObject({
          id,
          kind: 'question',
          status: 'pending',
          requester: 'sales',
          domain: 'crm',
          digest: digestFor({ to: 'a' }),
          policyVersion: 'v1',
          risk: 'normal',
          decidedAt: null,
          decidedBy: null,
        })
        const { expiresAt, createdAt } = (await daemon.approvals.get(id)) ?? {}
        expect((expiresAt ?? 0) - (createdAt ?? 0)).toBe(ttl.question)
        const found = (await daemon.entries()).find(({ ids }) => ids?.approval === id)
        expect(found).toMatchObject({
          type: 'approval.requested',
          actor: { id: 'sales' },
          data: { digest: digestFor({ to: 'a' }), policy_version: 'v1', mode: 'suggest' },
        })
      })

      test('A1 an approval may contain any text', async () => {
        const id = await daemon.open(opening('question', { to: 'z', 'odd \0': 'odd \0 \u2028 😀' }))
        const { content } = (await daemon.approvals.get(id)) ?? {}
        expect(content?.change).toEqual({ to: 'z', 'odd \0': 'odd \0 \u2028 😀' })
      })

      test('P5 an automatic approval is decided immediately by trust', async () => {
        const id = await daemon.open({ ...opening('question'), auto: true })
        expect(await daemon.approvals.get(id)).toMatchObject({
          status: 'approved',
          decidedBy: 'trust',
          channel: 'trust',
          expiresAt: null,
        })
        await expect(daemon.decide(id)).rejects.toMatchObject(decided)
      })
    })

    describe('deciding', () => {
      test('T3 only a pending approval can be decided; an unknown one has the same error', async () => {
        const id = await daemon.open(opening('question'))
        expect(await daemon.decide(id)).toMatchObject({ status: 'approved' })
        for (const late of [daemon.decide(id, 'ben'), daemon.reject(id, 'ben')])
          await expect(late).rejects.toMatchObject({
            ...decided,
            details: { status: 'approved', decided_by: 'anna', decided_at: expect.any(String) },
          })
        await expect(daemon.decide('nothing')).rejects.toMatchObject(decided)
        expect(await daemon.types(id)).toEqual([
          'approval.requested',
          'answer.given',
          'approval.approved',
        ])
      })

      test('A3 an agent decides neither its own nor another agent’s request', async () => {
        const id = await daemon.open(opening('question'))
        for (const name of ['anna', 'sales'])
          await expect(
            daemon.decide(id, 'x', { by: { kind: 'agent', id: name } }),
          ).rejects.toMatchObject({
            code: 'human_required',
            message: expect.stringContaining('HumanRequiredError'),
          })
        expect(await daemon.status(id)).toBe('pending')
      })

      test('A4 the required number of different people approves, and one rejection is final', async () => {
        const id = await daemon.open({ ...opening('question'), requiredApprovals: 3 })
        expect(await daemon.decide(id, 'anna')).toMatchObject({ status: 'voted' })
        await expect(daemon.decide(id, 'anna')).rejects.toMatchObject({
          code: 'quorum_same_person',
        })
        expect(await daemon.decide(id, 'ben')).toMatchObject({ status: 'voted' })
        expect(await daemon.approvals.votes(id)).toEqual(['anna', 'ben'])
        expect(await daemon.status(id)).toBe('pending')
        expect(await daemon.decide(id, 'cleo')).toMatchObject({ status: 'approved' })
        const rejected = await daemon.open({ ...opening('question'), requiredApprovals: 2 })
        await daemon.decide(rejected, 'anna')
        expect(await daemon.reject(rejected, 'anna')).toMatchObject({ status: 'rejected' })
        await expect(daemon.decide(rejected, 'ben')).rejects.toMatchObject(decided)
      })

      test('A5 the first of concurrent decisions wins', async () => {
        const id = await daemon.open(opening('question'))
        const made = await Promise.allSettled(
          Array.from({ length: 8 }, (_, i) => {
            const at = i % 2 === 0 ? daemon : other
            return i % 3 === 0 ? at.reject(id, `p${i}`) : at.decide(id, `p${i}`)
          }),
        )
        const won = made.filter(({ status }) => status === 'fulfilled')
        expect(won).toHaveLength(1)
        for (const lost of made)
          if (lost.status === 'rejected') expect(lost.reason).toMatchObject(decided)
        const given = (await daemon.types(id)).filter((type) => type === 'answer.given')
        expect(given).toHaveLength(1)
      })

      test('L1 a decision whose effect fails is rolled back', async () => {
        const id = await daemon.open(opening('broken'))
        await expect(daemon.decide(id)).rejects.toThrow('a bug')
        expect(await daemon.status(id)).toBe('pending')
        expect(await daemon.types(id)).toEqual(['approval.requested'])
      })
    })

    describe('the token of a plan', () => {
      async function approvedPlan(change?: object) {
        const id = await daemon.open(opening('plan', change))
        expect((await daemon.approvals.get(id))?.token).toBeUndefined()
        await daemon.decide(id)
        const token = (await daemon.approvals.get(id))?.token?.value ?? ''
        expect(token).toMatch(/^cwa_[\w-]+_[0-9a-f]{48}$/)
        return { id, token }
      }

      test('A2 an approval creates the token, which works once', async () => {
        const { id, token } = await approvedPlan()
        expect(await daemon.redeem(token)).toMatchObject({ id, status: 'consumed' })
        await expect(daemon.redeem(token)).rejects.toMatchObject(refusedToken)
        expect(await daemon.status(id)).toBe('consumed')
        expect((await daemon.approvals.get(id))?.token).toBeUndefined()
        const refused = await daemon.open(opening('plan'))
        await daemon.reject(refused)
        expect((await daemon.approvals.get(refused))?.token).toBeUndefined()
      })

      test('A2 concurrent uses of a token succeed once', async () => {
        const { token } = await approvedPlan()
        const tries = await Promise.allSettled(
          Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? daemon : other).redeem(token)),
        )
        expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      })

      test('A2 a token is refused for other content, for another agent and when malformed', async () => {
        const { token } = await approvedPlan({ to: 'a', n: 1 })
        const { token: foreign } = await approvedPlan({ to: 'a', n: 2 })
        const tries: [string, object?, string?][] = [
          [token, { to: 'a', n: 2 }],
          [foreign, { to: 'a', n: 1 }],
          [token, { to: 'a', n: 1 }, 'support'],
          [`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`, { to: 'a', n: 1 }],
          [token.slice(0, -1), { to: 'a', n: 1 }],
          ['', { to: 'a', n: 1 }],
          [`cwa_${'x'.repeat(10)}_${'0'.repeat(48)}`, { to: 'a', n: 1 }],
          ["cwa_' OR 1=1 --", { to: 'a', n: 1 }],
        ]
        for (const [given, change, agent] of tries)
          await expect(daemon.redeem(given, change, agent), given).rejects.toMatchObject(
            refusedToken,
          )
        expect(await daemon.redeem(token, { to: 'a', n: 1 })).toMatchObject({ status: 'consumed' })
      })

      test('A2 an expired token is refused', async () => {
        const { token } = await approvedPlan()
        world.move(10 * minute)
        await expect(daemon.redeem(token)).rejects.toMatchObject({
          ...refusedToken,
          message: expect.stringContaining('expired'),
        })
      })
    })

    describe('a call', () => {
      const args = (n: number) => ({ to: `call-${n}` })

      test('A2 a call opens one request and runs once after approval', async () => {
        const first = await daemon.pass(args(1))
        expect(first).toMatchObject({ as: 'waiting', approval: { status: 'pending' }, isNew: true })
        const { id } = first.approval
        const met = { as: 'waiting', approval: expect.objectContaining({ id }) as unknown }
        expect(await daemon.pass(args(1))).toEqual(met)
        await daemon.decide(id)
        expect((await daemon.pass(args(2))).approval.id).not.toBe(id)
        expect(await daemon.pass(args(1))).toMatchObject({ as: 'approved', approval: { id } })
        expect(await daemon.resume(id)).toMatchObject({ as: 'claimed', approval: { id } })
        expect(await daemon.resume(id)).toMatchObject({ as: 'used', approval: { id } })
        expect(await daemon.pass(args(1))).toMatchObject({ as: 'used', approval: { id } })
      })

      test('A15 a repeated call gets the result for an hour after the run, then opens a new request', async () => {
        const { approval } = await daemon.pass(args(11))
        const { id } = approval
        await daemon.decide(id)
        world.move(59 * minute)
        await daemon.resume(id)
        await daemon.keep(id, { status: 'done' })
        world.move(59 * minute)
        expect(await daemon.pass(args(11))).toMatchObject({ as: 'used', approval: { id } })
        world.move(minute)
        expect(await daemon.pass(args(11))).toMatchObject({ as: 'waiting', isNew: true })
      })

      test('A15 a repeated call gets a failure for a minute, then can request a retry', async () => {
        const { approval } = await daemon.pass(args(12))
        const { id } = approval
        await daemon.decide(id)
        await daemon.resume(id)
        await daemon.keep(id, { status: 'failed' })
        expect(await daemon.pass(args(12))).toMatchObject({ as: 'used', approval: { id } })
        world.move(minute)
        expect(await daemon.pass(args(12))).toMatchObject({ as: 'waiting', isNew: true })
      })

      test('A15 one of several concurrent claims succeeds', async () => {
        const { approval } = await daemon.pass(args(3))
        await daemon.decide(approval.id)
        const passages = await Promise.all(
          Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? daemon : other).resume(approval.id)),
        )
        expect(passages.map(({ as }) => as).toSorted()).toEqual(['claimed', ...all(5, 'used')])
      })

      test('A15 a claim succeeds within an hour and only for the requesting agent', async () => {
        const { approval } = await daemon.pass(args(4))
        await daemon.decide(approval.id)
        const support = { ...sales, id: 'support' }
        const stranger = await daemon.pass(args(4), support)
        expect(stranger.approval.id).not.toBe(approval.id)
        await expect(daemon.resume(approval.id, {}, support)).rejects.toMatchObject({
          code: 'not_found',
        })
        world.move(60 * minute)
        expect(await daemon.resume(approval.id)).toMatchObject({ as: 'lapsed' })
        expect((await daemon.pass(args(4))).approval.id).not.toBe(approval.id)
      })

      test.each<[string, Binding, string]>([
        ['another digest', { digest: 'other' }, 'move changed after the approval.'],
        ['another state of its target', { fingerprint: toFingerprint({ a: 2 }) }, 'stale'],
        ['a target that cannot be read any more', {}, 'stale'],
      ])('A15 with %s the call is withdrawn and recorded', async (name, binding, reason) => {
        const change = { to: name }
        const fingerprint = toFingerprint({ a: 1 })
        const id = await daemon.open(opening('call', change, { fingerprint }))
        await daemon.decide(id)
        const same = { digest: digestFor(change), fingerprint }
        const now = 'digest' in binding ? { ...same, ...binding } : { ...binding }
        expect(await daemon.resume(id, now)).toMatchObject({ as: 'lapsed' })
        expect(await daemon.approvals.get(id)).toMatchObject({ status: 'withdrawn', reason })
        const entry = (await daemon.entries()).findLast(({ ids }) => ids?.approval === id)
        expect(entry).toMatchObject({ type: 'approval.withdrawn', data: { why: reason } })
        expect(await daemon.resume(id, same)).toMatchObject({ as: 'lapsed' })
        const again = await daemon.pass(change)
        expect(again).toMatchObject({ as: 'waiting', isNew: true })
        expect('stale' in again).toBe(reason === 'stale')
      })

      test('A15 after an edit to other targets only the common targets are compared', async () => {
        const fingerprint = toFingerprint({ a: 1, b: 1 })
        const resumed = async (now: Record<string, number>) => {
          const id = await daemon.open(opening('call', { to: 'x' }, { fingerprint }))
          await daemon.decide(id, 'anna', { change: { to: 'y' } })
          return (await daemon.resume(id, { fingerprint: toFingerprint(now) })).as
        }
        expect(await resumed({ a: 1, c: 7 })).toBe('claimed')
        expect(await resumed({ a: 2, c: 7 })).toBe('lapsed')
      })

      test('A15 a call without a result from a stopped daemon is unknown, recorded and not run again', async () => {
        const { approval } = await daemon.pass(args(13))
        const { id } = approval
        const dying = await world.start()
        await dying.decide(id)
        expect(await dying.resume(id)).toMatchObject({ as: 'claimed' })
        await dying.stop()
        const unknown = { status: 'consumed', result: { code: 'outcome_unknown' } }
        if (engine.dialect === 'postgres') {
          // Another daemon may be running the call: its lease decides.
          expect((await daemon.approvals.get(id))?.result).toBeUndefined()
          world.move(minute)
        }
        expect(await daemon.approvals.get(id)).toMatchObject(unknown)
        expect(await daemon.pass(args(13))).toMatchObject({ as: 'used', approval: { id } })
        expect(await daemon.resume(id)).toMatchObject({ as: 'used' })
        const restarted = await world.start()
        await expect.poll(() => daemon.types(id)).toContain('approval.unknown')
        expect(await restarted.approvals.get(id)).toMatchObject(unknown)
        await restarted.stop()
        // A daemon that was only slow can still store the result.
        await daemon.keep(id, { status: 'done' })
        expect(await daemon.approvals.get(id)).toMatchObject({ result: { status: 'done' } })
      })

      test('A15 a long-running call is not treated as lost', async () => {
        const { approval } = await daemon.pass(args(14))
        await daemon.decide(approval.id)
        await daemon.resume(approval.id)
        world.move(120 * minute)
        const found = await daemon.approvals.get(approval.id)
        expect(found && daemon.approvals.isRunning(found)).toBe(true)
        expect(found?.result).toBeUndefined()
      })

      test('A15 a failure never replaces a result, and a withdrawn call stores none', async () => {
        const { approval } = await daemon.pass(args(15))
        await daemon.decide(approval.id)
        await daemon.resume(approval.id)
        await daemon.keep(approval.id, { status: 'done' })
        await daemon.keep(approval.id, { status: 'failed' })
        expect((await daemon.approvals.get(approval.id))?.result).toEqual({ status: 'done' })
        const { approval: ended } = await daemon.pass(args(16))
        await daemon.decide(ended.id)
        await daemon.approvals.endApproved(ended.id, 'Not any more.')
        await daemon.keep(ended.id, { status: 'failed' })
        const found = await daemon.approvals.get(ended.id)
        expect(found).toMatchObject({ status: 'withdrawn' })
        expect(found).not.toHaveProperty('result')
      })

      test('A15 a claim that failed in the store does not count as a running call', async () => {
        const { approval } = await daemon.pass(args(17))
        const { id } = approval
        await daemon.decide(id)
        const fails = () => Promise.reject(new Error('disk full'))
        const failing = daemon.db.transact((tx) =>
          daemon.approvals.claimApprovedCall({ ...tx, run: fails }, sales, id),
        )
        await expect(failing).rejects.toThrow('disk full')
        const dying = await world.start()
        expect(await dying.resume(id)).toMatchObject({ as: 'claimed' })
        await dying.stop()
        world.move(minute)
        expect(await daemon.approvals.get(id)).toMatchObject({
          result: { code: 'outcome_unknown' },
        })
      })

      test('A2 a rejected call stays rejected for an hour, then can be requested again', async () => {
        const { approval } = await daemon.pass(args(5))
        await daemon.reject(approval.id)
        expect(await daemon.pass(args(5))).toMatchObject({ as: 'denied' })
        world.move(60 * minute)
        expect((await daemon.pass(args(5))).approval.id).not.toBe(approval.id)
      })

      test('A2 a result is stored for a day', async () => {
        const { approval } = await daemon.pass(args(6))
        await daemon.decide(approval.id)
        await daemon.resume(approval.id)
        const result = { status: 'done', output: { moved: 3 } }
        await daemon.keep(approval.id, result)
        expect(await daemon.approvals.get(approval.id)).toMatchObject({
          status: 'consumed',
          result,
        })
        world.move(24 * 60 * minute)
        const restarted = await world.start()
        await expect
          .poll(async () => (await restarted.approvals.get(approval.id))?.result)
          .toBeUndefined()
        await restarted.stop()
      })

      test('B3 A15 an edited call runs as approved and answers both calls', async () => {
        const asked = { to: 'old', n: 1 }
        const edited = { to: 'new', n: 2 }
        const { approval } = await daemon.pass(asked)
        const { approval: made } = await daemon.decide(approval.id, 'anna', { change: edited })
        expect(made.digest).toBe(digestFor(edited))
        const met = { as: 'approved', approval: { id: approval.id, approved: edited } }
        expect(await daemon.pass(asked)).toMatchObject(met)
        expect(await daemon.pass(edited)).toMatchObject(met)
        const { id } = approval
        expect(await daemon.resume(id, { digest: digestFor(edited) })).toMatchObject({
          as: 'claimed',
        })
        const entry = (await daemon.entries()).findLast(({ ids }) => ids?.approval === approval.id)
        expect(entry?.data).toMatchObject({
          collaborative: true,
          digest: digestFor(edited),
          asked_digest: digestFor(asked),
        })
      })
    })
  })
}
