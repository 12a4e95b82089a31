import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseChannel, parseFolder } from './setup-options.ts'

test.each([
  ['/a/b', { path: '/a/b', permission: 'read' }],
  ['/a/b:rw', { path: '/a/b', permission: 'read-write' }],
  ['~/Work:read-write', { path: join(homedir(), 'Work'), permission: 'read-write' }],
  ['Work:r', { path: resolve('Work'), permission: 'read' }],
  ['/a:b', { path: '/a:b', permission: 'read' }],
])('C9 --grant %s', (text, folder) => {
  expect(parseFolder(text)).toEqual(folder)
})

test('C9 --notify selects a channel, with a random topic', () => {
  expect(parseChannel('none')).toBeUndefined()
  expect(parseChannel('desktop')).toEqual({ id: 'desktop', type: 'desktop' })
  expect(parseChannel('ntfy:mine')).toEqual({ id: 'phone', type: 'ntfy', topic: 'mine' })
  expect(parseChannel('ntfy')?.topic).toMatch(/^cowork-[0-9a-f]{18}$/)
  expect(parseChannel('ntfy')?.topic).not.toBe(parseChannel('ntfy')?.topic)
  for (const wrong of ['', 'ntfy:', 'ntfy:a b', 'smoke'])
    expect(() => parseChannel(wrong)).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
})

test('C9, K3 --grant without a folder is a usage error', () => {
  expect(() => parseFolder(':rw')).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
})
