import { formatRfc3339 } from '#base/clock.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Entry } from '#ledger'
import type {
  AnyNotice,
  Delivery,
  ApprovalSummary,
  LookBackNotice,
  ApprovalNotification,
  NotificationType,
  NotifyRule,
  SendOutcome,
} from './model.ts'

export type NotificationEvent = { readonly type: NotificationType; readonly status: string }

const asksPeople: readonly (string | undefined)[] = ['suggest', 'escalate']
const questions = ['approval.requested', 'handoff.created']
const decided: Record<string, string> = {
  'approval.approved': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
  'handoff.resolved': 'resolved',
}

/** What an entry is to people: a question, a reminder, an answer, or nothing to be told of (A10). */
export function toNotificationEvent({
  type,
  outcome,
}: Pick<Entry, 'type' | 'outcome'>): NotificationEvent | undefined {
  const isQuestion =
    questions.includes(type) || (type === 'proposal.created' && asksPeople.includes(outcome))
  if (isQuestion) return { type: 'approval.requested', status: 'pending' }
  if (type === 'handoff.reminded') return { type: 'approval.escalated', status: 'pending' }
  const status = Object.hasOwn(decided, type) ? decided[type] : undefined
  return status === undefined ? undefined : { type: 'approval.decided', status }
}

const day = 86_400_000

export const isRecent = (at: number, now: number): boolean => now - at < day

/**
 * Channels that are configured again after a while find a long past. Of what is older than a day only
 * questions that still wait are told.
 */
export const isRecentEnough = (
  told: NotificationEvent,
  about: ApprovalSummary,
  at: number,
  now: number,
): boolean =>
  isRecent(at, now) || (told.type === 'approval.requested' && about.status === 'pending')

export const findRule = (
  rules: readonly NotifyRule[],
  { kind, risk }: Pick<ApprovalSummary, 'kind' | 'risk'>,
): NotifyRule | undefined =>
  rules.find(({ kinds, risks }) => covers(kinds, kind) && covers(risks, risk))

const covers = (list: readonly string[] | undefined, word: string) =>
  list === undefined || list.includes(word)

/** Channels to tell, of those that can be told. No rules mean everyone. */
export function selectChannels(
  rules: readonly NotifyRule[],
  channels: readonly string[],
  about: Pick<ApprovalSummary, 'kind' | 'risk'>,
): string[] {
  if (rules.length === 0) return [...channels]
  const rule = findRule(rules, about)
  return channels.filter((id) => rule?.channels.includes(id))
}

/** Room for a text of an agent: a notification is a line, not a page. */
const longest = 300

/** A link and what is needed to judge its urgency; never reasoning or arguments (A5, A13). */
export function buildNotification(
  told: NotificationEvent,
  { at, data }: Pick<Entry, 'at' | 'data'>,
  approval: string,
  about: ApprovalSummary,
  publicUrl: string,
): ApprovalNotification {
  const words = (text: string) => sanitizeText(text, longest)
  const by = data?.['decided_by'] ?? about.decidedBy
  return {
    type: told.type,
    timestamp: formatRfc3339(at),
    data: {
      approval_id: approval,
      kind: words(about.kind),
      agent: words(about.requester),
      domain: words(about.domain),
      action: words(about.action),
      target: words(about.target),
      summary: words(about.summary),
      mode: words(about.mode),
      risk: words(about.risk),
      status: told.status,
      ...(told.type === 'approval.decided' && typeof by === 'string' && { decided_by: words(by) }),
      review_url: `${inboxUrl(publicUrl)}/${encodeURIComponent(approval)}`,
    },
  }
}

/** Of an entry `look_back.opened`, whose subject is the agent. */
export function lookBackNoticeOf(
  { at, subject = '', domain = '', data = {} }: Pick<Entry, 'at' | 'subject' | 'domain' | 'data'>,
  publicUrl: string,
): LookBackNotice {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    type: 'look_back.opened',
    timestamp: formatRfc3339(at),
    data: {
      look_back: textOf(data['look_back']),
      agent: sanitizeText(subject, longest),
      domain: sanitizeText(domain, longest),
      risk: textOf(data['risk']),
      count: Number(data['count']),
      review_url: inboxUrl(publicUrl),
    },
  }
}

export const inboxUrl = (publicUrl: string): string => `${publicUrl.replace(/\/+$/, '')}/inbox`

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Pauses after the first, second, … failure: ten tries within about three days. */
const pauses = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
  12 * hour,
  day,
  day,
]
/** Receivers that failed together are not asked again together. */
const jitter = 0.2

const longestPause = day
/** Longer than a try can last: whoever took a delivery and is not done by then has crashed. */
const lease = minute

type Address = Pick<Delivery, 'id' | 'channel' | 'event' | 'approval' | 'nextAt' | 'held'>

/** A delivery that nobody has tried to send. */
export const untried = (address: Address, notice: AnyNotice, createdAt: number): Delivery => ({
  ...address,
  notice: JSON.stringify(notice),
  status: 'pending',
  attempts: 0,
  lastError: null,
  createdAt,
  settledAt: null,
})

export const markSending = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  attempts: delivery.attempts + 1,
  nextAt: now + lease,
})

/** A delivery after one try. `chance`, from 0 to 1, spreads the next. */
export function applySendOutcome(
  delivery: Delivery,
  outcome: SendOutcome,
  now: number,
  chance: number,
): Delivery {
  switch (outcome.kind) {
    case 'sent':
      return { ...delivery, status: 'sent', lastError: outcome.note ?? null, settledAt: now }
    case 'interrupted':
      return { ...delivery, attempts: delivery.attempts - 1, nextAt: now }
    case 'failed': {
      const { error, isFinal, waitMs = 0 } = outcome
      const failed = { ...delivery, lastError: error }
      const pause = pauses[delivery.attempts - 1]
      if (isFinal || pause === undefined) return { ...failed, status: 'dead', settledAt: now }
      const longer = Math.max(pause * (1 + jitter * chance), Math.min(waitMs, longestPause))
      return { ...failed, nextAt: now + Math.round(longer) }
    }
  }
}

export const resetDelivery = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  status: 'pending',
  attempts: 0,
  nextAt: now,
  held: null,
  settledAt: null,
})
