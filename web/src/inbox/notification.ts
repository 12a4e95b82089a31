import { sanitizeText } from '../shared/sanitize.ts'
import { isCheck } from './approval.ts'
import type { Item } from './approval.ts'
import { formatMode, formatRisk } from './text.ts'

export type DesktopNotification = {
  readonly title: string
  readonly body: string
  /** One notice per item, whichever tab tells of it. */
  readonly tag: string
  /** Where a press on it leads: one item, or the inbox. */
  readonly id?: string
}

/** More than this at once are told in one. */
const mostAlone = 3
const longest = 120

/** What cannot wait until somebody looks: the rest is found in the inbox. A check is about what is done. */
export const isUrgent = (item: Item): boolean =>
  item.status === 'pending' &&
  !item.held &&
  !item.auto &&
  !isCheck(item) &&
  (item.mode === 'escalate' || item.risk === 'high')

/** Plain text only: the system's own notices show whatever they are given (A13). */
export function buildNotifications(arrived: readonly Item[]): DesktopNotification[] {
  const urgent = arrived.filter(isUrgent)
  if (urgent.length > mostAlone)
    return [
      {
        title: `${urgent.length} urgent requests pending`,
        body: [...new Set(urgent.map(({ requester }) => cut(requester)))].join(', '),
        tag: 'cowork.inbox',
      },
    ]
  return urgent.map((item) => ({
    title: cut(`${item.requester}: ${item.summary}`),
    body: [cut(item.domain), formatMode(item.mode, item.trust_level), formatRisk(item)]
      .filter((part) => part !== undefined)
      .join(' · '),
    tag: item.id,
    id: item.id,
  }))
}

function cut(text: string): string {
  const plain = sanitizeText(text)
  return plain.length > longest ? `${plain.slice(0, longest - 1)}…` : plain
}
