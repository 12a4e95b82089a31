import { expect, test } from 'vitest'
import type { EntryDraft } from '#base/entry.ts'
import { silentLog } from '#base/log.ts'
import { createAuthFailureLog } from './failed-auth.ts'
import { createTime } from '../../test/identity/identity.fixture.ts'

function setup() {
  const time = createTime()
  const noted: EntryDraft[] = []
  const fail = createAuthFailureLog({
    appendDeferred: (draft) => void noted.push(draft),
    sleep: time.sleep,
    log: silentLog,
  })
  const from = (address: string, claimed?: string) =>
    fail({ address, door: 'mcp', reason: 'wrong_token', ...(claimed !== undefined && { claimed }) })
  return { time, noted, from, counts: () => noted.map(({ data }) => data?.['count']) }
}

test('I9 a failed credential is recorded with address, endpoint and claim, without the token', () => {
  const { noted, from } = setup()
  from('10.0.0.7', 'sales')
  expect(noted).toEqual([
    {
      type: 'auth.failed',
      actor: { kind: 'system', id: 'cowork' },
      domain: 'cowork',
      subject: '10.0.0.7',
      outcome: 'wrong_token',
      data: { door: 'mcp', count: 1, claimed: 'sales' },
    },
  ])
})

test('I9 a flood gives one entry per second, and every attempt is counted', async () => {
  const { time, from, counts } = setup()
  for (let i = 0; i < 1000; i++) from('a')
  expect(counts()).toEqual([1])
  await time.pass(1000)
  expect(counts()).toEqual([1, 999])
  from('a')
  expect(counts()).toEqual([1, 999])
  await time.pass(1000)
  expect(counts()).toEqual([1, 999, 1])
  await time.pass(1000)
  expect(time.asleep()).toBe(0)
  from('a')
  expect(counts()).toEqual([1, 999, 1, 1])
})

test('I9 a flood from many addresses shares entries beyond the first hundred', async () => {
  const { time, noted, from, counts } = setup()
  for (let i = 0; i < 5000; i++) from(`10.0.${i >> 8}.${i & 255}`)
  await time.pass(1000)
  expect(noted).toHaveLength(102)
  expect(counts().reduce((sum: number, count) => sum + Number(count), 0)).toBe(5000)
  expect(noted.at(-1)?.subject).toBe('other addresses')
})
