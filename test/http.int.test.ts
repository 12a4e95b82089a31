import { request } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

let app: TestApp
beforeAll(async () => (app = await startTestApp()))
afterAll(() => app.close())

/** Below fetch, which would not let a forged Host through. */
function send(
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string; host?: string } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body, host = '127.0.0.1' } = options
    const sent = request(
      { host, port: app.port, path, method, headers, agent: false },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
})
const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

describe('guards', () => {
  const doors = [
    '/healthz',
    '/readyz',
    '/mcp',
    '/mcp/cowork',
    '/api/ledger',
    '/api/ledger/1',
    '/api/ledger/1/proof',
    '/api/ledger/checkpoints',
    '/api/ledger/export',
    '/api/ledger/verify',
    '/api/events',
    '/api/tools',
    '/api/tools/x/call',
    '/api/openapi.json',
    '/api/sessions',
    '/api/session',
    '/api/passkeys',
    '/api/passkeys/challenge',
    '/api/passkeys/assert',
    '/api/nothing',
    '/metrics',
    '/',
    '/inbox',
    '/assets/index.js',
    '/nothing',
  ]
  /** The headers that browsers add to the request of a page; some of these requests have no Origin. */
  const foreign = {
    'an image on another site': {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    },
    'a script on another local port': {
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'script',
    },
    'a fetch on another local port': {
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'empty',
    },
    'a frame on another site': {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    },
  }

  test.each(doors)('SV21 a forged Host is refused at %s', async (path) => {
    for (const host of [
      'evil.example',
      `evil.example:${app.port}`,
      'localhost',
      'localhost:1',
      `127.0.0.1.evil.example:${app.port}`,
    ])
      expect((await send(path, { headers: { host } })).status, host).toBe(403)
  })

  test('SV21 RA11 its own origins are accepted at /mcp', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      const headers = { host: `${host}:${app.port}`, origin: `http://${host}:${app.port}` }
      expect((await send('/mcp', { headers })).status, host).not.toBe(403)
    }
  })

  test.each(doors)('SV21 a foreign Origin is refused at %s', async (path) => {
    for (const origin of [
      'http://evil.example',
      'null',
      'http://localhost:1',
      'https://localhost',
      `http://127.0.0.1:1`,
      // RA11: at its own addresses it is ours for MCP clients in a browser, and for nothing else.
      ...(path.startsWith('/mcp') ? [] : [`http://127.0.0.1:${app.port}`]),
    ]) {
      const { status, text } = await send(path, {
        headers: { host: `localhost:${app.port}`, origin },
      })
      expect(status, origin).toBe(403)
      expect(text).toContain('origin_refused')
    }
  })

  test.each(doors)('SV21 a foreign page without Origin is refused at %s', async (path) => {
    for (const [what, headers] of Object.entries(foreign)) {
      const { status, text } = await send(path, {
        headers: { host: `localhost:${app.port}`, ...headers },
      })
      expect(status, what).toBe(403)
      expect(text).toContain('origin_refused')
    }
  })

  test.each(doors)('SV21 a page on another local port gets no leave to ask %s', async (path) => {
    const { status, headers } = await send(path, {
      method: 'OPTIONS',
      headers: {
        host: `localhost:${app.port}`,
        origin: 'http://localhost:3000',
        'sec-fetch-site': 'same-site',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    expect(status).toBe(403)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('SV21 a form of a foreign page is refused for every content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
      for (const origin of ['http://localhost:3000', 'null', undefined]) {
        const { status } = await send('/api/tools/cowork_halt/call', {
          method: 'POST',
          headers: {
            host: `localhost:${app.port}`,
            'content-type': type,
            authorization: `Bearer ${app.owner}`,
            'sec-fetch-site': 'same-site',
            ...(origin !== undefined && { origin }),
          },
          body: '{"arguments":{"scope":"all"}}',
        })
        expect(status, `${type} ${origin}`).toBe(403)
      }
    const status = await (await app.call('cowork_status')).json()
    expect(status).toMatchObject({ output: { halts: [] } })
  })

  test('SV21 a link on a foreign page leads to the console and nowhere else', async () => {
    const followed = {
      host: `localhost:${app.port}`,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    for (const path of ['/', '/inbox/1'])
      expect((await send(path, { headers: followed })).status).not.toBe(403)
    for (const path of ['/api/ledger', '/api/events', '/mcp', '/mcp/cowork', '/metrics'])
      expect((await send(path, { headers: followed })).status, path).toBe(403)
    expect((await send('/', { method: 'POST', headers: followed })).status).toBe(403)
  })

  test('SV21 the console itself and a typed URL are accepted', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
      { origin: app.url, 'sec-fetch-site': 'same-origin' },
    ]) {
      const { status } = await send('/api/ledger', {
        headers: {
          host: `localhost:${app.port}`,
          authorization: `Bearer ${app.owner}`,
          ...headers,
        },
      })
      expect(status).toBe(200)
    }
  })

  test('SV21 an unsupported method is refused with the supported ones', async () => {
    const at = (path: string, method: string) =>
      send(path, {
        method,
        headers: {
          host: `localhost:${app.port}`,
          authorization: `Bearer ${app.owner}`,
          'content-type': 'application/json',
        },
      })
    for (const [path, method, allow] of [
      ['/api/ledger', 'POST', 'GET, HEAD'],
      ['/api/ledger', 'OPTIONS', 'GET, HEAD'],
      ['/api/ledger/verify', 'GET', 'POST'],
      ['/api/session', 'PUT', 'GET, HEAD, DELETE'],
      ['/api/events', 'DELETE', 'GET, HEAD'],
      ['/metrics', 'POST', 'GET, HEAD'],
    ] as const) {
      const { status, headers } = await at(path, method)
      expect(status, `${method} ${path}`).toBe(405)
      expect(headers['allow']).toBe(allow)
    }
    for (const path of ['/api/ledger', '/api/events', '/api/ledger/export', '/metrics']) {
      const { status, text } = await at(path, 'HEAD')
      expect(status, path).toBe(200)
      expect(text).toBe('')
    }
    expect((await at('/api/nothing', 'GET')).status).toBe(404)
  })

  test('SV20 both loopbacks serve each of their names', async () => {
    for (const [host, name] of [
      ['127.0.0.1', '127.0.0.1'],
      ['127.0.0.1', 'localhost'],
      ['::1', '[::1]'],
      ['::1', 'localhost'],
    ] as const)
      expect(
        (await send('/healthz', { host, headers: { host: `${name}:${app.port}` } })).status,
      ).toBe(200)
  })

  test('SV21 the API needs a token, and a wrong one is refused', async () => {
    const without = await fetch(`${app.url}/api/ledger`)
    expect(without.status).toBe(401)
    expect(without.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(await without.json()).toMatchObject({
      error: { code: 'auth_error', hint: expect.any(String) },
    })
    expect((await app.call('cowork_status', {}, 'pk-cowork-wrong')).status).toBe(401)
    expect((await app.call('cowork_status')).status).toBe(200)
  })

  test('SV21 with authentication off, a wrong token is refused on /mcp and no token is accepted', async () => {
    const wrong = await fetch(app.mcpUrl, {
      method: 'POST',
      headers: { ...mcpHeaders, authorization: 'Bearer sk-cowork-nonsense' },
      body: initialize,
    })
    expect(wrong.status).toBe(401)
    const none = await fetch(app.mcpUrl, { method: 'POST', headers: mcpHeaders, body: initialize })
    expect(none.status).toBe(200)
    await none.text()
  })

  test('A3 a person’s token is refused on /mcp', async () => {
    const reply = await fetch(app.mcpUrl, {
      method: 'POST',
      headers: { ...mcpHeaders, authorization: `Bearer ${app.owner}` },
      body: initialize,
    })
    expect(reply.status).toBe(403)
    expect(await reply.text()).toContain('person_token_on_mcp')
  })

  test('SV21 a write that is not JSON is refused, and so are broken bodies', async () => {
    const to = `${app.url}/api/tools/cowork_halt/call`
    const authorization = `Bearer ${app.owner}`
    const form = await fetch(to, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'scope=all',
    })
    expect(form.status).toBe(415)
    for (const body of ['', '{', '[]', '"x"', '{"arguments": 1}', '{"scope":"all"}']) {
      const headers = { authorization, 'content-type': 'application/json' }
      const reply = await fetch(to, { method: 'POST', headers, body })
      expect(reply.status, body).toBe(400)
    }
    const status = await (await app.call('cowork_status')).json()
    expect(status).toMatchObject({ output: { halts: [] } })
  })
})

