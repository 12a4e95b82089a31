import { describe, expect, test } from 'vitest'
import { notify } from '../../../src/approvals/config.ts'
import { says, startReceiver, status } from './notify.fixture.ts'
import type { Channel, ApprovalNotification } from '../../../src/approvals/notify/model.ts'
import { createSetup } from './service.fixture.ts'
import type { Engine } from './service.fixture.ts'

const minute = 60_000
const hour = 60 * minute
const quietHours = { from: '22:00', to: '07:00', except_high_risk: true }
const local = (hours: number) => new Date(2026, 5, 15, hours).getTime()

const { rules } = notify.parse({
  rules: [{ channels: ['ops'], escalate_after: '15m', escalate_to: ['pager', 'team'] }],
})

/** Two machine channels and one for people. */
async function receivers() {
  const [ops, pager] = [await startReceiver(), await startReceiver()]
  const slack = await startReceiver(says(200, 'ok'))
  const team: Channel = { type: 'slack', id: 'team', url: slack.url }
  const textOf = (body: string) => (JSON.parse(body) as { text: string }).text.split('\n')
  return {
    ops,
    pager,
    slack,
    team,
    all: [ops.channel('ops'), pager.channel('pager'), team],
    posted: () =>
      [ops, pager].map(({ got }) =>
        got.map((one) => {
          const { type, data } = JSON.parse(one.body) as ApprovalNotification
          return `${data.approval_id} ${type.slice(9)}`
        }),
      ),
    slackTexts: () => slack.got.map(({ body }) => textOf(body)),
  }
}

