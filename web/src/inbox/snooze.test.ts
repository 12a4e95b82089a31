import { expect, test } from 'vitest'
import { inAnHour, nextSnoozeEnd, parseSnoozes, activeSnoozes, tomorrow } from './snooze.ts'

const now = new Date(2026, 10, 15, 22, 30).getTime()

test('C2 snoozed items return after an hour or the next morning', () => {
  expect(new Date(inAnHour(now)).getHours()).toBe(23)
  const morning = new Date(tomorrow(now))
  expect([morning.getDate(), morning.getHours(), morning.getMinutes()]).toEqual([16, 9, 0])
  expect(new Date(tomorrow(new Date(2026, 11, 31, 1).getTime())).getFullYear()).toBe(2027)
})

test('C2 ended snoozes are removed, and the next end is known', () => {
  const left = activeSnoozes({ a: now - 1, b: now + 5, c: now + 2 }, now)
  expect(left).toEqual({ b: now + 5, c: now + 2 })
  expect(nextSnoozeEnd(left)).toBe(now + 2)
  expect(nextSnoozeEnd({})).toBeUndefined()
})

test('C2 invalid stored snoozes are ignored', () => {
  expect(parseSnoozes('{"a": 5, "b": "x"}')).toEqual({ a: 5 })
  for (const text of [null, '', '{', '[]', '7', 'null']) expect(parseSnoozes(text)).toEqual({})
})
