import { isAboutApproval } from '../model.ts'
import type { Message } from '../model.ts'
import { listNotifications, formatNotification } from '../notification-text.ts'
import type { NotificationText } from '../notification-text.ts'

type Entity = { readonly type: 'code'; readonly offset: number; readonly length: number }
type Button = { readonly text: string; readonly callback_data: string }

/**
 * Telegram makes links of addresses, names and commands wherever it finds them, except in code. So words of
 * agents are code (A13), and what we say has none in it. Offsets count as strings do, in UTF-16.
 */
export function formatText({ title, said, note, url }: NotificationText) {
  let text = `${title}\n`
  const entities: Entity[] = []
  if (said.length > 0) text += said.length === 1 ? 'The agent says: ' : 'The agents say:\n'
  for (const words of said) {
    entities.push({ type: 'code', offset: text.length, length: words.length })
    text += `${words}\n`
  }
  if (note !== undefined) text += `${note}\n`
  // No button: Telegram refuses one that leads to localhost.
  return { text: `${text}\n${url}`, entities, link_preview_options: { is_disabled: true } }
}

/**
 * What can be decided by a word alone, where the risk is low (A5). Rejecting a proposal says why, and
 * a permission names its policy: that is done in the inbox. So are checks: a chat shows too little of what was
 * done, and what nobody has opened counts for nothing (T14).
 */
const verdicts: Readonly<Record<string, readonly Verdict[]>> = {
  proposal: ['approve'],
  call: ['approve', 'reject'],
}
export type Verdict = 'approve' | 'reject'

const labels = { approve: 'Approve', reject: 'Reject' }
/** Telegram takes no more behind a button. */
const mostBytes = 64

export function formatMessage(message: Message) {
  const [notice, ...more] = listNotifications(message)
  const text = formatText(formatNotification(message))
  if (!isAboutApproval(notice) || more.length > 0) return text
  const { approval_id: approval, kind, risk } = notice.data
  const possible = risk === 'low' && Object.hasOwn(verdicts, kind) ? (verdicts[kind] ?? []) : []
  const buttons = possible
    .map((verdict): Button => ({
      text: labels[verdict],
      callback_data: `${verdict}:${approval}`,
    }))
    .filter(({ callback_data: data }) => Buffer.byteLength(data) <= mostBytes)
  return buttons.length > 0 ? { ...text, reply_markup: { inline_keyboard: [buttons] } } : text
}

/** What a button stands for. Whoever sends it may have written it by hand. */
export function parseButtonPress(data: string): { verdict: Verdict; approval: string } | undefined {
  const [, verdict, approval] = /^(approve|reject):([\w-]{1,60})$/.exec(data) ?? []
  return approval === undefined ? undefined : { verdict: verdict as Verdict, approval }
}