/** The times of notifications, on both engines. */
export function timingContract(engine: Engine) {
  const setup = createSetup(engine)

  describe(`times of notifications on ${engine.dialect}`, () => {
    test('A10 an overdue decision escalates, also after a restart', async () => {
      const { start, ask, time, statuses, sent } = await setup()
      const { all, posted, slackTexts } = await receivers()
      const first = start(all, { rules })
      await ask('p1', { risk: 'high' })
      await sent(1)
      expect(posted()).toEqual([['p1 requested'], []])
      time.move(15 * minute - 1)
      await first.close()
      expect((await statuses()).toSorted()).toEqual(['pending', 'pending', 'sent'])
      start(all, { rules })
      await ask('p2')
      await expect.poll(() => posted()[0]).toEqual(['p1 requested', 'p2 requested'])
      expect([posted()[1], slackTexts()]).toEqual([[], []])
      time.move(1)
      await expect.poll(() => posted()[1]).toEqual(['p1 escalated'])
      await expect
        .poll(slackTexts)
        .toEqual([
          [
            'Decision overdue: proposal from sales (high risk)',
            'The agent says: Set the stage of deal-7 to won (crm)',
          ],
        ])
    })

    test('A10 an earlier decision cancels the escalation', async () => {
      const { start, ask, decide, time, statuses } = await setup()
      const { all, posted, slackTexts } = await receivers()
      start(all, { rules })
      await ask('p1')
      await expect.poll(statuses).toHaveLength(3)
      await decide('p1', 'rejected')
      await expect.poll(statuses).toEqual(['sent', 'sent'])
      time.move(hour)
      await ask('p2')
      await expect.poll(() => posted()[0]).toHaveLength(3)
      expect(posted()).toEqual([['p1 requested', 'p1 decided', 'p2 requested'], []])
      expect(slackTexts()).toEqual([])
    })

    test('A10 machines that received an escalation receive the decision, people do not', async () => {
      const { start, ask, decide, time, sent } = await setup()
      const { all, posted, slackTexts } = await receivers()
      start(all, { rules })
      await ask('p1')
      await sent(1)
      time.move(15 * minute)
      await expect.poll(() => [posted()[1], slackTexts().length]).toEqual([['p1 escalated'], 1])
      await decide('p1')
      await expect.poll(posted).toEqual([
        ['p1 requested', 'p1 decided'],
        ['p1 escalated', 'p1 decided'],
      ])
      expect(slackTexts()).toHaveLength(1)
    })

    test('A10 at night only high risk is sent; undecided requests follow in the morning', async () => {
      const { start, ask, decide, time, statuses, sent } = await setup(local(23))
      const { ops, team, posted, slackTexts } = await receivers()
      start([ops.channel('ops'), team], { quietHours })
      await ask('high', { risk: 'high' })
      await ask('gone', { summary: 'Decided at night' })
      await ask('left', { summary: 'Left one' })
      await ask('also', { summary: 'Left two' })
      await expect.poll(statuses).toHaveLength(8)
      await sent(2)
      expect([posted()[0], slackTexts().length]).toEqual([['high requested'], 1])
      time.move(hour)
      await decide('gone')
      await expect.poll(statuses).toHaveLength(6)
      time.move(7 * hour - 1)
      await ask('alarm', { risk: 'high' })
      await expect.poll(() => slackTexts().length).toBe(2)
      time.move(1)
      await expect.poll(() => slackTexts().length).toBe(3)
      expect(slackTexts()[2]?.toSorted()).toEqual([
        '2 decisions needed',
        'The agents say:',
        'sales: Left one',
        'sales: Left two',
      ])
      await expect
        .poll(() => posted()[0]?.toSorted())
        .toEqual(['alarm requested', 'also requested', 'high requested', 'left requested'])
      await expect.poll(statuses).toEqual(Array(8).fill('sent'))
    })

    test('A10 a retry in quiet hours is delayed until the morning', async () => {
      const { start, ask, time, store, db } = await setup(local(22) - 1000)
      const { team, slack } = await receivers()
      slack.answer(status(500))
      start([team], { quietHours })
      await ask('p1')
      const rows = () => store.list(db, undefined, 9)
      await expect.poll(rows).toMatchObject([{ attempts: 1, nextAt: local(22) + 4000 }])
      slack.answer(says(200, 'ok'))
      time.move(5000)
      await expect
        .poll(rows)
        .toMatchObject([{ attempts: 1, held: 'quiet', nextAt: local(7) + 24 * hour }])
      expect(slack.got).toHaveLength(1)
      time.move(9 * hour)
      await expect.poll(rows).toMatchObject([{ status: 'sent' }])
    })

    test('A10 low risk is collected: one message for people, separate ones for a machine', async () => {
      const { start, ask, decide, time, statuses, sent } = await setup(
        Date.UTC(2026, 5, 15, 12, 10),
      )
      const { ops, team, posted, slackTexts } = await receivers()
      start([ops.channel('ops'), team], { digest: hour })
      for (const id of ['a', 'b', 'c', 'd']) await ask(id, { risk: 'low', summary: `thing ${id}` })
      await ask('now')
      await sent(2)
      expect([posted()[0], slackTexts().length]).toEqual([['now requested'], 1])
      await decide('d')
      await expect.poll(statuses).toHaveLength(8)
      time.move(50 * minute)
      await expect.poll(() => slackTexts().length).toBe(2)
      expect(slackTexts()[1]?.toSorted()).toEqual([
        '3 decisions needed',
        'The agents say:',
        'sales: thing a',
        'sales: thing b',
        'sales: thing c',
      ])
      await expect
        .poll(() => posted()[0]?.toSorted())
        .toEqual(['a requested', 'b requested', 'c requested', 'now requested'])
    })

    test('A10 an undelivered request to people is dropped after the decision', async () => {
      const { start, ask, decide, time, store, db } = await setup()
      const { team, slack } = await receivers()
      slack.answer(status(500))
      start([team])
      await ask('p1')
      await ask('p2')
      const errors = async () => (await store.list(db, 'pending', 9)).map((row) => row.lastError)
      const error = 'receiver returned HTTP 500'
      await expect.poll(errors).toEqual([error, error])
      await decide('p1')
      await expect.poll(errors).toEqual([error])
      slack.answer(says(200, 'ok'))
      time.move(5000)
      await expect.poll(errors).toEqual([])
      expect(slack.got).toHaveLength(3)
    })

    test('A10 many requests at once are one message for people', async () => {
      const { start, ask, time, statuses } = await setup()
      const { team, slack, slackTexts } = await receivers()
      slack.answer(status(500))
      const first = start([team])
      for (let i = 0; i < 30; i++) await ask(`p${i}`)
      await expect.poll(statuses).toHaveLength(30)
      await first.close()
      slack.got.length = 0
      slack.answer(says(200, 'ok'))
      time.move(hour)
      start([team])
      await expect.poll(statuses).toEqual(Array(30).fill('sent'))
      expect(slackTexts()).toEqual([
        expect.arrayContaining(['30 decisions needed', '10 more in the inbox.']),
      ])
    })
  })
}