describe('limits', () => {
  test('SV25 a body over the limit is refused, stated or not', async () => {
    const large = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { x: 'x'.repeat(5 * 1024 * 1024) },
    })
    const stated = await fetch(app.mcpUrl, { method: 'POST', headers: mcpHeaders, body: large })
    expect(stated.status).toBe(413)
    const chunked = await fetch(app.mcpUrl, {
      method: 'POST',
      headers: mcpHeaders,
      body: new Blob([large]).stream(),
      duplex: 'half',
    })
    expect(chunked.status).toBe(413)
  })

  test.each(['/api/tools/cowork_status/call', '/api/sessions', '/api/ledger/verify'])(
    'SV25 a body over the limit is refused at %s too',
    async (path) => {
      const body = JSON.stringify({ arguments: { x: 'x'.repeat(5 * 1024 * 1024) } })
      for (const framing of [{}, { 'transfer-encoding': 'chunked' }]) {
        const { status, text } = await send(path, {
          method: 'POST',
          headers: {
            host: `localhost:${app.port}`,
            authorization: `Bearer ${app.owner}`,
            'content-type': 'application/json',
            ...framing,
          },
          body,
        })
        expect(status).toBe(413)
        expect(text).toContain('too_large')
      }
    },
  )

  test('SV25 headers over 16 KiB are refused', async () => {
    const { status } = await send('/healthz', {
      headers: { host: `localhost:${app.port}`, 'x-long': 'x'.repeat(20_000) },
    })
    expect(status).toBe(431)
  })

  test('SV25 a URL over 16 KiB is refused', async () => {
    const { status } = await send(`/inbox?q=${'x'.repeat(20_000)}`, {
      headers: { host: `localhost:${app.port}` },
    })
    expect(status).toBe(431)
  })

  test('SV25 endless headers, and an endless body at the API, are disconnected', async () => {
    const slow = await startTestApp({ 'server.limits.body_seconds': 1 })
    const begun = [
      `GET /api/ledger HTTP/1.1\r\nHost: localhost:${slow.port}\r\n`,
      `POST /api/sessions HTTP/1.1\r\nHost: localhost:${slow.port}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    ]
    await Promise.all(
      begun.map(async (text) => {
        const socket = connect(slow.port, '127.0.0.1')
        socket.write(text)
        socket.resume()
        await once(socket, 'close')
      }),
    )
    expect((await slow.call('cowork_status')).status).toBe(200)
    await slow.close()
  })

  test('SV25 an endless body is disconnected', async () => {
    const slow = await startTestApp({ 'server.limits.body_seconds': 1 })
    const sent = request({
      host: '127.0.0.1',
      port: slow.port,
      path: '/mcp',
      method: 'POST',
      headers: { ...mcpHeaders, host: `localhost:${slow.port}`, 'content-length': 100 },
    })
    sent.write('{')
    const outcome = await Promise.race([
      once(sent, 'response').then(([response]) => (response as { statusCode: number }).statusCode),
      once(sent, 'error').then(() => 'cut'),
    ])
    expect([408, 'cut']).toContain(outcome)
    sent.destroy()
    await slow.close()
  })
})

describe('start', () => {
  test('SV20 a port in use on the other loopback is refused', async () => {
    const other = createServer().listen(0, '::1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    await expect(startTestApp({ 'server.port': port })).rejects.toMatchObject({
      code: 'port_taken',
    })
    other.close()
  })

  test('SV20 an address beyond loopback is refused unless it is secured', async () => {
    await expect(startTestApp({ 'server.host': '0.0.0.0' })).rejects.toMatchObject({
      code: 'bind_refused',
    })
    await expect(
      startTestApp({ 'server.host': '0.0.0.0', 'server.insecure_bind': true }),
    ).rejects.toMatchObject({ code: 'bind_refused' })
    const open = await startTestApp({
      'server.host': '0.0.0.0',
      'server.insecure_bind': true,
      agents: [{ id: 'one', token: `sk-cowork-${'a'.repeat(48)}` }],
    })
    await open.close()
  })

  test('SV4 a second daemon on the same state directory reports the first', async () => {
    await expect(startTestApp({}, { state: app.state })).rejects.toMatchObject({
      code: 'daemon_running',
      message: expect.stringContaining(`process ${process.pid}, port ${app.port}`),
    })
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  })
})

test('SV21 the server accepts its public URL', async () => {
  const behind = await startTestApp({ 'server.public_url': 'https://desk.example' })
  const { port } = behind
  const ask = (headers: OutgoingHttpHeaders) =>
    new Promise<number>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: '/healthz', headers }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      sent.on('error', reject).end()
    })
  expect(await ask({ host: 'desk.example', origin: 'https://desk.example' })).toBe(200)
  expect(await ask({ host: 'other.example' })).toBe(403)
  expect(await ask({ host: 'desk.example', origin: 'https://other.example' })).toBe(403)
  await behind.close()
})
