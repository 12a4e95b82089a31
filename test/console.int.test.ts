import { mkdirSync, mkdtempSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

const folder = mkdtempSync(join(tmpdir(), 'cowork-web-'))
const webFolder = join(folder, 'dist')
const page = '<!doctype html><script type="module" src="/assets/index-a1b2c3d4.js"></script>'
const script = `console.log(${JSON.stringify('x'.repeat(5000))})`

let app: TestApp
beforeAll(async () => {
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  app = await startTestApp({}, { webFolder })
})
afterAll(() => app.close())

function build(): void {
  mkdirSync(join(webFolder, 'assets'), { recursive: true })
  writeFileSync(join(webFolder, 'assets', 'index-a1b2c3d4.js'), script)
  writeFileSync(join(webFolder, 'favicon.svg'), '<svg/>')
  symlinkSync(join(folder, 'secret.txt'), join(webFolder, 'link.txt'))
  writeFileSync(join(webFolder, 'index.html'), page)
}

/** Uses `http` because fetch normalizes the path and the Host header. */
function raw(path: string, host = `localhost:${app.port}`, method = 'GET') {
  return new Promise<{ status: number; location: string | undefined; text: string }>(
    (resolve, reject) => {
      request({ host: '127.0.0.1', port: app.port, path, method, headers: { host } }, (reply) => {
        let text = ''
        reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, location: reply.headers.location, text }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
}

test('C13 a missing build is reported with the build command and served once it exists', async () => {
  const before = await fetch(`${app.url}/`)
  expect(before.status).toBe(503)
  expect(await before.text()).toContain('npm run build')
  expect(before.headers.get('content-security-policy')).toContain("default-src 'none'")
  build()
  expect(await (await fetch(`${app.url}/`)).text()).toBe(page)
})

test.each(['/', '/inbox', '/audit/12', '/settings/people/x', '/agents?q=a%20b', '/work/'])(
  'C1 SV26 %s returns the page without a token, uncached, with a strict CSP',
  async (path) => {
    const reply = await fetch(`${app.url}${path}`)
    expect(await reply.text()).toBe(page)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'permissions-policy': expect.stringContaining('camera=()'),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  },
)

test('SV26 hashed files are immutable, others are revalidated, and text is compressed', async () => {
  const asset = await fetch(`${app.url}/assets/index-a1b2c3d4.js`)
  expect(await asset.text()).toBe(script)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(asset.headers.get('content-encoding')).toBe('gzip')
  expect(asset.headers.get('vary')).toBe('Accept-Encoding')
  const plain = await raw('/assets/index-a1b2c3d4.js')
  expect(plain.text).toBe(script)
  const icon = await fetch(`${app.url}/favicon.svg`)
  expect(icon.headers.get('cache-control')).toBe('no-cache')
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
})

test.each([
  '/../secret.txt',
  '/assets/../../secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
  '/..\\secret.txt',
  '/link.txt',
  '/assets',
  '/assets/',
  '/index.html',
  '//etc/passwd',
  '/assets/index-a1b2c3d4.js%00',
  '/nothing',
  '/inboxes',
])('SV26 %s gives nothing away', async (path) => {
  const { status, text } = await raw(path)
  expect([400, 404]).toContain(status)
  expect(text).not.toContain('secret"')
  expect(text).not.toBe('secret')
  expect(text).not.toContain('root:')
})

test('SV20 an IP address redirects to localhost', async () => {
  for (const name of ['127.0.0.1', '[::1]']) {
    const { status, location } = await raw('/audit/7?type=call.', `${name}:${app.port}`)
    expect(status).toBe(307)
    expect(location).toBe(`${app.url}/audit/7?type=call.`)
  }
})

test.each(['token', 'access_token', 'agent_token', 'api_key', 'code', 'invite'])(
  'SV26 a URL with ?%s= is refused at every endpoint, with a hint and without repeating the value',
  async (name) => {
    for (const path of ['/', '/inbox', '/mcp', '/api/ledger', '/assets/index-a1b2c3d4.js']) {
      const reply = await fetch(`${app.url}${path}?a=1&${name}=s3cret`)
      expect(reply.status, path).toBe(400)
      const text = await reply.text()
      expect(text).toContain('secret_in_url')
      expect(text).not.toContain('s3cret')
    }
  },
)

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])(
  'SV21 %s has no effect on the page',
  async (method) => {
    expect((await raw('/', undefined, method)).status).toBe(404)
  },
)

test('SV26 HEAD returns the headers of GET without a body', async () => {
  const reply = await fetch(`${app.url}/inbox`, { method: 'HEAD' })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(await reply.text()).toBe('')
})

test('SV26 a new build is served without a restart', async () => {
  writeFileSync(join(webFolder, 'assets', 'index-ffff0000.js'), '1')
  writeFileSync(join(webFolder, 'index.html'), page.replace('a1b2c3d4', 'ffff0000'))
  utimesSync(join(webFolder, 'index.html'), new Date(), new Date(Date.now() + 5000))
  expect(await (await fetch(`${app.url}/`)).text()).toContain('ffff0000')
  expect(await (await fetch(`${app.url}/assets/index-ffff0000.js`)).text()).toBe('1')
})
