import { expect, test } from 'vitest'
import { createTime } from '../../test/identity/identity.fixture.ts'
import { createSessions, withSessionLabel } from './sessions.ts'

const minute = 60_000

test('I12 a session ends after 30 idle minutes', async () => {
  const time = createTime()
  const sessions = createSessions(time.now)
  const first = sessions.of('token:a')
  for (let i = 0; i < 4; i++) {
    await time.pass(29 * minute)
    expect(sessions.of('token:a')).toBe(first)
  }
  await time.pass(30 * minute)
  expect(sessions.of('token:a')).not.toBe(first)
})

test('I12 each key has its own session', () => {
  const sessions = createSessions(createTime().now)
  expect(sessions.of('token:a')).not.toBe(sessions.of('token:b'))
})

test('I12 SESSION_ID labels a session and does not create one', () => {
  const sessions = createSessions(createTime().now)
  const first = sessions.of('token:a', 'nightly build')
  expect(first).toMatch(/^nightly-build~[0-9a-f-]{36}$/)
  expect(sessions.of('token:a', 'another')).toBe(first)
  expect(sessions.of('token:b', 'nightly build')).not.toBe(first)
  expect(withSessionLabel('id', '\u202e\n')).toBe('-~id')
  expect(withSessionLabel('id', '')).toBe('id')
})

test('I12 invented agent ids cannot fill the memory with sessions', () => {
  const sessions = createSessions(createTime().now)
  const used = sessions.of('open:used')
  const unused = sessions.of('open:unused')
  for (let i = 0; i < 9_998; i++) sessions.of(`open:${i}`)
  sessions.of('open:used')
  sessions.of('open:one-more')
  expect(sessions.of('open:used')).toBe(used)
  expect(sessions.of('open:unused')).not.toBe(unused)
})

test('I12 GR5 onEnd reports a replaced, evicted or disconnected session', async () => {
  const time = createTime()
  const sessions = createSessions(time.now)
  const ended: string[] = []
  const unfollow = sessions.onEnd((session) => void ended.push(session))
  const silent = sessions.of('token:a')
  const stdio = sessions.addConnection('connection-1', 'nightly')
  expect(stdio).toBe('nightly~connection-1')
  expect([silent, stdio, 'connection-1'].map(sessions.has)).toEqual([true, true, false])
  sessions.endConnection('connection-1')
  sessions.endConnection('connection-1')
  expect(ended).toEqual([stdio])
  await time.pass(30 * minute)
  expect([silent, stdio].map(sessions.has)).toEqual([false, false])
  sessions.of('token:b')
  expect(ended).toEqual([stdio, silent])
  const next = sessions.of('token:b')
  await time.pass(30 * minute)
  sessions.of('token:b')
  expect(ended).toEqual([stdio, silent, next])
  unfollow()
  sessions.addConnection('connection-2')
  sessions.endConnection('connection-2')
  expect(ended).toHaveLength(3)
})
