import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createEmail } from './email.ts'
import { createTime, noticed } from '../../../test/approvals/notify/notify.fixture.ts'
import type { ChannelOfType } from './model.ts'
import { isLoopback } from './http-post.ts'
import {
  certificate,
  readMail,
  startMailServer,
} from '../../../test/approvals/notify/smtp.fixture.ts'
import type { ServerOptions } from '../../../test/approvals/notify/smtp.fixture.ts'
import { sendMail } from './smtp.ts'

const never = new AbortController().signal
const at = Date.parse('2026-08-01T12:00:00Z')

async function setup(options: ServerOptions = {}, more: Partial<ChannelOfType<'email'>> = {}) {
  const server = await startMailServer(options)
  const channel: ChannelOfType<'email'> = {
    type: 'email',
    id: 'mail',
    host: '127.0.0.1',
    port: server.port,
    from: 'cowork@example.com',
    to: ['anna@example.com', 'bob@example.com'],
    ...more,
  }
  const send = (time = createTime(at), signal = never) =>
    createEmail(channel, time.wait).send({ id: 'd-1', notice: noticed(), at }, signal)
  return { ...server, send }
}
const mailOf = (subject: string, text: string) => ({
  id: 'd-1',
  at,
  from: 'a@example.com',
  to: ['b@example.com'],
  subject,
  text,
})
const account = { user: 'cowork', password: 'pass' }

test('A5 an email is encrypted plain text with a link, sent once to all recipients', async () => {
  const { send, mails } = await setup({}, account)
  expect(await send()).toEqual({ kind: 'sent' })
  expect(mails).toEqual([
    {
      isSecure: true,
      user: 'cowork',
      from: 'cowork@example.com',
      to: ['anna@example.com', 'bob@example.com'],
      text: expect.any(String),
    },
  ])
  const { headers, text } = readMail(mails[0]?.text ?? '')
  expect(Object.fromEntries(headers)).toEqual({
    date: 'Sat, 01 Aug 2026 12:00:00 +0000',
    from: 'cowork@example.com',
    to: 'anna@example.com, bob@example.com',
    subject: 'Decision needed: proposal from sales (normal risk)',
    'message-id': '<d-1@example.com>',
    'auto-submitted': 'auto-generated',
    'mime-version': '1.0',
    'content-type': 'text/plain; charset=utf-8',
    'content-transfer-encoding': 'base64',
  })
  expect(text.split('\r\n')).toEqual([
    'Decision needed: proposal from sales (normal risk)',
    'The agent says: Set the stage of deal-7 to won (crm)',
    '',
    'http://localhost:8765/inbox/p1',
    '',
  ])
})

test('A10 uses AUTH LOGIN without PLAIN; a local server may skip encryption', async () => {
  const login = await setup({ auth: ['LOGIN'], startTls: false }, account)
  expect(await login.send()).toEqual({ kind: 'sent' })
  expect(login.mails).toMatchObject([{ isSecure: false, user: 'cowork' }])
  const open = await setup({ auth: [], startTls: false })
  expect(await open.send()).toEqual({ kind: 'sent' })
})

test.each<[string, ServerOptions, string]>([
  ['expects another password', { password: 'other' }, 'mail server replied 535 to AUTH'],
  ['supports no AUTH method', { auth: [] }, 'mail server replied 504 to AUTH'],
  [
    'has no space',
    { instead: (c) => (c.startsWith('MAIL') ? '452 full' : 'usual') },
    'mail server replied 452 to MAIL',
  ],
  ['refuses all recipients', { refuse: ['anna', 'bob'] }, 'mail server replied 550 to RCPT'],
  [
    'refuses connections',
    { instead: (c) => (c === 'greeting' ? '554 no' : 'usual') },
    'mail server replied 554 to the connection',
  ],
  ['does not speak SMTP', { instead: () => 'HTTP/1.1 400 Bad Request' }, 'not an SMTP server'],
  [
    'sends an endless reply',
    { instead: () => '220-on and on\r\n'.repeat(2000) },
    'mail server response too large',
  ],
  [
    'closes the connection',
    { instead: (c, socket) => (c === 'DATA' ? void socket.destroy() : 'usual') },
    'mail server closed the connection',
  ],
])('A10 a mail server that %s causes an error with our own text', async (_, options, error) => {
  const { send } = await setup(options, account)
  expect(await send()).toEqual({ kind: 'failed', error })
})

test('A10 plain text injected before STARTTLS has no effect', async () => {
  const { send, mails, commands } = await setup(
    { auth: ['PLAIN'], injected: '250-x\r\n250 AUTH LOGIN\r\n235 welcome\r\n250' },
    account,
  )
  expect(await send()).toEqual({ kind: 'sent' })
  expect(mails).toMatchObject([{ isSecure: true, user: 'cowork' }])
  expect(commands).not.toContain('AUTH LOGIN')
})

