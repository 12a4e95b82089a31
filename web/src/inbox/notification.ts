import { sanitizeText } from '../shared/sanitize.ts'
import { isCheck } from './approval.ts'
import type { Item } from './approval.ts'
import { formatMode, formatRisk } from './text.ts'

export type DesktopNotification = {
  readonly title: string
  readonly body: string
  /** Prevents duplicates from several tabs. */
  readonly tag: string
  /** The item that a click opens; without it, the inbox. */
  readonly id?: string
}

/** More items than this share one notification. */
const maxSeparate = 3
const maxLength = 120

/** Whether an item needs a notification. Checks are about completed actions, so they do not. */
export const isUrgent = (item: Item): boolean =>
  item.status === 'pending' &&
  !item.held &&
  !item.auto &&
  !isCheck(item) &&
  (item.mode === 'escalate' || item.risk === 'high')

/** Builds notifications with sanitized text, because the system shows the text unchanged (A13). */
export function buildNotifications(arrived: readonly Item[]): DesktopNotification[] {
  const urgent = arrived.filter(isUrgent)
  if (urgent.length > maxSeparate)
    return [
      {
        title: `${urgent.length} urgent requests pending`,
        body: [...new Set(urgent.map(({ requester }) => truncate(requester)))].join(', '),
        tag: 'cowork.inbox',
      },
    ]
  return urgent.map((item) => ({
    title: truncate(`${item.requester}: ${item.summary}`),
    body: [truncate(item.domain), formatMode(item.mode, item.trust_level), formatRisk(item)]
      .filter((part) => part !== undefined)
      .join(' · '),
    tag: item.id,
    id: item.id,
  }))
}

function truncate(text: string): string {
  const sanitized = sanitizeText(text)
  return sanitized.length > maxLength ? `${sanitized.slice(0, maxLength - 1)}…` : sanitized
}
