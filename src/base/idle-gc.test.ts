import { expect, test } from 'vitest'
import { createAppendNotifier } from './db/append-notifier.ts'
import { collectGarbageWhenIdle } from './idle-gc.ts'

function setup() {
  const { grown, onAppend } = createAppendNotifier()
  let collected = 0
  const collect = async () => void collected++
  const stop = collectGarbageWhenIdle(onAppend, { after: 1, collect })
  return { grown, stop, collected: () => collected }
}

test('N14 memory is collected once after each busy time, and never without one', async () => {
  const { grown, stop, collected } = setup()
  await new Promise((later) => setTimeout(later, 10))
  expect(collected()).toBe(0)
  grown()
  grown()
  await expect.poll(collected).toBe(1)
  grown()
  await expect.poll(collected).toBe(2)
  stop()
})

test('N14 nothing is collected once the daemon has ended', async () => {
  const { grown, stop, collected } = setup()
  grown()
  stop()
  grown()
  await new Promise((later) => setTimeout(later, 10))
  expect(collected()).toBe(0)
})
