import { afterEach, expect, test, vi } from 'vitest'
import { createDeadlines } from './deadlines.ts'

afterEach(() => void vi.useRealTimers())

function begin() {
  vi.useFakeTimers()
  const ended: string[] = []
  return { ended, ...createDeadlines((name: string) => ended.push(name)) }
}

test('PV6 each ends at its own time, whatever order they came in', () => {
  const { ended, add } = begin()
  add('slow', 300)
  add('quick', 100)
  add('middle', 200)
  vi.advanceTimersByTime(99)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(2)
  expect(ended).toEqual(['quick'])
  vi.advanceTimersByTime(100)
  expect(ended).toEqual(['quick', 'middle'])
  vi.advanceTimersByTime(100)
  expect(ended).toEqual(['quick', 'middle', 'slow'])
})

test('PV6 what was answered in time never ends, and what comes after it still does', () => {
  const { ended, add, delete: forget } = begin()
  add('answered', 100)
  forget('answered')
  vi.advanceTimersByTime(50)
  add('stuck', 100)
  vi.advanceTimersByTime(99)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(2)
  expect(ended).toEqual(['stuck'])
})
