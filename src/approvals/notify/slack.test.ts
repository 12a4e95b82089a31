import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createTime,
  flood,
  hang,
  noticed,
  says,
  startReceiver,
  status,
} from '../../../test/approvals/notify/notify.fixture.ts'
import { createSlack, buildPayload } from './slack.ts'
import { formatNotification } from './notification-text.ts'

const never = new AbortController().signal

const sendTo = (url: string, notice = noticed(), time = createTime()) =>
  createSlack({ type: 'slack', id: 'team', url }, time.wait).send(
    { id: 'd-1', notice, at: time.now() },
    never,
  )

test('A5 a Slack message is plain text with a button that opens the inbox', async () => {
  const slack = await startReceiver(says(200, 'ok'))
  expect(await sendTo(slack.url)).toEqual({ kind: 'sent' })
  const [got] = slack.got
  expect(got?.headers).toMatchObject({ 'content-type': 'application/json' })
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })
  const agentText = 'The agent says: Set the stage of deal-7 to won (crm)'
  expect(JSON.parse(got?.body ?? '')).toEqual({
    text: `Decision needed: proposal from sales (normal risk)\n${agentText}`,
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: plain('Decision needed: proposal from sales (normal risk)') },
      { type: 'section', text: plain(agentText) },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            text: plain('Open in cowork'),
            url: 'http://localhost:8765/inbox/p1',
          },
        ],
      },
    ],
  })
})

/** Returns every text of a message about `count` notifications. */
function textsOf(notice: string, count: number): string[] {
  const more = Array.from({ length: count - 1 }, () => ({ id: 'e', notice }))
  const { text, blocks } = buildPayload(formatNotification({ id: 'd', at: 0, notice, more }))
  return [text, ...blocks.flatMap((block) => (block.type === 'section' ? [block.text.text] : []))]
}
const isHarmless = (shown: string) =>
  !/[<>]|&(?!amp;|lt;|gt;)/.test(shown) && shown.length <= 3000 && shown.isWellFormed()

test('A13 agent text mentions nobody, contains no link and cannot make Slack reject the message', () => {
  const unit = fc.constantFrom(
    '<!channel>',
    '<@U1>',
    '<http://x|y>',
    '&',
    '<',
    '>',
    '*a*',
    '😀',
    'a',
  )
  const text = fc.array(unit, { maxLength: 200 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 30 }), (agent, summary, count) => {
      const one = noticed({ requester: agent, summary, domain: summary })
      expect(textsOf(one, count).filter((shown) => !isHarmless(shown))).toEqual([])
    }),
  )
})

test('A13 a truncated message ends with a complete character', () => {
  for (const unit of ['&', '😀&', '<&'])
    for (let before = 0; before < 6; before++) {
      const summary = `${'a'.repeat(before)}${unit.repeat(140)}`
      const [, , lines = ''] = textsOf(noticed({ summary }), 20)
      expect(lines.length).toBeGreaterThan(2900)
      expect(isHarmless(lines), lines.slice(-20)).toBe(true)
    }
})

test.each<[string, Parameters<typeof startReceiver>[0], object]>([
  [
    'an unknown webhook',
    says(404, 'no_service'),
    { error: 'receiver returned HTTP 404 (no_service)' },
  ],
  ['other text', says(500, '<html>T0/B0/secret'), { error: 'receiver returned HTTP 500' }],
  ['a retry delay', status(429, { 'retry-after': '30' }), { waitMs: 30_000 }],
  ['an archived channel', says(410, 'channel_is_archived'), { isFinal: true }],
])('A10 Slack reports %s', async (_, answer, expected) => {
  const slack = await startReceiver(answer)
  expect(await sendTo(slack.url)).toMatchObject({ kind: 'failed', ...expected })
})

test('A10 a hanging Slack times out after ten seconds, and an endless response is ended immediately', async () => {
  const time = createTime()
  const slack = await startReceiver(hang)
  const sending = sendTo(slack.url, noticed(), time)
  await expect.poll(() => slack.got.length).toBe(1)
  time.move(10_000)
  expect(await sending).toEqual({ kind: 'failed', error: 'no response within 10 s' })
  slack.answer(flood)
  expect(await sendTo(slack.url)).toEqual({ kind: 'sent' })
})

test.each(['no address', 'http://hooks.slack.test/services/T0/B0/secret'])(
  'A10 %s is a configuration error that does not show the value',
  (url) => {
    const start = () => createSlack({ type: 'slack', id: 'team', url }, createTime().wait)
    expect(start).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    expect(start).not.toThrow(/B0|no address/)
  },
)
