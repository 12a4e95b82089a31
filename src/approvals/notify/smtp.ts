import { once } from 'node:events'
import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import type { NodemailerError } from 'nodemailer'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import { networkErrorCode } from './http-post.ts'

export type MailServer = {
  readonly host: string
  readonly port: number
  /** Only a server on this machine may do without encryption, or show any certificate. */
  readonly isLocal: boolean
  /** TLS starts with the first byte, without STARTTLS. */
  readonly isTlsFirst: boolean
  readonly auth?: { readonly user: string; readonly password: string }
}
export type Mail = {
  readonly id: string
  readonly at: number
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

export class SmtpError extends Error {}

/** A reply is a few lines; a server that sends more at once is not a mail server. */
const maxResponseSize = 16_384
/** RFC 2047 limits an encoded word to 75 characters. */
const maxWordLength = 75

/** Sends a mail over SMTP. Returns the number of receivers the server refused; throws an `SmtpError`. */
export async function sendMail(
  { host, port, isLocal, isTlsFirst, auth }: MailServer,
  mail: Mail,
  signal: AbortSignal,
): Promise<{ refused: number }> {
  signal.throwIfAborted()
  // A socket of ours can be aborted, and resolves the host as the system does.
  const socket = connect({ host, port })
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await once(socket, 'connect', { signal })
    const transport = createTransport({
      host,
      connection: socket,
      secure: isTlsFirst,
      requireTLS: !isLocal && !isTlsFirst,
      tls: { rejectUnauthorized: !isLocal },
      name: '[127.0.0.1]',
      maxResponseSize,
      // Without it a server that offers no AUTH would get the mail without a sign-in.
      forceAuth: true,
      ...(auth && { auth: { user: auth.user, pass: auth.password } }),
    })
    const { rejected } = await transport.sendMail(messageOf(mail))
    return { refused: rejected.length }
  } catch (error) {
    throw faultOf(error)
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

function messageOf({ id, at, from, to, subject, text }: Mail) {
  const [, domain = 'localhost'] = /@([\w.-]+)$/.exec(from) ?? []
  return {
    envelope: { from, to: [...to] },
    from,
    to: [...to],
    date: new Date(at),
    // The same for every attempt, so that mail programs recognize a duplicate.
    messageId: `<${id}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      // Always encoded: a subject that looks like an encoded word would be shown as another text (A13).
      Subject: { prepared: true, foldLines: true, value: encodeWord(subject, 'B', maxWordLength) },
    },
    text: text.replaceAll(/\r?\n/g, '\r\n'),
    encoding: 'base64',
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Only the command and the code: the text of a reply is the server's and may repeat an address. */
function faultOf(error: unknown): SmtpError {
  if (!(error instanceof Error)) return new SmtpError(networkErrorCode(error))
  const { code, originalCode, command = '', response, responseCode }: NodemailerError = error
  const [verb] = command.split(' ')
  if (code === 'ETLS' && verb === 'STARTTLS' && responseCode !== undefined)
    return new SmtpError('the mail server offers no encryption (STARTTLS)')
  if (responseCode !== undefined)
    return new SmtpError(
      `the mail server answered ${responseCode} to ${verb === 'CONN' ? 'the greeting' : verb}`,
    )
  if (code === 'EPROTOCOL')
    return new SmtpError(
      response === undefined ? 'the mail server says too much' : 'the mail server speaks no SMTP',
    )
  if (originalCode !== undefined)
    return new SmtpError(networkErrorCode(new Error('smtp', { cause: { code: originalCode } })))
  return new SmtpError(
    code === 'ECONNECTION' ? 'the mail server ended the connection' : networkErrorCode(error),
  )
}
