import { expect, test } from 'vitest'
import { createTime, refusal } from '../../test/identity/identity.fixture.ts'
import { createAuthThrottle, throttleDelayMs } from './failed-auth.ts'

function setup() {
  const time = createTime()
  const slowdown = createAuthThrottle(time)
  /** Records a failure without waiting and returns the delay of the response. */
  const fail = (...keys: string[]) => {
    const before = time.slept.length
    slowdown.failed(keys).catch(() => undefined)
    return time.slept[before] ?? 0
  }
  return { time, slowdown, fail }
}

test('I9 the delay starts at the 5th failure, doubles and ends at 30 seconds', () => {
  const waits = Array.from({ length: 12 }, (_, at) => throttleDelayMs(at + 1) / 1000)
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30])
})

test('I9 failures from one address within a minute are delayed', () => {
  const { fail } = setup()
  const waits = Array.from({ length: 11 }, () => fail('address:a'))
  expect(waits).toEqual([0, 0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('I9 failures older than a minute no longer count', async () => {
  const { fail, time } = setup()
  for (let i = 0; i < 4; i++) fail('address:a')
  await time.pass(60_000)
  expect(fail('address:a')).toBe(0)
})

test('I9 failures for one principal from many addresses are delayed', () => {
  const { fail } = setup()
  for (let i = 0; i < 4; i++) fail(`address:${i}`, 'agent:sales')
  expect(fail('address:5', 'agent:sales')).toBe(1000)
  expect(fail('address:6', 'agent:other')).toBe(0)
})

test('I9 a success resets its address and its principal, and no others', () => {
  const { fail, slowdown } = setup()
  for (let i = 0; i < 4; i++) fail('address:a', 'agent:sales', 'agent:other')
  slowdown.succeeded(['address:a', 'agent:sales'])
  expect(fail('address:a', 'agent:sales')).toBe(0)
  expect(fail('agent:other')).toBe(1000)
})

test('I9 with 100 delayed responses the next failure is refused immediately', async () => {
  const { fail, slowdown, time } = setup()
  for (let i = 0; i < 104; i++) fail('address:a')
  expect(time.asleep()).toBe(100)
  const { code, details } = await refusal(slowdown.failed(['address:a']))
  expect(code).toBe('too_many_attempts')
  expect(details).toMatchObject({ auth_error: true, retry_after_seconds: 30 })
  await time.pass(30_000)
  expect(time.asleep()).toBe(0)
  await time.pass(60_000)
  const waits = Array.from({ length: 5 }, () => fail('address:a'))
  expect(waits).toEqual([0, 0, 0, 0, 1000])
})

test('I9 a flood of invented names does not reset the address', async () => {
  const { fail, slowdown } = setup()
  for (let i = 0; i < 11_000; i++) fail('address:a', `agent:${i}`)
  expect(await refusal(slowdown.failed(['address:a']))).toMatchObject({ code: 'too_many_attempts' })
})
