import { expect, test } from 'vitest'
import { browserName, formatClient } from './client-name.ts'

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36 Edg/156.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.0 Safari/605.1',
    'Safari on macOS',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, li', 'Browser on Linux'],
  ['cowork-cli/0.1.0', undefined],
])('I6 %s is %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name)
})

test('L3 a client is formatted as it reports itself', () => {
  expect(formatClient({ name: 'claude-code', version: '2.1', transport: 'http' })).toBe(
    'claude-code 2.1 over HTTP',
  )
  expect(formatClient({ name: 'cowork-cli/0.1', version: '', transport: 'cli' })).toBe(
    'cowork-cli/0.1 via cli',
  )
})
