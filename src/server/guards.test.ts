import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { checkHost, checkOrigin, checkUrl } from './guards.ts'
import type { Env, GuardOptions } from './guards.ts'

const extension = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'

function statusOf(
  headers: Record<string, string>,
  more: Partial<GuardOptions> = {},
  path = '/api',
) {
  const options = { port: () => 8765, allowedHosts: [], allowedOrigins: [], ...more }
  const app = new Hono<Env>()
  app.use(checkHost(options), checkOrigin(options), checkUrl)
  app.all('*', (c) => c.text('in'))
  const request = app.request(path, { headers: { host: 'localhost:8765', ...headers } })
  return Promise.resolve(request).then(({ status }) => status)
}

test('SV21 with TLS the console’s origin is https, and http is refused', async () => {
  const tls = { isSecure: true }
  expect(await statusOf({ origin: 'https://localhost:8765' }, tls)).toBe(200)
  expect(await statusOf({ origin: 'http://localhost:8765' }, tls)).toBe(403)
  expect(await statusOf({ origin: 'https://localhost:8765' })).toBe(403)
})

test('SV21 a paired extension is accepted with its origin, and may read without one', async () => {
  const paired = { allowedOrigins: [extension] }
  const cross = { 'sec-fetch-site': 'cross-site' }
  expect(await statusOf({ origin: extension, ...cross }, paired)).toBe(200)
  expect(await statusOf({ 'sec-fetch-site': 'none' }, paired)).toBe(200)
  expect(await statusOf({ origin: extension })).toBe(403)
  expect(await statusOf({ origin: extension.toUpperCase() }, paired)).toBe(403)
})

test('SV21 configured host names are accepted, case-insensitive', async () => {
  const named = { allowedHosts: ['desk.example:8765'] }
  expect(await statusOf({ host: 'Desk.Example:8765' }, named)).toBe(200)
  expect(await statusOf({ host: 'desk.example' }, named)).toBe(403)
})

test('SV21 the refusal of a host contains the accepted name with its port', async () => {
  const app = new Hono<Env>()
  app.use(checkHost({ port: () => 8765, allowedHosts: [], allowedOrigins: [] }))
  const answer = await app.request('/api', { headers: { host: 'localhost' } })
  expect(await answer.text()).toContain('Use localhost:8765, or add')
})

test.each([
  ['/x?token=1', 400],
  ['/x?a=1&CODE=2', 200],
  ['/x?a=1&code=', 400],
  ['/x?%74oken=1', 400],
  ['/x?tokens=1', 200],
  ['/x#token=1', 200],
])('SV26 %s returns %i', async (path, status) => {
  expect(await statusOf({}, {}, path)).toBe(status)
})
