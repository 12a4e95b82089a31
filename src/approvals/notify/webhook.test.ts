import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  createTime,
  hang,
  startReceiver,
  status,
} from '../../../test/approvals/notify/notify.fixture.ts'
import type { WebhookChannel } from './model.ts'
import { parseRetryAfter } from './http-post.ts'
import { createWebhook } from './webhook.ts'

const notice = JSON.stringify({ type: 'approval.requested', data: { summary: 'Grüße, 日本' } })
const never = new AbortController().signal

function sendTo(channel: WebhookChannel, time = createTime(), signal = never) {
  const { send } = createWebhook(channel, time.wait)
  return send({ id: 'd-1', notice, at: time.now() }, signal)
}

test('A10 the official library accepts the signature of a webhook', async () => {
  const receiver = await startReceiver()
  expect(await sendTo(receiver.channel('ops'))).toEqual({ kind: 'sent' })
  const [got] = receiver.got
  expect(got?.verify()).toEqual(JSON.parse(notice))
  expect(got?.headers).toMatchObject({
    'webhook-id': 'd-1',
    'content-type': 'application/json',
  })
  expect(got?.body).toBe(notice)
})

test.each([500, 404, 302])('A10 HTTP %d is retried', async (code) => {
  const elsewhere = await startReceiver()
  const receiver = await startReceiver(status(code, { location: elsewhere.url }))
  expect(await sendTo(receiver.channel('ops'))).toEqual({
    kind: 'failed',
    error: `receiver returned HTTP ${code}`,
  })
  expect(elsewhere.got).toEqual([])
})

test('A10 HTTP 410 is final', async () => {
  const receiver = await startReceiver(status(410))
  expect(await sendTo(receiver.channel('ops'))).toMatchObject({ kind: 'failed', isFinal: true })
})

test('A10 Retry-After may be seconds or a date', async () => {
  const receiver = await startReceiver(status(429, { 'retry-after': '90' }))
  expect(await sendTo(receiver.channel('ops'))).toMatchObject({ waitMs: 90_000 })
  const now = Date.parse('2026-08-01T12:00:00Z')
  expect(parseRetryAfter('Sat, 01 Aug 2026 12:00:30 GMT', now)).toBe(30_000)
  for (const useless of [null, '', '-5', '0', 'soon', 'Sat, 01 Aug 2026 11:00:00 GMT'])
    expect(parseRetryAfter(useless, now)).toBeUndefined()
})

test('A10 a hanging receiver times out after ten seconds', async () => {
  const time = createTime()
  const receiver = await startReceiver(hang)
  const sending = sendTo(receiver.channel('ops'), time)
  await expect.poll(() => receiver.got.length).toBe(1)
  time.move(9999)
  time.move(1)
  expect(await sending).toEqual({ kind: 'failed', error: 'no response within 10 s' })
})

test('A10 shutdown interrupts an attempt', async () => {
  const ending = new AbortController()
  const receiver = await startReceiver(hang)
  const sending = sendTo(receiver.channel('ops'), createTime(), ending.signal)
  await expect.poll(() => receiver.got.length).toBe(1)
  ending.abort()
  expect(await sending).toEqual({ kind: 'interrupted' })
})

test('A10 an endless response is ended after its status', async () => {
  // Keeps a reference, because garbage collection would also end the response.
  const answers: Response[] = []
  const { fetch: real } = globalThis
  const kept = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const answer = await real(...args)
    answers.push(answer)
    return answer
  })
  onTestFinished(() => kept.mockRestore())
  let isCut = false
  const receiver = await startReceiver((response) => {
    response.writeHead(200)
    const flood = setInterval(() => response.write('and on '), 1)
    response.on('close', () => {
      clearInterval(flood)
      isCut = true
    })
  })
  expect(await sendTo(receiver.channel('ops'))).toEqual({ kind: 'sent' })
  await expect.poll(() => isCut).toBe(true)
  expect(answers).toHaveLength(1)
})

/** Starts a TCP server that sends arbitrary bytes. */
async function startNoise(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => speak(socket))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test.each<[string, (socket: Socket) => void]>([
  ['is not HTTP', (socket) => void socket.write('\u0000garbage\r\n\r\n')],
  ['is one long header', (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1e6)}`)],
  ['ends immediately', (socket) => void socket.destroy()],
])('A10 a response that %s is a normal failure', async (_, speak) => {
  const receiver = await startReceiver()
  const outcome = await sendTo(receiver.channel('ops', { url: await startNoise(speak) }))
  expect(outcome).toMatchObject({
    kind: 'failed',
    error: expect.stringMatching(/^receiver unreachable/),
  })
})

test('A10 user and password of the URL go into a header and never into an error', async () => {
  const receiver = await startReceiver(status(500))
  const withUser = (url: string) => url.replace('//', '//anna:s%40cret-word@')
  const outcome = await sendTo(receiver.channel('ops', { url: withUser(receiver.url) }))
  const basic = Buffer.from('anna:s@cret-word').toString('base64')
  expect(receiver.got[0]?.headers.authorization).toBe(`Basic ${basic}`)
  const closed = await startNoise((socket) => void socket.destroy())
  const lost = await sendTo(receiver.channel('ops', { url: withUser(closed) }))
  const nowhere = await sendTo(receiver.channel('ops', { url: withUser('http://127.0.0.1:9/') }))
  for (const one of [outcome, lost, nowhere]) {
    expect(one.kind).toBe('failed')
    expect(JSON.stringify(one)).not.toMatch(/cret|127\.0\.0\.1|anna/)
  }
})

test.each([
  ['a secret without its prefix', { secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  ['a secret of a few bytes', { secret: 'whsec_c2hvcnQ=' }],
  ['a secret that is not base64', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GK' }],
  ['an invalid URL', { url: 'http://anna:MfKQ9@[bad' }],
  ['a URL with another scheme', { url: 'ftp://MfKQ9.test/' }],
])('A10 %s is a configuration error that does not show the value', async (_, wrong) => {
  const receiver = await startReceiver()
  const start = () => createWebhook(receiver.channel('ops', wrong), createTime().wait)
  expect(start).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  expect(start).not.toThrow(/MfKQ9|c2hvcnQ/)
})
