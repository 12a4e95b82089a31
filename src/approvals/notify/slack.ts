import type { ChannelOfType, Driver, Sleep } from './model.ts'
import { parseAddress, channelConfigError, isLoopback, toSendOutcome, post } from './http-post.ts'
import { formatLines, formatNotification } from './notification-text.ts'
import type { NotificationText } from './notification-text.ts'

/** Slack rejects longer texts, and an agent must not be able to suppress a notification. */
const maxTextLength = 3000
/** Slack's error is a word such as `no_service`; other texts are not shown. */
const slackReason = /^[a-z_]{1,60}$/

/** Posts to an incoming webhook. A message contains a link and cannot decide anything (A5). */
export function createSlack({ id, url }: ChannelOfType<'slack'>, wait: Sleep): Driver {
  const { address } = parseAddress(id, url)
  const { protocol, hostname } = new URL(address)
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw channelConfigError(
      `notify.channels: the url of "${id}" must use https.`,
      'Copy the webhook URL from Slack.',
    )

  return {
    audience: 'person',
    async send(message, signal) {
      const body = JSON.stringify(buildPayload(formatNotification(message)))
      const answer = await post({ address, body, maxBytes: 100 }, wait, signal)
      if ('kind' in answer) return answer
      return toSendOutcome(answer, message.at, slackReason.test(answer.text) ? answer.text : '')
    },
  }
}

/** Builds a plain text message in which Slack parses neither names nor links nor markup. */
export function buildPayload(words: NotificationText) {
  const lines = formatLines(words)
  const plain = (text: string) => ({
    type: 'plain_text' as const,
    text: escapeText(text),
    emoji: false,
  })
  const section = (text: string) => ({ type: 'section' as const, text: plain(text) })
  return {
    text: escapeText([words.title, ...lines].join('\n')),
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      section(words.title),
      ...(lines.length > 0 ? [section(lines.join('\n'))] : []),
      {
        type: 'actions' as const,
        elements: [{ type: 'button' as const, text: plain('Open in cowork'), url: words.url }],
      },
    ],
  }
}

/** Escapes the three characters that Slack uses for mentions and links, and limits the length. */
const escapeText = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .slice(0, maxTextLength)
    // Removes a truncated escape sequence or character.
    .replace(/(&[a-z]{0,3}|[\ud800-\udbff])$/, '')
