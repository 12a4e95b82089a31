import type { ChannelOfType, Driver, Sleep } from './model.ts'
import { parseAddress, channelConfigError, isLoopback, toSendOutcome, post } from './http-post.ts'
import { formatLines, formatNotification } from './notification-text.ts'
import type { NotificationText } from './notification-text.ts'

/** What is longer is refused, and no agent may keep people from being told. */
const longest = 3000
/** Slack's reason is a word such as `no_service`; anything else is not shown. */
const reason = /^[a-z_]{1,60}$/

/** Posts to an incoming webhook. It carries a link and cannot decide anything (A5). */
export function createSlack({ id, url }: ChannelOfType<'slack'>, wait: Sleep): Driver {
  const { address } = parseAddress(id, url)
  const { protocol, hostname } = new URL(address)
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw channelConfigError(
      `notify.channels: the url of "${id}" is a secret and must be https.`,
      'Copy it from Slack again.',
    )

  return {
    audience: 'person',
    async send(message, signal) {
      const body = JSON.stringify(buildPayload(formatNotification(message)))
      const answer = await post({ address, body, most: 100 }, wait, signal)
      if ('kind' in answer) return answer
      return toSendOutcome(answer, message.at, reason.test(answer.text) ? answer.text : '')
    },
  }
}

/** Plain text alone, and nothing in it is looked at for names, links or marks. */
export function buildPayload(words: NotificationText) {
  const lines = formatLines(words)
  const plain = (text: string) => ({
    type: 'plain_text' as const,
    text: escaped(text),
    emoji: false,
  })
  const section = (text: string) => ({ type: 'section' as const, text: plain(text) })
  return {
    text: escaped([words.title, ...lines].join('\n')),
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

/** Without the three characters by which Slack tells mentions and links from text, and no longer than it takes. */
const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .slice(0, longest)
    // What the cut left of an escape or of a character.
    .replace(/(&[a-z]{0,3}|[\ud800-\udbff])$/, '')
