import { expect, onTestFinished, test } from 'vitest'
import { openTestLedger } from '../../../test/ledger.ts'
import type { Caller } from '#base/caller.ts'
import { silentLog } from '#base/log.ts'
import { callTool } from '../../../test/base/tool.fixture.ts'
import type { Tool } from '#base/tool.ts'
import {
  asked,
  described,
  says,
  startReceiver,
  status,
} from '../../../test/approvals/notify/notify.fixture.ts'
import { notifyMigrations } from './migrations.ts'
import type { Channel } from './model.ts'
import { startNotify } from './service.ts'
import { startTelegram } from '../../../test/approvals/notify/telegram/telegram.fixture.ts'
import { notifyTools } from './tools.ts'

const anna: Caller = {
  kind: 'human',
  id: 'anna',
  session: 's1',
  verified: true,
  scopes: ['*'],
  role: 'reviewer',
}

async function setup() {
  const { db, ledger, close } = await openTestLedger(notifyMigrations)
  const receiver = await startReceiver(status(410))
  const start = (id: string, ...more: Channel[]) => {
    const service = startNotify({
      ledger,
      db,
      channels: [receiver.channel(id), ...more],
      rules: [],
      publicUrl: () => 'http://localhost:8765',
      describe: async (_, ids) => new Map(ids.map((one) => [one, described()])),
      decide: async () => ({ refused: 'nobody decides here' }),
      now: Date.now,
      log: silentLog,
    })
    const tools = new Map(notifyTools(service).map((tool) => [tool.name, tool]))
    /** Calls a tool like dispatch: parsed, and a change in one transaction. */
    async function use(name: string, input: unknown): Promise<Record<string, unknown>> {
      const tool = tools.get(name) as Tool
      const { signal } = new AbortController()
      const call = {
        id: 'c1',
        caller: anna,
        signal,
        progress: () => undefined,
        addDetails: () => undefined,
      }
      const given = tool.input.parse(input)
      return tool.output.parse(await callTool(tool, ledger, given, call)) as Record<string, unknown>
    }
    return { service, tools, use }
  }
  onTestFinished(close)
  return { ledger, receiver, start }
}

test('A10 people list deliveries and retry a dead one, which is recorded', async () => {
  const { ledger, receiver, start } = await setup()
  const { service, use } = start('ops')
  await ledger.record(asked('p1'))
  const list = async (input = {}) =>
    (await use('cowork_list_deliveries', input))['deliveries'] as { id: string }[]
  await expect.poll(() => list({ status: 'dead' })).toHaveLength(1)
  const [dead] = await list()
  expect(dead).toEqual({
    id: receiver.got[0]?.id,
    channel: 'ops',
    event: 'approval.requested',
    approval_id: 'p1',
    status: 'dead',
    attempts: 1,
    next_at: null,
    held: null,
    last_error: 'receiver returned HTTP 410',
    created_at: expect.stringMatching(/Z$/),
  })
  expect(await list({ status: 'pending' })).toEqual([])

  receiver.answer(status(200))
  expect(await use('cowork_retry_delivery', { id: dead?.id })).toMatchObject({
    id: dead?.id,
    status: 'pending',
    attempts: 0,
    next_at: expect.stringMatching(/Z$/),
  })
  await expect.poll(() => list({ status: 'sent' })).toHaveLength(1)
  expect(await ledger.find({ types: ['delivery.retried'], limit: 9 })).toEqual([
    expect.objectContaining({
      actor: { kind: 'human', id: 'anna', session: 's1', verified: true },
      subject: dead?.id,
      ids: { call: 'c1', approval: 'p1' },
      data: { channel: 'ops' },
    }),
  ])
  await service.close()
})

test('A10 only a known, dead delivery with a configured channel can be retried', async () => {
  const { ledger, start } = await setup()
  const first = start('ops')
  await ledger.record(asked('p1'))
  await expect.poll(() => first.service.list('dead', 9)).toHaveLength(1)
  const [dead] = await first.service.list('dead', 9)
  await first.service.close()
  const retry = (from: typeof first, id = dead?.id) => from.use('cowork_retry_delivery', { id })
  await expect(retry(first, 'none')).rejects.toMatchObject({ code: 'not_found' })
  const other = start('another')
  await expect(retry(other)).rejects.toMatchObject({ code: 'unknown_channel' })
  await other.service.close()
  await retry(first)
  await expect(retry(first)).rejects.toMatchObject({ code: 'delivery_not_dead' })
  expect(await ledger.find({ types: ['delivery.retried'], limit: 9 })).toHaveLength(1)
})

test('A10 a channel test reports the error', async () => {
  const { receiver, start } = await setup()
  const slack = await startReceiver(says(200, 'ok'))
  const telegram = await startTelegram()
  const { use, service } = start(
    'ops',
    { type: 'slack', id: 'team', url: slack.url },
    { type: 'desktop', id: 'desk' },
    telegram.channel('phone'),
  )
  const check = (id: string) => use('cowork_test_channel', { id })
  expect(await check('ops')).toEqual({ ok: false, reason: 'receiver returned HTTP 410' })
  expect(await check('team')).toEqual({ ok: true })
  expect(JSON.parse(slack.got[0]?.body ?? '')).toMatchObject({
    text: 'cowork test notification\nThis channel works. Requested by anna.',
  })
  receiver.answer(status(200))
  expect(await check('ops')).toEqual({ ok: true })
  expect(receiver.got[1]?.verify()).toEqual({
    type: 'channel.test',
    timestamp: expect.stringMatching(/Z$/),
    data: { channel: 'ops', asked_by: 'anna', review_url: 'http://localhost:8765/inbox' },
  })
  const nobody = 'no linked chat (use cowork_bind_chat)'
  expect(await check('phone')).toEqual({ ok: false, reason: nobody })
  await expect(check('desk')).rejects.toMatchObject({ code: 'nothing_to_send' })
  await expect(check('none')).rejects.toMatchObject({
    code: 'unknown_channel',
    hint: 'Use a channel of notify.channels: ops, team, desk, phone.',
  })
  expect(await service.list(undefined, 9)).toEqual([])
  await service.close()
})

test('A5 a person gets a code to link a chat, for Telegram channels only', async () => {
  const { start } = await setup()
  const telegram = await startTelegram()
  const { use, service } = start('ops', telegram.channel('phone'))
  const { code, how, expires_at: until } = await use('cowork_bind_chat', { channel: 'phone' })
  expect(code).toMatch(/^[0-9a-f]{16}$/)
  expect(how).toContain(`/start ${String(code)}`)
  expect(Date.parse(String(until)) - Date.now()).toBeLessThanOrEqual(600_000)
  await expect(use('cowork_bind_chat', { channel: 'ops' })).rejects.toMatchObject({
    code: 'unknown_channel',
    hint: 'Use a Telegram channel of notify.channels: phone.',
  })
  telegram.write(7, `/start ${String(code)}`)
  await expect.poll(() => use('cowork_test_channel', { id: 'phone' })).toEqual({ ok: true })
  expect(telegram.sent('sendMessage').at(-1)).toMatchObject({
    chat_id: 7,
    text: expect.stringContaining('Requested by anna'),
  })
  await service.close()
})

test('A10 only people can use the delivery and channel tools', async () => {
  const { start } = await setup()
  const { service, tools } = start('ops')
  await service.close()
  expect([...tools.values()].map(({ name, by, toolset }) => [name, by, toolset])).toEqual(
    ['list_deliveries', 'retry_delivery', 'test_channel', 'bind_chat'].map((name) => [
      `cowork_${name}`,
      'human',
      'cowork',
    ]),
  )
})
