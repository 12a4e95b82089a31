import { expect, test } from 'vitest'
import { createAppendNotifier } from './db/append-notifier.ts'
import { collectGarbageWhenIdle } from './idle-gc.ts'

function setup() {
  const { notify, onAppend } = createAppendNotifier()
  let collected = 0
  const collect = async () => void collected++
  const stop = collectGarbageWhenIdle(onAppend, { delayMs: 1, collect })
  return { notify, stop, collected: () => collected }
}

test('N14 garbage is collected once after each busy period', async () => {
  const { notify, stop, collected } = setup()
  await new Promise((later) => setTimeout(later, 10))
  expect(collected()).toBe(0)
  notify()
  notify()
  await expect.poll(collected).toBe(1)
  notify()
  await expect.poll(collected).toBe(2)
  stop()
})

test('N14 no garbage is collected after the daemon stopped', async () => {
  const { notify, stop, collected } = setup()
  notify()
  stop()
  notify()
  await new Promise((later) => setTimeout(later, 10))
  expect(collected()).toBe(0)
})
