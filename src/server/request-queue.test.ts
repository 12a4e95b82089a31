import { expect, test } from 'vitest'
import { createRequestQueue } from './request-queue.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('RS4 each event loop iteration starts one message, and clients alternate', async () => {
  const turns = createRequestQueue()
  let turn = 0
  let isOver = false
  const tick = () => {
    turn++
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  const started: string[] = []
  const startedIn: number[] = []
  const send = async (lane: string, name: string) => {
    await turns.wait(lane)
    started.push(name)
    startedIn.push(turn)
  }
  const many = Array.from({ length: 5 }, (_, at) => send('a', `a${at}`))
  await Promise.all([...many, send('b', 'b0'), send('c', 'c0')])
  isOver = true
  expect(new Set(startedIn).size).toBe(started.length)
  expect(started).toEqual(['a0', 'b0', 'c0', 'a1', 'a2', 'a3', 'a4'])
})

test('RS4 a lane accepts 256 queued messages and refuses more', async () => {
  const turns = createRequestQueue()
  const waiting = Array.from({ length: 256 }, () => turns.wait('a'))
  await expect(turns.wait('a')).rejects.toMatchObject({ code: 'too_many_calls' })
  await Promise.all([...waiting, turns.wait('b')])
  await turns.wait('a')
})

test('RS4 messages wait while a person is served', async () => {
  const turns = createRequestQueue()
  const release = turns.pause()
  let isStarted = false
  const waiting = turns.wait('a').then(() => (isStarted = true))
  await nextTurn()
  await nextTurn()
  expect(isStarted).toBe(false)
  release()
  release()
  await waiting
})

test('RS4 a slow request of a person delays agents only briefly', async () => {
  const turns = createRequestQueue()
  const release = turns.pause()
  await expect(turns.wait('a')).resolves.toBeUndefined()
  release()
  await expect(turns.wait('a')).resolves.toBeUndefined()
})
