import type { ChannelOfType, Driver, Sleep } from './model.ts'
import { channelConfigError, isLoopback } from './http-post.ts'
import { formatLines, formatNotification } from './notification-text.ts'

const timeout = 30_000
/** The port on which encryption comes first. */
const tlsPort = 465

/** Sends mail over SMTP. It carries a link and cannot decide anything (A5). */
export function createEmail(channel: ChannelOfType<'email'>, wait: Sleep): Driver {
  const { id, host, port, user, password, from, to } = channel
  if ((user === undefined) !== (password === undefined))
    throw channelConfigError(
      `notify.channels: "${id}" has a user without a password, or the reverse.`,
      'Give both or neither.',
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
      // Loads nodemailer when the first mail is sent, not when the daemon starts.
      const { sendMail, SmtpError } = await import('./smtp.ts')
      const words = formatNotification(message)
      const mail = {
        id: message.id,
        at: message.at,
        from,
        to,
        subject: words.title,
        text: `${[words.title, ...formatLines(words), '', words.url].join('\n')}\n`,
      }
      const limit = new AbortController()
      void wait(timeout, limit.signal).then(() => limit.abort())
      try {
        const either = AbortSignal.any([signal, limit.signal])
        const { refused } = await sendMail(server, mail, either)
        if (refused === 0) return { kind: 'sent' }
        return { kind: 'sent', note: `${refused} of ${to.length} receivers were refused` }
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted' }
        if (limit.signal.aborted)
          return { kind: 'failed', error: `no answer within ${timeout / 1000} s` }
        if (!(error instanceof SmtpError)) throw error
        return { kind: 'failed', error: error.message }
      } finally {
        limit.abort()
      }
    },
  }
}
