import { isApprovalNotification } from '../model.ts'
import type { Message } from '../model.ts'
import { listNotifications, formatNotification } from '../notification-text.ts'
import type { NotificationText } from '../notification-text.ts'

type Entity = { readonly type: 'code'; readonly offset: number; readonly length: number }
type Button = { readonly text: string; readonly callback_data: string }

/**
 * Telegram turns URLs, names and commands into links everywhere except in code. So agent texts are
 * code (A13), and our own text contains none of them. Offsets count UTF-16 units.
 */
export function formatText({ title, agentTexts, note, url }: NotificationText) {
  let text = `${title}\n`
  const entities: Entity[] = []
  if (agentTexts.length > 0)
    text += agentTexts.length === 1 ? 'The agent says: ' : 'The agents say:\n'
  for (const agentText of agentTexts) {
    entities.push({ type: 'code', offset: text.length, length: agentText.length })
    text += `${agentText}\n`
  }
  if (note !== undefined) text += `${note}\n`
  // Not a button: Telegram rejects buttons with localhost URLs.
  return { text: `${text}\n${url}`, entities, link_preview_options: { is_disabled: true } }
}

/**
 * The decisions that need no input, at low risk only (A5). Rejecting a proposal needs a reason and
 * a permission needs a policy, so both need the inbox. Spot checks too: a chat shows too little of
 * the action, and a check that nobody opened must not count (T14).
 */
const verdicts: Readonly<Record<string, readonly Verdict[]>> = {
  proposal: ['approve'],
  call: ['approve', 'reject'],
}
export type Verdict = 'approve' | 'reject'

const labels = { approve: 'Approve', reject: 'Reject' }
/** Telegram's limit for `callback_data`. */
const maxCallbackBytes = 64

export function formatMessage(message: Message) {
  const [notice, ...more] = listNotifications(message)
  const text = formatText(formatNotification(message))
  if (!isApprovalNotification(notice) || more.length > 0) return text
  const { approval_id: approval, kind, risk } = notice.data
  const possible = risk === 'low' && Object.hasOwn(verdicts, kind) ? (verdicts[kind] ?? []) : []
  const buttons = possible
    .map((verdict): Button => ({
      text: labels[verdict],
      callback_data: `${verdict}:${approval}`,
    }))
    .filter(({ callback_data: data }) => Buffer.byteLength(data) <= maxCallbackBytes)
  return buttons.length > 0 ? { ...text, reply_markup: { inline_keyboard: [buttons] } } : text
}

/** Parses the data of a button press. A client can send any text. */
export function parseButtonPress(data: string): { verdict: Verdict; approval: string } | undefined {
  const [, verdict, approval] = /^(approve|reject):([\w-]{1,60})$/.exec(data) ?? []
  return approval === undefined ? undefined : { verdict: verdict as Verdict, approval }
}
