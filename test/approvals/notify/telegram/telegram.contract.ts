import { describe, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { lookedBack, startReceiver } from '../notify.fixture.ts'
import type { DecideAs } from '../../../../src/approvals/notify/model.ts'
import type { NotifyDeps } from '../../../../src/approvals/notify/service.ts'
import { createSetup } from '../service.fixture.ts'
import type { Engine } from '../service.fixture.ts'
import { bot, startTelegram } from './telegram.fixture.ts'

const minute = 60_000

const caller = (id: string): Caller => ({
  kind: 'human',
  id,
  session: 's',
  verified: true,
  scopes: ['*'],
  role: 'reviewer',
})

/** The Telegram bot on both engines, against a local Bot API. */
export function telegramContract(engine: Engine) {
  const setup = createSetup(engine)

  async function setupBot(more: Partial<NotifyDeps> = {}) {
    const parts = await setup()
    const { start, ledger, decide: decided } = parts
    const telegram = await startTelegram()
    const decisions: string[] = []
    const decide: DecideAs = async (person, approval, verdict) => {
      decisions.push(`${person} ${verdict} ${approval}`)
      await decided(approval, verdict === 'approve' ? 'approved' : 'rejected')
      return { status: verdict === 'approve' ? 'approved' : 'rejected' }
    }
    const begin = () => start([telegram.channel('phone')], { decide, ...more })
    const service = begin()
    const codeFor = async (person: string, from = service) =>
      (await ledger.transact((tx) => from.bindChat(tx, 'phone', { caller: caller(person) }))).code
    const texts = () => telegram.sent('sendMessage').map(({ chat_id: chat, text }) => [chat, text])
    return {
      ...parts,
      telegram,
      service,
      begin,
      decisions,
      codeFor,
      texts,
      async bind(chat: number, person: string) {
        const before = texts().length
        telegram.write(chat, `/start ${await codeFor(person)}`)
        await expect.poll(() => texts().length).toBe(before + 1)
      },
      /** Presses a button and returns the reply. */
      async press(...given: Parameters<typeof telegram.press>) {
        const id = telegram.press(...given)
        await expect.poll(() => telegram.replyTo(id)).toBeDefined()
        return telegram.replyTo(id)
      },
      recorded: async () =>
        (await ledger.find({ types: ['chat.'], limit: 99 })).map(
          ({ type, subject, actor, data }) => [type, subject, actor.id, data?.['why']],
        ),
    }
  }

  describe(`a Telegram bot on ${engine.dialect}`, () => {
    test('A5 a single-use code valid for ten minutes links a chat to a person', async () => {
      const { telegram, codeFor, texts, recorded, time, db } = await setupBot()
      const used = await codeFor('anna')
      const last = () => texts().at(-1)
      const say = async (chat: number, text: string, ...more: [string?, number?]) => {
        const before = texts().length
        telegram.write(chat, text, ...more)
        await expect.poll(() => texts().length).toBe(before + 1)
      }
      await say(7, `/start ${used}`)
      expect(last()).toEqual([7, expect.stringContaining('linked to anna')])
      await say(8, `/start ${used}`)
      expect(last()).toEqual([8, expect.stringContaining('unknown, used or expired')])
      const group = await codeFor('bob')
      await say(-100, `/start ${group}`, 'supergroup', 9)
      expect(last()).toEqual([-100, expect.stringContaining('private chat')])
      const replaced = await codeFor('bob')
      await say(9, `/start ${group}`)
      expect(last()).toEqual([9, expect.stringContaining('unknown, used or expired')])
      // The open long poll times out, and polling continues after a delay.
      await expect.poll(() => time.waiters(35_000)).toBe(1)
      time.move(10 * minute)
      await expect.poll(() => time.waiters(5000)).toBe(1)
      time.move(5000)
      await say(9, `/start ${replaced}`)
      expect(last()).toEqual([9, expect.stringContaining('unknown, used or expired')])
      await say(9, `/start ${await codeFor('bob')}`)
      expect(last()).toEqual([9, expect.stringContaining('linked to bob')])
      expect(await recorded()).toEqual([
        ['chat.bound', 'anna', 'anna', undefined],
        ['chat.bound', 'bob', 'bob', undefined],
      ])
      const kept = await db.all({ sql: 'SELECT * FROM chat_code', parameters: [] })
      expect(kept).toEqual([])
    })

    test('A5 a person has one chat and a chat one person; /stop or removal of the person unlinks it', async () => {
      const { telegram, bind, ask, texts, recorded, ledger, service } = await setupBot()
      await bind(7, 'anna')
      await bind(8, 'anna')
      await bind(9, 'bob')
      await bind(8, 'carl')
      const before = texts().length
      await ask('p1')
      await expect.poll(() => texts().length).toBe(before + 2)
      expect(
        new Set(
          texts()
            .slice(before)
            .map(([chat]) => chat),
        ),
      ).toEqual(new Set([8, 9]))
      telegram.write(9, '/stop')
      await expect.poll(() => texts().at(-1)?.[1]).toContain('no longer linked')
      const removed = { type: 'person.removed', actor: { kind: 'system', id: 'x' } } as const
      await ledger.record({ ...removed, subject: 'carl' })
      await ask('p2')
      const failed = 'no linked chat (use cowork_bind_chat)'
      await expect
        .poll(() => service.list('pending', 9))
        .toMatchObject([{ approval: 'p2', lastError: failed }])
      expect((await recorded()).slice(-1)).toEqual([
        ['chat.unbound', 'bob', 'bob', 'requested in the chat'],
      ])
    })

    test('A5 T14 an old button of a spot check decides nothing', async () => {
      const { ask, bind, press, decisions } = await setupBot()
      await bind(7, 'anna')
      await ask('c1', { kind: 'spot_check', risk: 'low' })
      expect(await press(7, 'approve:c1')).toBe('Open the inbox to answer this spot check.')
      expect(decisions).toEqual([])
    })

    test('A10 T14 a look-back is one message in the chat', async () => {
      const { ledger, bind, texts } = await setupBot()
      await bind(7, 'anna')
      await ledger.record(lookedBack())
      await expect.poll(texts).toHaveLength(2)
      expect(texts()[1]?.[1]).toMatch(
        /^Review 10 autonomous actions by sales: an earlier action was wrong/,
      )
    })

    test('A5 only low-risk requests have buttons, and a press decides as the person', async () => {
      const { telegram, bind, ask, decisions, press } = await setupBot()
      await bind(7, 'anna')
      const keys = ({ reply_markup: markup }: Record<string, unknown>) =>
        (markup as { inline_keyboard: { callback_data: string }[][] } | undefined)?.inline_keyboard
          .flat()
          .map((one) => one.callback_data)
      const last = () => telegram.sent('sendMessage').at(-1) ?? {}
      for (const [id, risk, kind, expected] of [
        ['p1', 'high', 'call', undefined],
        ['p2', 'normal', 'call', undefined],
        ['p3', 'low', 'permission', undefined],
        ['p4', 'low', 'proposal', ['approve:p4']],
        ['p5', 'low', 'call', ['approve:p5', 'reject:p5']],
      ] as const) {
        const before = telegram.sent('sendMessage').length
        await ask(id, { risk, kind })
        await expect.poll(() => telegram.sent('sendMessage').length).toBe(before + 1)
        expect(keys(last()), id).toEqual(expected)
      }
      expect(await press(7, 'reject:p5')).toBe('Rejected.')
      expect(decisions).toEqual(['anna reject p5'])
      await expect.poll(() => telegram.sent('editMessageText')).toHaveLength(1)
      const [edit] = telegram.sent('editMessageText')
      expect(edit?.text).toContain('Rejected by anna: tool call from sales')
      expect(edit).not.toHaveProperty('reply_markup')
    })

    test('A5 a press in an unlinked chat, above low risk or after the decision only returns an explanation', async () => {
      const { bind, ask, decide, decisions, press, telegram } = await setupBot()
      await bind(7, 'anna')
      await ask('low', { risk: 'low' })
      await ask('risky', { risk: 'normal' })
      await ask('done', { risk: 'low' })
      await decide('done')
      const nobody = 'This chat is not linked to a person and cannot decide.'
      expect(await press(8, 'approve:low')).toBe(nobody)
      // Pressed by another member of a chat, or in a chat that is not the person's own.
      expect(await press(7, 'approve:low', 8)).toBe(nobody)
      expect(await press(-100, 'approve:low', 7)).toBe(nobody)
      expect(await press(7, 'approve:risky')).toBe('Risk above low: decide in the inbox.')
      expect(await press(7, 'approve:done')).toBe('Already decided: Approved by anna.')
      for (const data of ['approve:none', 'approve', 'delete:low', '', 'approve:low; DROP'])
        expect(await press(7, data)).toBe('Unknown request.')
      expect(decisions).toEqual([])
      telegram.update({ callback_query: { id: 5 } })
      telegram.update({ message: 'what' })
      telegram.update({ inline_query: {} })
      expect(await press(7, 'approve:low')).toBe('Approved.')
      expect(decisions).toEqual(['anna approve low'])
    })

    test('A5 a refused or failed decision is reported in the chat', async () => {
      let answers: DecideAs = async () => ({ refused: 'sales may not be decided by a viewer' })
      const { bind, ask, press } = await setupBot({ decide: (...given) => answers(...given) })
      await bind(7, 'anna')
      await ask('p1', { risk: 'low' })
      expect(await press(7, 'approve:p1')).toBe('sales may not be decided by a viewer')
      answers = () => Promise.reject(new Error('disk full'))
      expect(await press(7, 'approve:p1')).toBe('Decision failed: decide in the inbox.')
    })

    test('A5 a message is edited to show who decided, without a new message', async () => {
      const { bind, ask, decide, telegram, statuses } = await setupBot()
      await bind(7, 'anna')
      await bind(8, 'bob')
      await ask('p1', { risk: 'low' })
      await expect.poll(statuses).toEqual(['sent'])
      await decide('p1')
      await expect.poll(statuses).toEqual(['sent', 'sent'])
      expect(telegram.sent('editMessageText').map((one) => one.chat_id)).toEqual([7, 8])
      for (const [key, { text }] of telegram.messages)
        if (Number(key.split(':')[1]) > 2) expect(text).toMatch(/^Approved by anna: /)
      expect(telegram.sent('sendMessage')).toHaveLength(4)
    })

    test('A5 a decision made while the message is sent still edits the message', async () => {
      const { bind, ask, decide, telegram, statuses } = await setupBot()
      await bind(7, 'anna')
      const asked = Promise.withResolvers<void>()
      const answered = Promise.withResolvers<void>()
      telegram.answer(({ method, given }, response) => {
        if (method !== 'sendMessage') return 'usual'
        asked.resolve()
        telegram.messages.set('7:99', given)
        void answered.promise.then(() =>
          response.end(JSON.stringify({ ok: true, result: { message_id: 99 } })),
        )
        return 'silence'
      })
      await ask('p1', { risk: 'low' })
      await asked.promise
      await decide('p1')
      await expect.poll(statuses).toEqual([])
      answered.resolve()
      await expect
        .poll(() => telegram.messages.get('7:99')?.text)
        .toMatch(/^Approved by anna: proposal from sales/)
    })

    test('A10 a retry skips chats that have the message', async () => {
      const { bind, ask, telegram, time, statuses, service } = await setupBot()
      await bind(7, 'anna')
      await bind(8, 'bob')
      telegram.answer(({ method, given }) =>
        method === 'sendMessage' && given.chat_id === 8
          ? { ...telegram.fails(429, 'Too Many Requests'), parameters: { retry_after: 20 } }
          : 'usual',
      )
      await ask('p1')
      const error = 'Telegram returned 429 (Too Many Requests)'
      await expect
        .poll(() => service.list('pending', 9))
        .toMatchObject([{ lastError: error, nextAt: time.now() + 20_000 }])
      telegram.answer(() => 'usual')
      time.move(20_000)
      await expect.poll(statuses).toEqual(['sent'])
      const chatIds = telegram
        .sent('sendMessage')
        .slice(2)
        .map((one) => one.chat_id)
      expect(chatIds).toEqual([7, 8, 8])
    })

    test('A10 a slow Telegram is abandoned before the lease ends', async () => {
      const { bind, ask, telegram, time, service, statuses } = await setupBot()
      for (let chat = 1; chat <= 6; chat++) await bind(chat, `person-${chat}`)
      telegram.answer(({ method }) => {
        if (method === 'sendMessage') time.move(9000)
        return 'usual'
      })
      await ask('p1')
      const error = 'Telegram is slow; remaining chats follow'
      await expect.poll(() => service.list('pending', 9)).toMatchObject([{ lastError: error }])
      time.move(5000)
      await expect.poll(statuses).toEqual(['sent'])
      const chatIds = telegram
        .sent('sendMessage')
        .slice(6)
        .map((one) => one.chat_id)
      expect(new Set(chatIds)).toEqual(new Set([1, 2, 3, 4, 5, 6]))
      expect(chatIds).toHaveLength(6)
    })

    test('A5 unlinked chats get few replies, and a valid code still works', async () => {
      const { telegram, texts, codeFor } = await setupBot()
      const code = await codeFor('anna')
      for (let chat = 1; chat <= 15; chat++) telegram.write(chat, `/start ${chat}`)
      telegram.write(99, `/start ${code}`)
      await expect.poll(() => texts().at(-1)?.[0]).toBe(99)
      expect(texts().map(([chat]) => chat)).toEqual([1, 2, 3, 99])
    })

    test('A10 a chat that blocked the bot is unlinked and recorded', async () => {
      const { bind, ask, telegram, recorded, statuses } = await setupBot()
      await bind(7, 'anna')
      await bind(8, 'bob')
      telegram.answer(({ method, given }) =>
        method === 'sendMessage' && given.chat_id === 7
          ? telegram.fails(403, 'Forbidden: bot was blocked by the user')
          : 'usual',
      )
      await ask('p1')
      await expect.poll(statuses).toEqual(['sent'])
      expect((await recorded()).at(-1)).toEqual([
        'chat.unbound',
        'anna',
        'cowork',
        'the bot cannot write to this chat',
      ])
    })

    test('A10 without a linked chat, a pending request goes to the next chat that is linked', async () => {
      const { bind, ask, telegram, time, statuses, service } = await setupBot()
      await ask('p1')
      const lastError = 'no linked chat (use cowork_bind_chat)'
      await expect.poll(() => service.list('pending', 9)).toMatchObject([{ lastError }])
      await bind(7, 'anna')
      time.move(5000)
      await expect.poll(statuses).toEqual(['sent'])
      expect(telegram.sent('sendMessage').at(-1)?.text).toContain('proposal from sales')
    })

    test('A7 the update offset survives a restart: no update is missed or handled twice', async () => {
      const { bind, ask, press, telegram, service, begin, decisions, db } = await setupBot()
      await bind(7, 'anna')
      await ask('p1', { risk: 'low' })
      await ask('p2', { risk: 'low' })
      expect(await press(7, 'approve:p1')).toBe('Approved.')
      await service.close()
      const missed = telegram.press(7, 'approve:p2')
      begin()
      await expect.poll(() => telegram.replyTo(missed)).toBe('Approved.')
      expect(decisions).toEqual(['anna approve p1', 'anna approve p2'])
      await expect
        .poll(() => db.all({ sql: 'SELECT * FROM chat_place', parameters: [] }))
        .toEqual([{ bot, next: telegram.nextUpdate() }])
    })

    test('A10 one daemon polls for updates', async () => {
      const { other, start, telegram, bind, ask, press, decisions, db } = await setupBot()
      const leads = [await db.isLeader(), await other.db.isLeader()]
      if (other.db !== db) start([telegram.channel('phone')], { ...other })
      await bind(7, 'anna')
      await ask('p1', { risk: 'low' })
      expect(await press(7, 'approve:p1')).toBe('Approved.')
      expect(decisions).toEqual(['anna approve p1'])
      const places = telegram.sent('getUpdates').map((one) => one['offset'])
      expect(new Set(places).size).toBe(places.length)
      expect(leads).toContain(true)
    })

    test('A10 invalid or endless responses of Telegram cause backoff and do not affect other channels', async () => {
      const { start, ask, time, logged, decide } = await setup()
      const telegram = await startTelegram()
      const ops = await startReceiver()
      let kind = 0
      telegram.answer((_, response) => {
        const say = [
          () => telegram.fails(409, 'Conflict: can’t use getUpdates'),
          () => ({ ok: true, result: 'many' }),
          () => void response.end('<html>'),
          () => void response.end('['.repeat(9_000_000)),
          () => void response.destroy(),
        ][kind++]
        return say?.() ?? 'silence'
      })
      start([telegram.channel('phone'), ops.channel('ops')])
      for (const [calls, pause] of [
        [1, 5000],
        [2, 10_000],
        [3, 20_000],
        [4, 40_000],
        [5, 60_000],
      ] as const) {
        await expect.poll(() => telegram.sent('getUpdates').length).toBe(calls)
        // The poller must be asleep before the clock moves.
        await expect.poll(() => time.waiters(pause)).toBe(1)
        time.move(pause)
      }
      await expect.poll(() => telegram.sent('getUpdates').length).toBe(6)
      await ask('p1')
      await decide('p1')
      await expect.poll(() => ops.got.length).toBe(2)
      const warned = logged.filter((line) => line.includes('telegram polling failed'))
      expect(warned).toHaveLength(1)
      expect(warned[0]).toContain('Telegram returned 409')
      expect(logged.join()).not.toMatch(/TEST-token/)
    })
  })
}
