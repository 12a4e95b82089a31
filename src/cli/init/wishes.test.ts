import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { channelOf, folderOf } from './wishes.ts'

test.each([
  ['/a/b', { path: '/a/b', permission: 'read' }],
  ['/a/b:rw', { path: '/a/b', permission: 'read-write' }],
  ['~/Work:read-write', { path: join(homedir(), 'Work'), permission: 'read-write' }],
  ['Work:r', { path: resolve('Work'), permission: 'read' }],
  ['/a:b', { path: '/a:b', permission: 'read' }],
])('C9 --grant %s', (text, folder) => {
  expect(folderOf(text)).toEqual(folder)
})

test('C9 --notify names a channel, and a topic that nobody can guess', () => {
  expect(channelOf('none')).toBeUndefined()
  expect(channelOf('desktop')).toEqual({ id: 'desktop', type: 'desktop' })
  expect(channelOf('ntfy:mine')).toEqual({ id: 'phone', type: 'ntfy', topic: 'mine' })
  expect(channelOf('ntfy')?.topic).toMatch(/^cowork-[0-9a-f]{18}$/)
  expect(channelOf('ntfy')?.topic).not.toBe(channelOf('ntfy')?.topic)
  for (const wrong of ['', 'ntfy:', 'ntfy:a b', 'smoke'])
    expect(() => channelOf(wrong)).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
})

test('C9, K3 --grant without a folder is a mistake', () => {
  expect(() => folderOf(':rw')).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
})
