import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTime, noticed } from '../../../../test/approvals/notify/notify.fixture.ts'
import { createApi } from './api.ts'
import { formatMessage, parseButtonPress } from './text.ts'

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    '@bob',
    '/start',
    '#x',
    'https://evil.test',
    '😀',
    ' ',
    '日',
    '\u202e',
  ),
  maxLength: 60,
})

test('A13 agent text is code, in which Telegram finds no links, names or commands', () => {
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 40 }), (summary, domain, count) => {
      const notice = noticed({ summary, domain })
      const more = Array.from({ length: count - 1 }, () => ({ id: 'e', notice }))
      const { text: shown, entities } = formatMessage({ id: 'd', at: 0, notice, more })
      expect(shown.length).toBeLessThanOrEqual(4096)
      let ours = ''
      let end = 0
      for (const { type, offset, length } of entities) {
        expect([type, length > 0]).toEqual(['code', true])
        ours += shown.slice(end, offset)
        end = offset + length
      }
      ours += shown.slice(end)
      expect(ours.replace(/\nhttp:\/\/localhost:8765\/inbox\S*$/, '')).not.toMatch(/[@/#]|evil/)
    }),
  )
})

test('A5 a message contains the agent text and a link', () => {
  const { text: shown, ...more } = formatMessage({
    id: 'd',
    at: 0,
    notice: noticed({ risk: 'low' }),
  })
  expect(shown.split('\n')).toEqual([
    'Decision needed: proposal from sales (low risk)',
    'The agent says: Set the stage of deal-7 to won (crm)',
    '',
    'http://localhost:8765/inbox/p1',
  ])
  expect(more).toEqual({
    entities: [{ type: 'code', offset: 64, length: 36 }],
    link_preview_options: { is_disabled: true },
    reply_markup: { inline_keyboard: [[{ text: 'Approve', callback_data: 'approve:p1' }]] },
  })
})

test('A5 T14 a spot check of any risk has no button', () => {
  const shown = formatMessage({
    id: 'd',
    at: 0,
    notice: noticed({ kind: 'spot_check', risk: 'low' }),
  })
  expect(shown).not.toHaveProperty('reply_markup')
  expect(shown.text).toContain('http://localhost:8765/inbox/p1')
})

test('A5 a combined message has no buttons', () => {
  const notice = noticed({ risk: 'low' })
  expect(formatMessage({ id: 'd', at: 0, notice, more: [{ id: 'e', notice }] })).not.toHaveProperty(
    'reply_markup',
  )
})

test('A5 a button contains one verdict on one approval', () => {
  expect(parseButtonPress('approve:019875c2-6a00-7000-8000-5f0c1d2e3f40')).toEqual({
    verdict: 'approve',
    approval: '019875c2-6a00-7000-8000-5f0c1d2e3f40',
  })
  for (const data of [
    '',
    'approve:',
    'approve:a b',
    'Approve:a',
    'approve:a\n',
    `reject:${'a'.repeat(61)}`,
  ])
    expect(parseButtonPress(data), data).toBeUndefined()
})

test.each([
  ['an invalid token', { token: 'secret-word' }],
  ['a token with a path', { token: '1:a/../../secret-word' }],
  ['a URL without TLS', { api: 'http://telegram.test' }],
  ['an invalid URL', { api: 'http://[secret-word' }],
])('A10 %s is a configuration error that does not show the value', (_, wrong) => {
  const good = { type: 'telegram', id: 'phone', token: '1:abc', api: 'https://x.test' } as const
  const start = () => createApi({ ...good, ...wrong }, createTime().wait)
  expect(start).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  expect(start).not.toThrow(/secret-word/)
  expect(createApi(good, createTime().wait).bot).toBe('1')
})
