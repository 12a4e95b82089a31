import { connect as connectPlain, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { reasonOf } from './post.ts'

/** A reply is a few lines. Who says more at once has something else in mind. */
const longestReply = 16_384

export type MailServer = {
  readonly host: string
  readonly port: number
  /** Only a server on this machine may do without encryption, or show any certificate. */
  readonly isLocal: boolean
  /** Encryption comes first and is not asked for. */
  readonly isTlsFirst: boolean
  readonly auth?: { readonly user: string; readonly password: string }
}
export type Envelope = {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, lines ended by CRLF */
  readonly text: string
}

/** Why a mail was not taken, in words of ours. */
export class SmtpFault extends Error {}

type Reply = { readonly code: number; readonly lines: readonly string[] }

/** Hands a mail to a server (RFC 5321). Gives how many of the receivers it refused; throws a fault. */
export async function sendMail(
  server: MailServer,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<{ refused: number }> {
  signal.throwIfAborted()
  const { host, port, isLocal, isTlsFirst } = server
  const trust = {
    rejectUnauthorized: !isLocal,
    ...(isIP(host) === 0 && { servername: host }),
  }
  const socket = isTlsFirst ? connectTls({ host, port, ...trust }) : connectPlain({ host, port })
  const open = new Set<Socket>([socket])
  const end = () => {
    for (const one of open) one.destroy()
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    let line = converse(socket)
    expectCode(await line.reply(), 220, 'the greeting')
    let offers = await greet(line)
    if (!isTlsFirst && offers.has('STARTTLS')) {
      expectCode(await line.say('STARTTLS'), 220, 'STARTTLS')
      // What it said before the handshake was not protected, and may be somebody else's.
      const plain = line.release()
      const secure = connectTls({ socket: plain, host, ...trust })
      open.add(secure)
      line = converse(secure)
      offers = await greet(line)
    } else if (!isTlsFirst && !isLocal)
      throw new SmtpFault('the mail server offers no encryption (STARTTLS)')
    if (server.auth) await authenticate(line, offers, server.auth)
    const refused = await handOver(line, envelope)
    // The mail is theirs by now, however they take their leave.
    await line.say('QUIT').catch(() => undefined)
    return { refused }
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

type Line = ReturnType<typeof converse>
type Offers = ReadonlyMap<string, string>

async function greet(line: Line): Promise<Offers> {
  const { lines } = expectCode(await line.say('EHLO [127.0.0.1]'), 250, 'EHLO')
  return new Map(
    lines.slice(1).map((text) => {
      const [name = '', ...rest] = text.split(/[ =]/)
      return [name.toUpperCase(), rest.join(' ').toUpperCase()]
    }),
  )
}

async function authenticate(
  line: Line,
  offers: Offers,
  { user, password }: { user: string; password: string },
) {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const ways = (offers.get('AUTH') ?? '').split(' ')
  if (ways.includes('PLAIN')) {
    const proof = base64(`\0${user}\0${password}`)
    expectCode(await line.say(`AUTH PLAIN ${proof}`), 235, 'AUTH')
  } else if (ways.includes('LOGIN')) {
    expectCode(await line.say('AUTH LOGIN'), 334, 'AUTH')
    expectCode(await line.say(base64(user)), 334, 'AUTH')
    expectCode(await line.say(base64(password)), 235, 'AUTH')
  } else throw new SmtpFault('the mail server offers neither AUTH PLAIN nor AUTH LOGIN')
}

async function handOver(line: Line, { from, to, text }: Envelope): Promise<number> {
  expectCode(await line.say(`MAIL FROM:<${from}>`), 250, 'MAIL')
  const refusals: Reply[] = []
  for (const receiver of to) {
    const reply = await line.say(`RCPT TO:<${receiver}>`)
    if (reply.code !== 250 && reply.code !== 251) refusals.push(reply)
  }
  const [refused] = refusals
  if (refused && refusals.length === to.length)
    throw new SmtpFault(`the mail server answered ${refused.code} to RCPT`)
  expectCode(await line.say('DATA'), 354, 'DATA')
  expectCode(await line.say(`${stuffed(text)}\r\n.`), 250, 'the mail')
  return refusals.length
}

/** A line that is a dot alone would end the mail, so one that begins with a dot gets another. */
const stuffed = (text: string) => text.replaceAll(/(^|\n)\./g, '$1..').replace(/\r\n$/, '')

function expectCode(reply: Reply, code: number, to: string): Reply {
  if (reply.code === code) return reply
  throw new SmtpFault(`the mail server answered ${reply.code} to ${to}`)
}

/** What is said over a socket, a line and its reply at a time. */
function converse(socket: Socket) {
  let heard = ''
  let fault: SmtpFault | undefined
  let hearing: { resolve(reply: Reply): void; reject(fault: SmtpFault): void } | undefined

  function fail(why: string) {
    fault ??= new SmtpFault(why)
    hearing?.reject(fault)
    hearing = undefined
    socket.destroy()
  }
  function understand() {
    const [whole, last] = /^(?:\d{3}-[^\n]*\n)*(\d{3}(?: [^\n]*)?\r?\n)?/.exec(heard) ?? ['']
    if (last === undefined) {
      if (heard.slice(whole.length).includes('\n')) fail('the mail server speaks no SMTP')
      return
    }
    if (!hearing) return
    const { resolve } = hearing
    hearing = undefined
    heard = heard.slice(whole.length)
    const lines = whole.trimEnd().split(/\r?\n/)
    resolve({ code: Number(last.slice(0, 3)), lines: lines.map((text) => text.slice(4)) })
  }
  function hear(chunk: Buffer) {
    heard += chunk.toString('latin1')
    if (heard.length > longestReply) fail('the mail server says too much')
    else understand()
  }
  const broken = (error: Error) => fail(reasonOf(error))
  const closed = () => fail('the mail server ended the connection')
  socket.on('data', hear)
  socket.on('error', broken)
  socket.on('close', closed)

  const reply = () =>
    new Promise<Reply>((resolve, reject) => {
      if (fault) return reject(fault)
      hearing = { resolve, reject }
      understand()
    })
  return {
    reply,
    say(text: string) {
      socket.write(`${text}\r\n`)
      return reply()
    },
    /** Gives the socket back, with nothing left unheard. */
    release(): Socket {
      if (heard !== '') fail('the mail server speaks before its turn')
      if (fault) throw fault
      socket.off('data', hear).off('close', closed)
      return socket
    },
  }
}
