import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, opening } from './approvals.fixture.ts'
import type { Daemon, Engine, World } from './approvals.fixture.ts'

const two = { requiredApprovals: 2 }

/** Requests that need several approvals, on both engines. */
export function quorumContract(engine: Engine) {
  describe(`several approvers on ${engine.dialect}`, () => {
    let world: World
    let daemon: Daemon
    beforeAll(async () => {
      world = await createWorld(engine)
      daemon = await world.start({ undoHoldMs: 30 })
    })
    afterAll(() => daemon.stop())

    test('A4 B3 a request that needs several approvals cannot be edited by any approver, deferred or not', async () => {
      const id = await daemon.open(opening('question', { to: 'a' }, two))
      const refused = { code: 'quorum_edit' }
      const change = { to: 'b' }
      await expect(daemon.decide(id, 'anna', { change })).rejects.toMatchObject(refused)
      await expect(daemon.hold(id, 'anna', { change })).rejects.toMatchObject(refused)
      expect(await daemon.decide(id, 'anna')).toMatchObject({ status: 'voted' })
      await expect(daemon.decide(id, 'ben', { change })).rejects.toMatchObject(refused)
      await expect(daemon.hold(id, 'ben', { change })).rejects.toMatchObject(refused)
      expect(await daemon.decide(id, 'ben')).toMatchObject({ status: 'approved' })
      expect((await daemon.approvals.get(id))?.approved).toBeUndefined()
    })

    test('A4 counts only people who can still decide', async () => {
      const id = await daemon.open(opening('question', { to: 'a' }, two))
      await daemon.decide(id, 'ann')
      daemon.leave('ann')
      expect(await daemon.approvals.votes(id)).toEqual([])
      expect(await daemon.decide(id, 'ben')).toMatchObject({
        status: 'voted',
        details: { votes: 1 },
      })
      expect(await daemon.decide(id, 'ann-2')).toMatchObject({ status: 'approved' })
      const entry = (await daemon.entries()).find(
        ({ type, ids }) => type === 'approval.approved' && ids?.approval === id,
      )
      expect(entry?.data).toMatchObject({ votes: ['ben', 'ann-2'] })
    })

    test.each(['approve', 'reject'] as const)(
      'A4 C2 a deferred %s of a removed person is not applied',
      async (verdict) => {
        const id = await daemon.open(opening('question'))
        const who = `eve-${verdict}`
        await daemon.hold(id, who, { verdict })
        daemon.leave(who)
        await expect.poll(() => daemon.types(id)).toContain('approval.undone')
        expect(await daemon.types(id)).toEqual([
          'approval.requested',
          'approval.held',
          'approval.undone',
        ])
        const found = await daemon.approvals.get(id)
        expect(found).toMatchObject({ status: 'pending', decidedBy: null })
        expect(found?.deferred).toBeUndefined()
        expect(await daemon.decide(id, 'ben')).toMatchObject({ status: 'approved' })
      },
    )

    test('A3 a person with the id of the requesting agent can decide', async () => {
      const id = await daemon.open(opening('question'))
      expect(await daemon.decide(id, 'sales')).toMatchObject({ status: 'approved' })
    })

    test('A4 a call with too few approvals for the active rules needs a new approval', async () => {
      const change = { to: 'few' }
      const { approval } = await daemon.pass(change)
      await daemon.decide(approval.id)
      const asked = await daemon.pass(change, undefined, 2)
      expect(asked).toMatchObject({
        as: 'waiting',
        isNew: true,
        approval: { requiredApprovals: 2 },
      })
      expect(await daemon.status(approval.id)).toBe('withdrawn')
      expect((await daemon.types(approval.id)).at(-1)).toBe('approval.withdrawn')
      await daemon.decide(asked.approval.id, 'anna')
      expect(await daemon.pass(change, undefined, 2)).toMatchObject({ as: 'waiting' })
      await daemon.decide(asked.approval.id, 'ben')
      expect(await daemon.pass(change, undefined, 2)).toMatchObject({ as: 'approved' })
    })

    test('A4 B3 an edited call with too few approvals uses the existing pending request', async () => {
      const edited = await daemon.pass({ to: 'before' })
      const { approval } = await daemon.pass({ to: 'after' }, undefined, 2)
      await daemon.decide(edited.approval.id, 'anna', { change: { to: 'after' } })
      const { id } = approval
      expect(await daemon.pass({ to: 'after' }, undefined, 2)).toEqual({
        as: 'waiting',
        approval: expect.objectContaining({ id }),
      })
    })

    test('A4 A15 the runner does not start a call with too few approvals', async () => {
      const { approval } = await daemon.pass({ to: 'waited' })
      await daemon.decide(approval.id)
      expect(await daemon.resume(approval.id, { requiredApprovals: 2 })).toMatchObject({
        as: 'lapsed',
      })
      expect(await daemon.status(approval.id)).toBe('withdrawn')
      const enough = await daemon.pass({ to: 'waited' }, undefined, 2)
      await daemon.decide(enough.approval.id, 'anna')
      await daemon.decide(enough.approval.id, 'ben')
      expect(await daemon.resume(enough.approval.id, { requiredApprovals: 2 })).toMatchObject({
        as: 'claimed',
      })
    })
  })
}
