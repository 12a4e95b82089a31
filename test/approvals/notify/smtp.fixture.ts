import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'

let made: { key: string; cert: string } | undefined

/** Creates a certificate for this machine that only tests trust. */
export function certificate(): { key: string; cert: string } {
  if (made) return made
  const folder = mkdtempSync(join(tmpdir(), 'cowork-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const san = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const args = ['req', '-x509', '-nodes', ...curve, '-days', '2', '-subj', '/CN=localhost']
  execFileSync('openssl', [...args, '-addext', san, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  return made
}

type Received = {
  readonly isSecure: boolean
  readonly user: string | undefined
  readonly from: string
  readonly to: string[]
  readonly text: string
}
export type ServerOptions = {
  readonly startTls?: boolean
  /** Implicit TLS */
  readonly tlsFirst?: boolean
  readonly auth?: readonly ('PLAIN' | 'LOGIN')[]
  readonly password?: string
  readonly refuse?: readonly string[]
  /** Plain text sent with the reply to STARTTLS, like an attacker on the network */
  readonly injected?: string
  /** Overrides the reply to a command; `usual` keeps it, undefined sends no reply. */
  readonly instead?: (command: string, socket: Socket) => string | undefined
}

/** Starts a local SMTP server (RFC 5321) that stores received emails. */
export async function startMailServer(options: ServerOptions = {}) {
  const {
    startTls = true,
    tlsFirst = false,
    auth = ['PLAIN', 'LOGIN'],
    password = 'pass',
  } = options
  const { instead = () => 'usual', refuse = [], injected = '' } = options
  const mails: Received[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const base64 = (text: string) => Buffer.from(text, 'base64').toString()

  function serve(socket: Socket, isSecure: boolean, isGreeted = false) {
    sockets.add(socket)
    let heard = ''
    let user: string | undefined
    let from = ''
    let to: string[] = []
    let login: string[] | undefined
    let isData = false
    const usual = (line: string): string => {
      if (login) {
        login.push(base64(line))
        if (login.length === 1) return '334 UGFzc3dvcmQ6'
        const [name, given] = login
        login = undefined
        user = given === password ? name : undefined
        return user === undefined ? '535 5.7.8 no' : '235 2.7.0 welcome'
      }
      const [verb = '', ...rest] = line.split(' ')
      const given = rest.join(' ')
      switch (verb.toUpperCase()) {
        case 'EHLO':
          return [
            '250-mail.test greets you',
            '250-PIPELINING',
            ...(startTls && !isSecure ? ['250-STARTTLS'] : []),
            ...(auth.length > 0 ? [`250-AUTH ${auth.join(' ')}`] : []),
            '250 8BITMIME',
          ].join('\r\n')
        case 'AUTH': {
          if (!auth.some((one) => given.startsWith(one))) return '504 5.5.4 unknown'
          if (given === 'LOGIN') {
            login = []
            return '334 VXNlcm5hbWU6'
          }
          const [, name, word] = base64(given.replace('PLAIN ', '')).split('\0')
          user = word === password ? name : undefined
          return user === undefined ? '535 5.7.8 no' : '235 2.7.0 welcome'
        }
        case 'MAIL':
          from = given
          to = []
          return '250 ok'
        case 'RCPT':
          if (refuse.some((one) => given.includes(one))) return '550 5.1.1 nobody here'
          to.push(given.replace(/^TO:<|>$/g, ''))
          return '250 ok'
        case 'DATA':
          if (to.length === 0) return '503 5.5.1 no valid receivers'
          isData = true
          return '354 go on'
        case 'QUIT':
          return '221 bye'
        default:
          return '500 what?'
      }
    }
    function hear(chunk: Buffer) {
      heard += chunk.toString('utf8')
      for (;;) {
        if (isData) {
          const end = heard.indexOf('\r\n.\r\n')
          if (end === -1) return
          const text = `${heard.slice(0, end)}\r\n`.replaceAll(/(^|\r\n)\./g, '$1')
          heard = heard.slice(end + 5)
          isData = false
          mails.push({ isSecure, user, from: from.replace(/^FROM:<|>$/g, ''), to, text })
          socket.write('250 2.0.0 queued\r\n')
          continue
        }
        const end = heard.indexOf('\r\n')
        if (end === -1) return
        const line = heard.slice(0, end)
        heard = heard.slice(end + 2)
        commands.push(line)
        const other = instead(line, socket)
        if (other === undefined) continue
        if (other === 'usual' && line === 'STARTTLS' && startTls && !isSecure) {
          socket.off('data', hear)
          socket.write(`220 go ahead\r\n${injected}`)
          return serve(new TLSSocket(socket, { isServer: true, ...certificate() }), true, true)
        }
        socket.write(`${other === 'usual' ? usual(line) : other}\r\n`)
      }
    }
    socket.on('data', hear)
    socket.on('error', () => undefined)
    if (isGreeted) return
    const greeting = instead('greeting', socket)
    if (greeting !== undefined)
      socket.write(`${greeting === 'usual' ? '220-mail.test\r\n220 ready' : greeting}\r\n`)
  }

  const server = tlsFirst
    ? createTlsServer(certificate(), (socket) => serve(socket, true))
    : createServer((socket) => serve(socket, false))
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => server.close(closed))
  })
  return { port: (server.address() as AddressInfo).port, mails, commands }
}

/** Parses an email like a mail client: unfolded, decoded headers and the text. */
export function readMail(mail: string) {
  const end = mail.indexOf('\r\n\r\n')
  const headers = new Map(
    mail
      .slice(0, end)
      .replaceAll(/\?=\r\n =\?/g, '?==?')
      .replaceAll(/\r\n /g, ' ')
      .split('\r\n')
      .map((line) => {
        const [, name = '', value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? []
        return [name.toLowerCase(), value.replaceAll(/=\?UTF-8\?B\?(.*?)\?=/g, decoded)] as const
      }),
  )
  return { headers, text: Buffer.from(mail.slice(end), 'base64').toString() }
}

const decoded = (_: string, word: string) => Buffer.from(word, 'base64').toString()
