import type { ChannelOfType, Driver, Sleep } from './model.ts'
import { channelConfigError, isLoopback } from './http-post.ts'
import { formatLines, formatNotification } from './notification-text.ts'

const timeoutMs = 30_000
/** The port for implicit TLS. */
const tlsPort = 465

/** Sends email over SMTP. A message contains a link and cannot decide anything (A5). */
export function createEmail(channel: ChannelOfType<'email'>, wait: Sleep): Driver {
  const { id, host, port, user, password, from, to } = channel
  if ((user === undefined) !== (password === undefined))
    throw channelConfigError(
      `notify.channels: "${id}" needs both user and password, or neither.`,
      'Set both, or remove both.',
    )
  const server = {
    host,
    port,
    isLocal: isLoopback(host),
    isTlsFirst: port === tlsPort,
    ...(user !== undefined && password !== undefined && { auth: { user, password } }),
  }

  return {
    audience: 'person',
    async send(message, signal) {
      // Loads nodemailer with the first email, not when the daemon starts.
      const { sendMail, SmtpError } = await import('./smtp.ts')
      const text = formatNotification(message)
      const mail = {
        id: message.id,
        at: message.at,
        from,
        to,
        subject: text.title,
        text: `${[text.title, ...formatLines(text), '', text.url].join('\n')}\n`,
      }
      const timer = new AbortController()
      void wait(timeoutMs, timer.signal).then(() => timer.abort())
      try {
        const either = AbortSignal.any([signal, timer.signal])
        const { refused } = await sendMail(server, mail, either)
        if (refused === 0) return { kind: 'sent' }
        return { kind: 'sent', note: `${refused} of ${to.length} recipients refused` }
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted' }
        if (timer.signal.aborted)
          return { kind: 'failed', error: `no response within ${timeoutMs / 1000} s` }
        if (!(error instanceof SmtpError)) throw error
        return { kind: 'failed', error: error.message }
      } finally {
        timer.abort()
      }
    },
  }
}
