import { once } from 'node:events'
import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import type { NodemailerError } from 'nodemailer'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import { networkErrorCode } from './http-post.ts'

export type MailServer = {
  readonly host: string
  readonly port: number
  /** Only a server on this machine may skip encryption or use an untrusted certificate. */
  readonly isLocal: boolean
  /** Implicit TLS, without STARTTLS. */
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

/** A reply has a few lines; a larger response does not come from an SMTP server. */
const maxResponseSize = 16_384
/** RFC 2047 limits an encoded word to 75 characters. */
const maxWordLength = 75

/** Sends an email over SMTP. Returns the number of refused recipients; throws an `SmtpError`. */
export async function sendMail(
  { host, port, isLocal, isTlsFirst, auth }: MailServer,
  mail: Mail,
  signal: AbortSignal,
): Promise<{ refused: number }> {
  signal.throwIfAborted()
  // Our own socket can be aborted and uses the resolver of the system.
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
      // Otherwise a server without AUTH would receive the email unauthenticated.
      forceAuth: true,
      ...(auth && { auth: { user: auth.user, pass: auth.password } }),
    })
    const { rejected } = await transport.sendMail(toMessage(mail))
    return { refused: rejected.length }
  } catch (error) {
    throw toSmtpError(error)
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

function toMessage({ id, at, from, to, subject, text }: Mail) {
  const [, domain = 'localhost'] = /@([\w.-]+)$/.exec(from) ?? []
  return {
    envelope: { from, to: [...to] },
    from,
    to: [...to],
    date: new Date(at),
    // Equal for every attempt, so mail clients recognize duplicates.
    messageId: `<${id}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      // Always encoded: a subject that resembles an encoded word would be displayed as different
      // text (A13).
      Subject: { prepared: true, foldLines: true, value: encodeWord(subject, 'B', maxWordLength) },
    },
    text: text.replaceAll(/\r?\n/g, '\r\n'),
    encoding: 'base64',
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/**
 * Reports only command and code: the reply text belongs to the server and may contain an address.
 */
function toSmtpError(error: unknown): SmtpError {
  if (!(error instanceof Error)) return new SmtpError(networkErrorCode(error))
  const { code, originalCode, command = '', response, responseCode }: NodemailerError = error
  const [verb] = command.split(' ')
  if (code === 'ETLS' && verb === 'STARTTLS' && responseCode !== undefined)
    return new SmtpError('mail server does not support STARTTLS')
  if (responseCode !== undefined)
    return new SmtpError(
      `mail server replied ${responseCode} to ${verb === 'CONN' ? 'the connection' : verb}`,
    )
  if (code === 'EPROTOCOL')
    return new SmtpError(
      response === undefined ? 'mail server response too large' : 'not an SMTP server',
    )
  if (originalCode !== undefined)
    return new SmtpError(networkErrorCode(new Error('smtp', { cause: { code: originalCode } })))
  return new SmtpError(
    code === 'ECONNECTION' ? 'mail server closed the connection' : networkErrorCode(error),
  )
}