test('A10 refused recipients are reported, and the others get the email', async () => {
  const { send, mails } = await setup({ refuse: ['bob'] })
  expect(await send()).toEqual({ kind: 'sent', note: '1 of 2 recipients refused' })
  expect(mails).toMatchObject([{ to: ['anna@example.com'] }])
})

test('A10 a hanging mail server times out after 30 seconds, and shutdown interrupts', async () => {
  const time = createTime(at)
  const { send, commands } = await setup({ instead: (c) => (c === 'DATA' ? undefined : 'usual') })
  const sending = send(time)
  await expect.poll(() => commands.at(-1)).toBe('DATA')
  time.move(30_000)
  expect(await sending).toEqual({ kind: 'failed', error: 'no response within 30 s' })
  const ending = new AbortController()
  const again = send(time, ending.signal)
  await expect.poll(() => commands.filter((line) => line === 'DATA').length).toBe(2)
  ending.abort()
  expect(await again).toEqual({ kind: 'interrupted' })
  expect(await send(time, ending.signal)).toEqual({ kind: 'interrupted' })
})

test('A10 a remote server must use TLS with a trusted certificate', async () => {
  const to = (port: number, { host = '127.0.0.1', isTlsFirst = false } = {}) =>
    sendMail({ host, port, isLocal: false, isTlsFirst, auth: account }, mailOf('x', 'hi'), never)
  const plain = await startMailServer({ startTls: false })
  await expect(to(plain.port)).rejects.toThrow('does not support STARTTLS')
  expect(plain.commands).toEqual(['EHLO [127.0.0.1]', 'STARTTLS'])
  const secure = await startMailServer()
  await expect(to(secure.port)).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(secure.mails).toEqual([])
  const first = await startMailServer({ tlsFirst: true })
  await expect(to(first.port, { isTlsFirst: true })).rejects.toThrow('DEPTH_ZERO')

  const defaults = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(defaults))
  setDefaultCACertificates([certificate().cert])
  expect(await to(secure.port)).toEqual({ refused: 0 })
  expect(await to(secure.port, { host: 'localhost' })).toEqual({ refused: 0 })
  expect(secure.mails).toMatchObject([
    { isSecure: true, user: 'cowork' },
    { isSecure: true, user: 'cowork' },
  ])
  expect(await to(first.port, { isTlsFirst: true })).toEqual({ refused: 0 })
  expect(first.mails).toMatchObject([{ isSecure: true, user: 'cowork' }])
  expect(first.commands).not.toContain('STARTTLS')
})

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['[::1]', true],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['10.0.0.1', false],
  ['smtp.example.com', false],
])('A10 isLoopback(%s) is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})

const local = (port: number) => ({ host: '127.0.0.1', port, isLocal: true, isTlsFirst: false })

test('A10 email text arrives unchanged, including leading dots', async () => {
  const { port, mails } = await startMailServer({ startTls: false, auth: [] })
  const line = fc.string({ unit: fc.constantFrom('.', '..', 'a', ' ', 'ß', '😀'), maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      const text = `${lines.join('\r\n')}\r\n`
      await sendMail(local(port), mailOf('x', text), never)
      expect(readMail(mails.at(-1)?.text ?? '').text).toBe(text)
    }),
    { numRuns: 40 },
  )
})

test('A13 a subject is always encoded, in words of at most 75 characters', async () => {
  const { port, mails } = await startMailServer({ startTls: false, auth: [] })
  const unit = fc.constantFrom('a', ' ', 'ß', '日', '😀', '=?UTF-8?B?aGk=?=', '\r\n', '.')
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 200 }), async (subject) => {
      await sendMail(local(port), mailOf(subject, '\nx'), never)
      const mail = mails.at(-1)?.text ?? ''
      const [, encoded = ''] = /^Subject:((?:\r?\n? .*)+)/m.exec(mail) ?? []
      for (const word of encoded.trim().split(/\s+/)) {
        expect(word).toMatch(/^=\?UTF-8\?B\?[A-Za-z0-9+/=]*\?=$/)
        expect(word.length).toBeLessThanOrEqual(75)
      }
      expect(mail.split('\r\n').every((line) => line.length <= 998 && !line.includes('\n'))).toBe(
        true,
      )
      const { headers, text } = readMail(mail)
      expect(headers.get('subject')).toBe(subject)
      expect(text).toBe('\r\nx')
    }),
    { numRuns: 40 },
  )
})

test('A10 a user without a password is a configuration error', () => {
  const start = () =>
    createEmail(
      { type: 'email', id: 'mail', host: 'x', port: 25, from: 'a@x', to: ['b@x'], user: 'anna' },
      createTime().wait,
    )
  expect(start).toThrow(expect.objectContaining({ code: 'config_invalid' }))
})
