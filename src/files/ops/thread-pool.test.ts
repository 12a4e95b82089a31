import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createThreadPool } from './thread-pool.ts'

test('PV7 a thread that fails to start does not block the pool', async () => {
  const withThread = createThreadPool(1)
  const failToStart = () => {
    throw new Error('no thread')
  }
  let looks = 0
  const rest = async () => {
    if (++looks > 20) throw new Error('no turn came')
  }
  await expect(withThread(failToStart, rest, async () => 0)).rejects.toThrow('no thread')
  const echo = `
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', (asked) => parentPort.postMessage(asked))`
  const start = () => new Worker(echo, { eval: true })
  expect(await withThread(start, rest, (thread) => thread.request<string>('heard'))).toBe('heard')
})
