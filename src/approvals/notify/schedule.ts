import type {
  Delivery,
  ApprovalSummary,
  Driver,
  DelayReason,
  LookBackNotification,
  NotificationType,
  NotifyRule,
  QuietHours,
} from './model.ts'
import { selectChannels, findRule } from './rules.ts'

export type Settings = {
  readonly rules: readonly NotifyRule[]
  readonly quietHours?: QuietHours | undefined
  /** The digest interval of low-risk notifications. */
  readonly digest?: number | undefined
}

export type ScheduledDelivery<Event = NotificationType> = {
  readonly channel: string
  readonly event: Event
  readonly nextAt: number
  readonly held: DelayReason | null
}

type Kind = Pick<ApprovalSummary, 'kind' | 'risk'>

/**
 * Schedules a request: the direct recipients now or after quiet hours, the escalation recipients
 * after the escalation time (A10). A reminder goes to both groups.
 */
export function scheduleRequest(
  event: NotificationType,
  about: Kind,
  channels: readonly string[],
  settings: Settings,
  now: number,
): ScheduledDelivery[] {
  const first = selectChannels(settings.rules, channels, about)
  const { escalate_after: after, escalate_to: to = [] } = findRule(settings.rules, about) ?? {}
  const escalation = channels.filter((channel) => to.includes(channel))
  const at = (list: readonly string[], time: number, held: DelayReason | null = null) =>
    schedule(list, 'approval.escalated', time, held, about.risk, settings)
  if (event === 'approval.escalated') return at([...new Set([...first, ...escalation])], now)
  const direct = scheduleWithDigest(first, event, about, settings, now)
  return after === undefined ? direct : [...direct, ...at(escalation, now + after, 'escalation')]
}

/** Schedules a decision with the delays of its request. */
export const scheduleDecision = (
  channels: readonly string[],
  about: Kind,
  settings: Settings,
  now: number,
): ScheduledDelivery[] => scheduleWithDigest(channels, 'approval.decided', about, settings, now)

/**
 * Schedules a look-back for the channels of spot checks with its risk. Each of its rows is a
 * separate request.
 */
export const scheduleLookBack = (
  channels: readonly string[],
  risk: string,
  settings: Settings,
  now: number,
): ScheduledDelivery<LookBackNotification['type']>[] => {
  const about = { kind: 'spot_check', risk }
  const first = selectChannels(settings.rules, channels, about)
  return scheduleWithDigest(first, 'look_back.opened', about, settings, now)
}

function scheduleWithDigest<Event extends string>(
  channels: readonly string[],
  event: Event,
  { risk }: Kind,
  settings: Settings,
  now: number,
): ScheduledDelivery<Event>[] {
  const { digest = 0 } = settings
  return risk === 'low' && digest > 0
    ? schedule(channels, event, nextDigestAt(now, digest), 'digest', risk, settings)
    : schedule(channels, event, now, null, risk, settings)
}

function schedule<Event extends string>(
  channels: readonly string[],
  event: Event,
  at: number,
  held: DelayReason | null,
  risk: string,
  { quietHours }: Settings,
): ScheduledDelivery<Event>[] {
  const nextAt = endOfQuietHours(at, risk, quietHours)
  const why = held ?? (nextAt > at ? 'quiet' : null)
  return channels.map((channel) => ({ channel, event, nextAt, held: why }))
}

/** Returns the next digest time, equal for every daemon and after every restart. */
export const nextDigestAt = (now: number, intervalMs: number): number =>
  (Math.floor(now / intervalMs) + 1) * intervalMs

const hourMs = 3_600_000

/**
 * Returns the earliest time from `at` on at which people may be notified of this risk, in local
 * time.
 */
export function endOfQuietHours(at: number, risk: string, quiet: QuietHours | undefined): number {
  if (!quiet || (quiet.except_high_risk && risk === 'high')) return at
  const from = minuteOfDay(quiet.from)
  const to = minuteOfDay(quiet.to)
  const date = new Date(at)
  const minute = date.getHours() * 60 + date.getMinutes()
  const isOvernight = from > to
  const isQuiet = isOvernight ? minute >= from || minute < to : minute >= from && minute < to
  if (!isQuiet) return at
  const days = isOvernight && minute >= from ? 1 : 0
  const end = new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 0, to).getTime()
  // When clocks are set back, an hour repeats and the first of the two ends has passed.
  return end > at ? end : end + hourMs
}

function minuteOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

export const isRequestDelivery = ({ event }: Pick<Delivery, 'event'>): boolean =>
  event === 'approval.requested' || event === 'approval.escalated'

/**
 * True if a decision makes the delivery obsolete. People are not notified of decided requests; a
 * machine receives neither request nor decision if the request was only delayed.
 */
export const isObsolete = (
  delivery: Pick<Delivery, 'event' | 'status' | 'attempts' | 'held'>,
  reader: Driver['audience'] | undefined,
): boolean =>
  delivery.status === 'pending' &&
  isRequestDelivery(delivery) &&
  (reader === 'person' || (delivery.held !== null && delivery.attempts === 0))

/** More due messages than this are combined into one. */
const maxSingleMessages = 10

/**
 * Groups due deliveries into messages. For people, deliveries delayed by quiet hours or a digest
 * are combined, and so are many requests at once.
 */
export function groupDeliveries(
  due: readonly Delivery[],
  reader: Driver['audience'],
): Delivery[][] {
  if (reader === 'machine') return due.map((one) => [one])
  const requests = due.filter(isRequestDelivery)
  const isGathered = (one: Delivery) =>
    isRequestDelivery(one) &&
    (requests.length > maxSingleMessages || one.held === 'quiet' || one.held === 'digest')
  const gathered = due.filter(isGathered)
  const rest = due.filter((one) => !isGathered(one)).map((one) => [one])
  return gathered.length > 0 ? [gathered, ...rest] : rest
}
