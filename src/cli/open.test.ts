import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { screens } from '#base/screens.ts'
import { browserCommand, withScreen } from './open.ts'
import { resolvePrefix } from './lookup.ts'

test('K1 the link opens the requested screen, and its code stays in the fragment', () => {
  const link = 'http://localhost:8765/#code=abc'
  expect(withScreen(link, undefined)).toBe(link)
  expect(withScreen(link, 'audit')).toBe('http://localhost:8765/audit#code=abc')
  expect(withScreen(link, '//evil.example')).toMatch(/^http:\/\/localhost:8765\//)
})

test('K1 C1 every screen of the console can be opened', () => {
  const source = readFileSync(new URL('../../web/src/screens.ts', import.meta.url), 'utf8')
  const shown = [...source.matchAll(/^ +(\w+)Screen,$/gm)].map(([, name]) => name)
  expect(shown).toEqual(screens)
})

test('K1 a screen can be named by a prefix', () => {
  const link = 'http://localhost:8765/#code=abc'
  expect(withScreen(link, resolvePrefix('wo', screens, 'screen'))).toBe(
    'http://localhost:8765/work#code=abc',
  )
  expect(() => resolvePrefix('elsewhere', screens, 'screen')).toThrow('elsewhere')
})

test('K1 opens the browser with the program of the platform, and not without a desktop', () => {
  expect(browserCommand({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserCommand({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open'])
  expect(browserCommand({}, 'linux')).toBeUndefined()
  expect(browserCommand({}, 'darwin')).toEqual(['open'])
  expect(browserCommand({}, 'win32')?.[0]).toBe('rundll32')
})
