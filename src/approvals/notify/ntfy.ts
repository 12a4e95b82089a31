import type { ChannelOfType, Driver, Sleep } from './model.ts'
import { parseAddress, channelConfigError, toSendOutcome, post } from './http-post.ts'
import { formatLines, formatNotification } from './notification-text.ts'

const priorities = { low: 2, normal: 3, high: 4 }
/** ntfy turns a message of more than 4,096 bytes into an attachment. */
const maxMessageBytes = 4000

/** Publishes to an ntfy topic. A message contains a link and cannot decide anything (A5). */
export function createNtfy(channel: ChannelOfType<'ntfy'>, wait: Sleep): Driver {
  const { id, topic, token } = channel
  const { address, authorization } = parseAddress(id, channel.server)
  const access = token === undefined ? authorization : `Bearer ${token}`
  if (!/^[\w-]{1,64}$/.test(topic))
    throw channelConfigError(
      `notify.channels: the topic of "${id}" must be 1 to 64 letters, digits, - or _.`,
      'Choose a topic that is hard to guess: anyone who knows it can read the notifications.',
    )

  return {
    audience: 'person',
    async send(message, signal) {
      const words = formatNotification(message)
      const { title, risk, isEscalated, url } = words
      const body = JSON.stringify({
        topic,
        title,
        message: truncateBytes(formatLines(words).join('\n') || title, maxMessageBytes),
        priority: priorities[risk] + (isEscalated ? 1 : 0),
        tags: isEscalated ? ['cowork', risk, 'escalated'] : ['cowork', risk],
        click: url,
      })
      const headers = access === undefined ? {} : { authorization: access }
      const answer = await post({ address, headers, body }, wait, signal)
      return 'kind' in answer ? answer : toSendOutcome(answer, message.at)
    },
  }
}

function truncateBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  return `${new TextDecoder().decode(bytes.subarray(0, most - 3)).replace(/\ufffd+$/, '')}…`
}
