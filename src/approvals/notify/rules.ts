import { formatRfc3339 } from '#base/clock.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Entry } from '#ledger'
import type {
  AnyNotification,
  Delivery,
  ApprovalSummary,
  LookBackNotification,
  ApprovalNotification,
  NotificationType,
  NotifyRule,
  SendOutcome,
} from './model.ts'

export type NotificationEvent = { readonly type: NotificationType; readonly status: string }

const modesWithApproval: readonly (string | undefined)[] = ['suggest', 'escalate']
const requestTypes = ['approval.requested', 'handoff.created']
const decisionStatuses: Record<string, string> = {
  'approval.approved': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
  'handoff.resolved': 'resolved',
}

/**
 * Converts a ledger entry to a request, a reminder or a decision; returns undefined for all other
 * entries (A10).
 */
export function toNotificationEvent({
  type,
  outcome,
}: Pick<Entry, 'type' | 'outcome'>): NotificationEvent | undefined {
  const isQuestion =
    requestTypes.includes(type) ||
    (type === 'proposal.created' && modesWithApproval.includes(outcome))
  if (isQuestion) return { type: 'approval.requested', status: 'pending' }
  if (type === 'handoff.reminded') return { type: 'approval.escalated', status: 'pending' }
  const status = Object.hasOwn(decisionStatuses, type) ? decisionStatuses[type] : undefined
  return status === undefined ? undefined : { type: 'approval.decided', status }
}

const dayMs = 86_400_000

export const isRecent = (at: number, now: number): boolean => now - at < dayMs

/**
 * A channel that is configured again after a while would receive the whole past. Of events older
 * than a day, only pending requests are sent.
 */
export const isRecentEnough = (
  event: NotificationEvent,
  about: ApprovalSummary,
  at: number,
  now: number,
): boolean =>
  isRecent(at, now) || (event.type === 'approval.requested' && about.status === 'pending')

export const findRule = (
  rules: readonly NotifyRule[],
  { kind, risk }: Pick<ApprovalSummary, 'kind' | 'risk'>,
): NotifyRule | undefined =>
  rules.find(({ kinds, risks }) => covers(kinds, kind) && covers(risks, risk))

const covers = (list: readonly string[] | undefined, word: string) =>
  list === undefined || list.includes(word)

/** Returns the channels to notify. Without rules, every channel is notified. */
export function selectChannels(
  rules: readonly NotifyRule[],
  channels: readonly string[],
  about: Pick<ApprovalSummary, 'kind' | 'risk'>,
): string[] {
  if (rules.length === 0) return [...channels]
  const rule = findRule(rules, about)
  return channels.filter((id) => rule?.channels.includes(id))
}

/** The maximum length of an agent's text in a notification. */
const maxTextLength = 300

/**
 * Builds a notification: a link and the data needed to judge urgency, never reasoning or arguments
 * (A5, A13).
 */
export function buildNotification(
  event: NotificationEvent,
  { at, data }: Pick<Entry, 'at' | 'data'>,
  approval: string,
  about: ApprovalSummary,
  publicUrl: string,
): ApprovalNotification {
  const clean = (text: string) => sanitizeText(text, maxTextLength)
  const by = data?.['decided_by'] ?? about.decidedBy
  return {
    type: event.type,
    timestamp: formatRfc3339(at),
    data: {
      approval_id: approval,
      kind: clean(about.kind),
      agent: clean(about.requester),
      domain: clean(about.domain),
      action: clean(about.action),
      target: clean(about.target),
      summary: clean(about.summary),
      mode: clean(about.mode),
      risk: clean(about.risk),
      status: event.status,
      ...(event.type === 'approval.decided' && typeof by === 'string' && { decided_by: clean(by) }),
      review_url: `${inboxUrl(publicUrl)}/${encodeURIComponent(approval)}`,
    },
  }
}

/** Builds the notification of a `look_back.opened` entry, whose subject is the agent. */
export function buildLookBackNotification(
  { at, subject = '', domain = '', data = {} }: Pick<Entry, 'at' | 'subject' | 'domain' | 'data'>,
  publicUrl: string,
): LookBackNotification {
  const toText = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    type: 'look_back.opened',
    timestamp: formatRfc3339(at),
    data: {
      look_back: toText(data['look_back']),
      agent: sanitizeText(subject, maxTextLength),
      domain: sanitizeText(domain, maxTextLength),
      risk: toText(data['risk']),
      count: Number(data['count']),
      review_url: inboxUrl(publicUrl),
    },
  }
}

export const inboxUrl = (publicUrl: string): string => `${publicUrl.replace(/\/+$/, '')}/inbox`

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Delays after the first, second, … failure: ten attempts within about three days. */
const retryDelaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
  12 * hour,
  dayMs,
  dayMs,
]
/** Spreads the retries of receivers that failed at the same time. */
const jitter = 0.2

const maxRetryDelayMs = dayMs
/**
 * The lease of a sender, longer than an attempt can last. A delivery whose lease has ended was
 * claimed by a crashed daemon.
 */
const leaseMs = minute

type Address = Pick<Delivery, 'id' | 'channel' | 'event' | 'approval' | 'nextAt' | 'held'>

/** Builds a delivery without attempts. */
export const newDelivery = (
  address: Address,
  notice: AnyNotification,
  createdAt: number,
): Delivery => ({
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
  nextAt: now + leaseMs,
})

/** Applies the outcome of one attempt. `chance`, from 0 to 1, is the jitter of the retry. */
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
      const delayMs = retryDelaysMs[delivery.attempts - 1]
      if (isFinal || delayMs === undefined) return { ...failed, status: 'dead', settledAt: now }
      const longer = Math.max(delayMs * (1 + jitter * chance), Math.min(waitMs, maxRetryDelayMs))
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
