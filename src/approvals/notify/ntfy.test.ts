import { expect, test } from 'vitest'
import {
  createTime,
  noticed,
  says,
  startReceiver,
  status,
} from '../../../test/approvals/notify/notify.fixture.ts'
import type { ChannelOfType } from './model.ts'
import { createNtfy } from './ntfy.ts'

const never = new AbortController().signal
const time = createTime()

async function setup(more: Partial<ChannelOfType<'ntfy'>> = {}) {
  const server = await startReceiver(says(200, '{"id":"x","event":"message"}'))
  const url = server.url.replace('/hook', '')
  const channel = { type: 'ntfy' as const, id: 'phone', server: url, topic: 'mine-91x', ...more }
  const send = async (notice: string, ...others: string[]) => {
    const message = { id: 'd', notice, at: time.now() }
    const more_ = others.map((other) => ({ id: 'e', notice: other }))
    const outcome = await createNtfy(channel, time.wait).send({ ...message, more: more_ }, never)
    const got = server.got.at(-1)
    return { outcome, headers: got?.headers, body: JSON.parse(got?.body ?? 'null') as unknown }
  }
  return { server, send }
}

test('A5 ntfy receives JSON with a link and a priority for the risk', async () => {
  const { send } = await setup({ token: 'tk_mine' })
  const { outcome, headers, body } = await send(noticed({ risk: 'high' }))
  expect(outcome).toEqual({ kind: 'sent' })
  expect(headers).toMatchObject({
    authorization: 'Bearer tk_mine',
    'content-type': 'application/json',
  })
  expect(body).toEqual({
    topic: 'mine-91x',
    title: 'Decision needed: proposal from sales (high risk)',
    message: 'The agent says: Set the stage of deal-7 to won (crm)',
    priority: 4,
    tags: ['cowork', 'high'],
    click: 'http://localhost:8765/inbox/p1',
  })
})

test('A10 an escalation has a higher priority, and low risk a lower one', async () => {
  const { send } = await setup()
  const of = async (risk: string, type?: 'approval.escalated') =>
    (await send(noticed({ risk }, type))).body
  expect(await of('low')).toMatchObject({ priority: 2 })
  expect(await of('normal')).toMatchObject({ priority: 3 })
  expect(await of('high', 'approval.escalated')).toMatchObject({
    priority: 5,
    tags: ['cowork', 'high', 'escalated'],
  })
})

test('A10 a combined message has at most 4,000 bytes', async () => {
  const { send } = await setup()
  const one = noticed({ summary: '😀日本'.repeat(60) })
  const { body } = await send(one, ...Array<string>(40).fill(one))
  const { title, message } = body as { title: string; message: string }
  expect(title).toBe('41 decisions needed')
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4000)
  expect(message).not.toContain('\ufffd')
  expect(message.endsWith('…')).toBe(true)
})

test('A10 user and password of the URL become a header; no credentials, no header', async () => {
  const { server, send } = await setup()
  expect((await send(noticed())).headers?.authorization).toBeUndefined()
  const url = server.url.replace('//', '//anna:pass@').replace('/hook', '')
  const other = await setup({ server: url })
  await other.send(noticed())
  expect(server.got.at(-1)?.headers.authorization).toBe(
    `Basic ${Buffer.from('anna:pass').toString('base64')}`,
  )
})

test('A10 a failed ntfy request is retried, and an invalid topic is a configuration error', async () => {
  const { server, send } = await setup()
  server.answer(status(429, { 'retry-after': '7' }))
  expect((await send(noticed())).outcome).toEqual({
    kind: 'failed',
    error: 'receiver returned HTTP 429',
    waitMs: 7000,
  })
  const wrong = () =>
    createNtfy(
      { type: 'ntfy', id: 'phone', server: 'https://ntfy.sh', topic: 'my secret/topic' },
      time.wait,
    )
  expect(wrong).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  expect(wrong).not.toThrow(/secret/)
})
