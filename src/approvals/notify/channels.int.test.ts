import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestApp } from '../../../test/app.ts'
import type { TestApp } from '../../../test/app.ts'
import { flood, hang, startReceiver } from '../../../test/approvals/notify/notify.fixture.ts'
import type { Channel, ApprovalNotification } from './model.ts'
import { startMailServer } from '../../../test/approvals/notify/smtp.fixture.ts'
import { startTelegram } from '../../../test/approvals/notify/telegram/telegram.fixture.ts'

async function start(channels: Channel[]) {
  const app = await startTestApp({ 'notify.channels': channels })
  onTestFinished(() => app.close())
  return app
}

type Said = Record<string, unknown>

/** Calls a tool as the owner and returns its output. */
async function use(app: TestApp, tool: string, args: object, token?: string): Promise<Said> {
  const response = await app.call(tool, args as Said, token)
  const { output, ...rest } = (await response.json()) as { output?: Said }
  return output ?? rest
}

/** Adds an agent that is not trusted yet; returns its propose function. */
async function asking(app: TestApp) {
  const { token } = (await use(app, 'cowork_add_agent', { id: 'sales' })) as { token: string }
  await use(app, 'cowork_set_trust', {
    agent_id: 'sales',
    domain: 'crm',
    score: 0.6,
    reason: 'for the test',
  })
  return async (target: string) => {
    const asked = {
      agent_id: 'sales',
      domain: 'crm',
      action: 'update_deal',
      target,
      proposed_change: { note: 'call back' },
      confidence: 0.9,
      reasoning: 'They asked for it.',
    }
    const { proposal_id: id } = await use(app, 'cowork_propose', asked, token)
    return String(id)
  }
}

const decide = (app: TestApp, id: string) =>
  use(app, 'cowork_decide', { approval_ids: [id], decision: 'approve' })

test('A10 dead, hanging and flooding channels delay neither a decision nor each other', async () => {
  const [hanging, flooding, ops] = [
    await startReceiver(hang),
    await startReceiver(flood),
    await startReceiver(),
  ]
  const mail = await startMailServer({ instead: () => undefined })
  const telegram = await startTelegram()
  telegram.answer(() => 'silence')
  const app = await start([
    { type: 'slack', id: 'dead', url: 'http://127.0.0.1:9/services/x' },
    { type: 'slack', id: 'hanging', url: hanging.url },
    { type: 'ntfy', id: 'flooding', server: flooding.url, topic: 'x' },
    {
      type: 'email',
      id: 'mail',
      host: '127.0.0.1',
      port: mail.port,
      from: 'a@example.com',
      to: ['b@example.com'],
    },
    telegram.channel('phone'),
    ops.channel('ops'),
  ])
  const propose = await asking(app)
  const ids = [await propose('deal-1'), await propose('deal-2')]
  await expect
    .poll(() => [hanging.got.length, flooding.got.length, ops.got.length])
    .toEqual([2, 2, 2])
  for (const id of ids)
    expect(await decide(app, id)).toMatchObject({ outcomes: [{ id, status: 'approved' }] })
  await expect.poll(() => ops.got.length).toBe(4)
  const notifications = ops.got.map(({ body }) => JSON.parse(body) as ApprovalNotification)
  expect(
    notifications
      .filter(({ data }) => data.status === 'approved')
      .map(({ data }) => data.approval_id)
      .toSorted(),
  ).toEqual(ids.toSorted())
  // Undelivered requests are dropped after the decision.
  await expect
    .poll(() => use(app, 'cowork_list_deliveries', { status: 'pending' }))
    .toEqual({ deliveries: [] })
})

test('A5 a linked chat decides low-risk requests as its person', async () => {
  const telegram = await startTelegram()
  const app = await start([telegram.channel('phone')])
  const propose = await asking(app)
  const { code } = await use(app, 'cowork_bind_chat', { channel: 'phone' })
  telegram.write(7, `/start ${String(code)}`)
  await expect.poll(() => telegram.sent('sendMessage').at(-1)?.text).toContain('linked to owner')

  const id = await propose('deal-1')
  await expect.poll(() => telegram.sent('sendMessage').length).toBe(2)
  const saidTo = async (data: string, chat = 7) => {
    const press = telegram.press(chat, data)
    await expect.poll(() => telegram.replyTo(press)).toBeDefined()
    return telegram.replyTo(press)
  }
  expect(await saidTo(`approve:${id}`)).toBe('Risk above low: decide in the inbox.')
  // No request of this version has low risk.
  const db = new DatabaseSync(join(app.state, 'cowork.db'))
  onTestFinished(() => db.close())
  db.prepare(`UPDATE approval SET risk = 'low' WHERE id = ?`).run(id)
  expect(await saidTo(`approve:${id}`, 8)).toBe(
    'This chat is not linked to a person and cannot decide.',
  )
  expect(await saidTo(`approve:${id}`)).toBe('Approved.')
  expect(await saidTo(`approve:${id}`)).toBe('Already decided: Approved by owner.')
  await expect
    .poll(() => telegram.sent('editMessageText').at(-1)?.text)
    .toMatch(/^Approved by owner: proposal from sales/)

  const response = await fetch(`${app.url}/api/approvals/${id}`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  expect(await response.json()).toMatchObject({
    status: 'approved',
    decided_by: 'owner',
    channel: 'telegram',
  })
})
