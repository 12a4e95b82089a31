import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { asked, decided, hang, lookedBack, startReceiver, status } from './notify.fixture.ts'
import type { Delivery } from '../../../src/approvals/notify/model.ts'
import { markSending } from '../../../src/approvals/notify/rules.ts'
import type { NotifyDeps } from '../../../src/approvals/notify/service.ts'
import { createSetup } from './service.fixture.ts'
import type { Engine } from './service.fixture.ts'

const minute = 60_000
const day = 86_400_000

/** Notifications on both engines. */
export function notifyContract(engine: Engine) {
  const setup = createSetup(engine)

  describe(`notifications on ${engine.dialect}`, () => {
    test('A10 a request and its decision are posted once each, in ledger order', async () => {
      const { start, ask, ledger, statuses } = await setup()
      const receiver = await startReceiver()
      start([receiver.channel('ops'), { id: 'desk', type: 'desktop' }])
      await ask('p1', { risk: 'high' })
      await expect.poll(() => receiver.got.length).toBe(1)
      await ledger.record(asked('p2', { outcome: 'act' }))
      await ledger.record(decided('p1', 'approval.rejected'))
      await expect.poll(() => receiver.got.length).toBe(2)
      const [question, answer] = receiver.got.map((got) => got.verify())
      expect(question).toMatchObject({
        type: 'approval.requested',
        data: {
          approval_id: 'p1',
          agent: 'sales',
          risk: 'high',
          status: 'pending',
          review_url: 'http://localhost:8765/inbox/p1',
        },
      })
      expect(answer).toMatchObject({
        type: 'approval.decided',
        data: { status: 'rejected', decided_by: 'anna' },
      })
      await expect.poll(statuses).toEqual(['sent', 'sent'])
    })

    test('A10 T14 a look-back is sent once, to the channels of its spot checks, and not for the past', async () => {
      const { start, ledger, time, statuses } = await setup()
      const [ops, others] = [await startReceiver(), await startReceiver()]
      const channels = [ops.channel('ops'), others.channel('others')]
      const rules = [{ kinds: ['spot_check' as const], channels: ['ops'], escalate_to: [] }]
      const first = start(channels, { rules })
      await ledger.record(lookedBack())
      await expect.poll(statuses).toEqual(['sent'])
      expect(ops.got.map((got) => got.verify())).toEqual([
        {
          type: 'look_back.opened',
          timestamp: expect.any(String),
          data: {
            look_back: 'l1',
            agent: 'sales',
            domain: 'crm',
            risk: 'normal',
            count: 10,
            review_url: 'http://localhost:8765/inbox',
          },
        },
      ])
      await first.close()
      await ledger.record(lookedBack())
      time.move(2 * day)
      start(channels, { rules })
      await ledger.record(lookedBack())
      await expect.poll(statuses).toEqual(['sent', 'sent'])
      expect(others.got).toEqual([])
    })

    test('A10 the first start sends nothing of the past, and a restart neither repeats nor loses notifications', async () => {
      const { start, ask, statuses } = await setup()
      const receiver = await startReceiver()
      const sentIds = () => receiver.got.map((got) => got.verify().data.approval_id)
      await ask('past')
      const first = start([receiver.channel('ops')])
      await ask('p1')
      await expect.poll(statuses).toEqual(['sent'])
      await first.close()
      await ask('p2')
      start([receiver.channel('ops')])
      await ask('p3')
      await expect.poll(statuses).toEqual(['sent', 'sent', 'sent'])
      expect(sentIds().toSorted()).toEqual(['p1', 'p2', 'p3'])
    })

    test('A10 the next daemon sends interrupted deliveries with the same id', async () => {
      const { start, ask, statuses } = await setup()
      const receiver = await startReceiver(hang)
      const first = start([receiver.channel('ops')])
      for (const id of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']) await ask(id)
      await expect.poll(() => receiver.got.length).toBe(4)
      await first.close()
      expect(await statuses()).toEqual(Array(6).fill('pending'))
      receiver.answer(status(200))
      start([receiver.channel('ops')])
      await expect.poll(statuses).toEqual(Array(6).fill('sent'))
      expect(receiver.got).toHaveLength(10)
      expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(6)
    })

    test('A10 a delivery claimed by a crashed daemon is sent a minute later', async () => {
      const { start, ask, db, store, statuses, time } = await setup()
      const receiver = await startReceiver(hang)
      const first = start([receiver.channel('ops')])
      await ask('p1')
      await expect.poll(() => receiver.got.length).toBe(1)
      await first.close()
      const [left] = await store.list(db, 'pending', 1)
      const held = markSending(left as Delivery, time.now())
      expect(await db.transact((tx) => store.replaceIfUnchanged(tx, left as Delivery, held))).toBe(
        true,
      )
      receiver.answer(status(200))
      start([receiver.channel('ops')])
      time.move(minute - 1)
      await ask('p2')
      await expect.poll(() => receiver.got.length).toBe(2)
      expect(receiver.got[1]?.id).not.toBe(left?.id)
      time.move(1)
      await expect.poll(statuses).toEqual(['sent', 'sent'])
      expect(receiver.got[2]?.id).toBe(left?.id)
    })

    test('A10 a sender does not change a delivery claimed by another sender', async () => {
      const { db, store, ask, start, time } = await setup()
      const receiver = await startReceiver(hang)
      const service = start([receiver.channel('ops')])
      await ask('p1')
      await expect.poll(() => receiver.got.length).toBe(1)
      const [held] = (await store.list(db, 'pending', 1)) as [Delivery]
      const stolen = markSending(held, time.now() + minute)
      expect(await db.transact((tx) => store.replaceIfUnchanged(tx, held, stolen))).toBe(true)
      time.move(10_000)
      await service.close()
      expect(await store.find(db, held.id)).toEqual(stolen)
    })

    test('A10 two daemons post each notification once', async () => {
      const { start, ask, other, statuses } = await setup()
      const receiver = await startReceiver(hang)
      const askMany = (name: string) =>
        Promise.all(Array.from({ length: 40 }, (_, i) => ask(`${name}${i}`)))
      const before = start([receiver.channel('ops')])
      await askMany('left')
      await expect.poll(statuses).toHaveLength(40)
      await expect.poll(() => receiver.got.length).toBe(4)
      await before.close()

      // Both find the same forty deliveries, and each wakes its own follower.
      receiver.got.length = 0
      receiver.answer(status(200))
      start([receiver.channel('ops')])
      start([receiver.channel('ops')], other)
      await askMany('new')
      await expect.poll(statuses).toEqual(Array(80).fill('sent'))
      const sentIds = receiver.got.map((got) => got.verify().data.approval_id)
      expect(sentIds).toHaveLength(80)
      expect(new Set(sentIds).size).toBe(80)
    })

    test('A10 a failed delivery is retried with backoff and the same id until it succeeds', async () => {
      const { start, ask, statuses, store, db, time } = await setup()
      const receiver = await startReceiver((response, nth, request) =>
        status(nth < 3 ? 500 : 200)(response, nth, request),
      )
      start([receiver.channel('ops')])
      await ask('p1')
      for (const [tries, pause] of [
        [1, 5000],
        [2, 30_000],
      ] as const) {
        const nextAt = time.now() + pause
        await expect
          .poll(() => store.list(db, undefined, 9))
          .toMatchObject([{ attempts: tries, lastError: 'receiver returned HTTP 500', nextAt }])
        time.move(pause - 1)
        expect(receiver.got).toHaveLength(tries)
        time.move(1)
      }
      await expect.poll(statuses).toEqual(['sent'])
      const [first, , third] = receiver.got
      expect(third?.id).toBe(first?.id)
      expect(third?.body).toBe(first?.body)
      expect(third?.verify()).toEqual(first?.verify())
      expect(third?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp'])
    })

    test('A10 a dead delivery is stored, recorded once, and sent when a person retries it', async () => {
      const { start, ask, ledger, db, store, statuses, logged } = await setup()
      const receiver = await startReceiver(status(410))
      const service = start([receiver.channel('ops')])
      await ask('p1')
      await expect.poll(statuses).toEqual(['dead'])
      const [dead] = await service.list('dead', 10)
      const recorded = await ledger.find({ types: ['delivery.'], limit: 9 })
      expect(recorded).toEqual([
        expect.objectContaining({
          type: 'delivery.failed',
          actor: { kind: 'system', id: 'cowork' },
          subject: dead?.id,
          ids: { approval: 'p1' },
          data: { channel: 'ops', attempts: 1, error: 'receiver returned HTTP 410' },
        }),
      ])
      expect(logged.filter((line) => line.includes('delivery failed permanently'))).toHaveLength(1)
      receiver.answer(status(200))
      const anna = { kind: 'human', id: 'anna', session: 's', verified: true, scopes: [] } as const
      await ledger.transact((tx) => service.retry(tx, dead?.id ?? '', { id: 'c1', caller: anna }))
      await expect.poll(statuses).toEqual(['sent'])
      expect(receiver.got.map(({ id }) => id)).toEqual([dead?.id, dead?.id])
      expect(await store.find(db, dead?.id ?? '')).toMatchObject({ attempts: 1, lastError: null })
    })

    test('A10 a receiver that hangs delays neither other channels nor a decision', async () => {
      const { start, ask, ledger } = await setup()
      const slow = await startReceiver(hang)
      const quick = await startReceiver()
      start([slow.channel('slow'), quick.channel('quick')])
      for (const id of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']) await ask(id)
      await ledger.record(decided('p1'))
      await expect.poll(() => quick.got.length).toBe(7)
      expect(slow.got.length).toBeLessThanOrEqual(4)
    })

    test('A10 rules choose the channels by kind and risk', async () => {
      const { start, ask } = await setup()
      const [ops, pager] = [await startReceiver(), await startReceiver()]
      const rules = [
        { risks: ['high' as const], channels: ['ops', 'pager'], escalate_to: [] },
        { channels: ['ops'], escalate_to: [] },
      ]
      start([ops.channel('ops'), pager.channel('pager')], { rules })
      await ask('p1', { risk: 'low' })
      await ask('p2', { risk: 'high' })
      await expect.poll(() => [ops.got.length, pager.got.length]).toEqual([2, 1])
      expect(pager.got[0]?.verify().data.approval_id).toBe('p2')
    })

    test('A10 sent deliveries are deleted after a week, dead ones after 90 days', async () => {
      const { start, ask, statuses, time } = await setup()
      const receiver = await startReceiver((response, nth, request) =>
        status(nth === 1 ? 200 : 410)(response, nth, request),
      )
      start([receiver.channel('ops')])
      await ask('p1')
      await expect.poll(statuses).toEqual(['sent'])
      await ask('p2')
      await expect.poll(statuses).toEqual(['dead', 'sent'])
      time.move(7 * day)
      await ask('p3')
      await expect.poll(statuses).toEqual(['dead', 'dead', 'sent'])
      time.move(3_600_000)
      await expect.poll(statuses).toEqual(['dead', 'dead'])
      time.move(83 * day)
      await expect.poll(statuses).toEqual(['dead'])
      time.move(8 * day)
      await expect.poll(statuses).toEqual([])
    })

    test('RS7 L8 erasing deletes the deliveries of an approval, and old finished ones', async () => {
      const { start, ask, ledger, db, store, statuses, time } = await setup()
      const receiver = await startReceiver()
      start([receiver.channel('ops')])
      for (const id of ['p1', 'p2']) await ask(id)
      await expect.poll(statuses).toEqual(['sent', 'sent'])
      const [opened] = await ledger.find({ types: ['proposal.', 'approval.'], limit: 1 })
      const by = { kind: 'human' as const, id: 'anna' }
      await ledger.transact((tx) => ledger.erase(tx, opened?.seq ?? 0, 'asked to', by))
      expect(await store.listAbout(db, ['p1'])).toEqual([])
      expect(await store.listAbout(db, ['p2'])).toHaveLength(1)
      await ledger.eraseBefore(time.now() + 1)
      expect(await statuses()).toEqual([])
    })

    test('A10 without an outside channel nothing runs, and stdout is never a channel', async () => {
      const written = vi.spyOn(process.stdout, 'write')
      onTestFinished(() => written.mockRestore())
      const { start, ask, db, ledger, store } = await setup()
      let asleep = 0
      const sleep: NotifyDeps['sleep'] = async () => void asleep++
      start([{ id: 'desk', type: 'desktop' }], { sleep })
      start([], { sleep })
      await ask('p1')
      const followers = await db.all({ sql: 'select name from ledger_follower', parameters: [] })
      expect([followers, await store.list(db, undefined, 9), asleep]).toEqual([[], [], 0])

      const receiver = await startReceiver(status(410))
      start([receiver.channel('ops')])
      await ask('p2')
      const failed = { types: ['delivery.failed'], limit: 9 }
      await expect.poll(async () => (await ledger.find(failed)).length).toBe(1)
      expect(written).not.toHaveBeenCalled()
    })
  })
}
