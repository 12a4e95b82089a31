import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, opening } from './approvals.fixture.ts'
import type { Daemon, Engine, World } from './approvals.fixture.ts'

const two = { requiredApprovals: 2 }

/** What holds where several people must agree, and of whose word counts, on both engines. */
export function quorumContract(engine: Engine) {
  describe(`several people on ${engine.dialect}`, () => {
    let world: World
    let daemon: Daemon
    beforeAll(async () => {
      world = await createWorld(engine)
      daemon = await world.start({ undoHoldMs: 30 })
    })
    afterAll(() => daemon.stop())

    test('A4 B3 what several must approve nobody edits: not the first, not the last, not held', async () => {
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

    test('A4 only those count who are still here and may decide', async () => {
      const id = await daemon.open(opening('question', { to: 'a' }, two))
      await daemon.decide(id, 'ann')
      daemon.leave('ann')
      expect(await daemon.approvals.votes(id)).toEqual([])
      expect(await daemon.decide(id, 'ben')).toMatchObject({ status: 'voted', told: { votes: 1 } })
      expect(await daemon.decide(id, 'ann-2')).toMatchObject({ status: 'approved' })
      const entry = (await daemon.entries()).find(
        ({ type, ids }) => type === 'approval.approved' && ids?.approval === id,
      )
      expect(entry?.data).toMatchObject({ votes: ['ben', 'ann-2'] })
    })

    test.each(['approve', 'reject'] as const)(
      'A4 C2 who held back %s and is gone by then has decided nothing',
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

    test('A3 who has the name of the agent that asks is somebody else', async () => {
      const id = await daemon.open(opening('question'))
      expect(await daemon.decide(id, 'sales')).toMatchObject({ status: 'approved' })
    })

    test('A4 what too few approved for the rules of now is not claimed: a person is asked anew', async () => {
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

    test('A4 B3 nor what was edited into it; the one that waits already is asked about', async () => {
      const edited = await daemon.pass({ to: 'before' })
      const { approval } = await daemon.pass({ to: 'after' }, undefined, 2)
      await daemon.decide(edited.approval.id, 'anna', { change: { to: 'after' } })
      const { id } = approval
      expect(await daemon.pass({ to: 'after' }, undefined, 2)).toEqual({
        as: 'waiting',
        approval: expect.objectContaining({ id }),
      })
    })

    test('A4 A15 nor does the runner start it', async () => {
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
