import { expect, test } from 'vitest'
import { browserCommand, linkTo } from './open.ts'

test('K1 the link leads to the screen that was asked for, and its code stays in the fragment', () => {
  const link = 'http://localhost:8765/#code=abc'
  expect(linkTo(link, undefined)).toBe(link)
  expect(linkTo(link, 'audit')).toBe('http://localhost:8765/audit#code=abc')
  expect(linkTo(link, '//evil.example')).toMatch(/^http:\/\/localhost:8765\//)
})

test('K1 the browser is opened by what the platform has, and not at all where nobody looks', () => {
  expect(browserCommand({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserCommand({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserCommand({}, 'linux')).toBeUndefined()
  expect(browserCommand({}, 'darwin')).toEqual(['open'])
  expect(browserCommand({}, 'win32')?.[0]).toBe('rundll32')
})
