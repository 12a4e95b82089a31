import type {
  Delivery,
  ApprovalSummary,
  Driver,
  DelayReason,
  LookBackNotice,
  NotificationType,
  NotifyRule,
  QuietHours,
} from './model.ts'
import { selectChannels, findRule } from './rules.ts'

export type Settings = {
  readonly rules: readonly NotifyRule[]
  readonly quietHours?: QuietHours | undefined
  /** Low risk is gathered for so long. */
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
 * Who is told of a question now, later or when people are awake, and who when nobody decided in time (A10).
 * A reminder goes to everyone whom the question goes to, sooner or later.
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
  const next = channels.filter((channel) => to.includes(channel))
  const at = (list: readonly string[], time: number, held: DelayReason | null = null) =>
    planned(list, 'approval.escalated', time, held, about.risk, settings)
  if (event === 'approval.escalated') return at([...new Set([...first, ...next])], now)
  const direct = soon(first, event, about, settings, now)
  return after === undefined ? direct : [...direct, ...at(next, now + after, 'escalation')]
}

/** The answer keeps the hours of its question. */
export const scheduleDecision = (
  channels: readonly string[],
  about: Kind,
  settings: Settings,
  now: number,
): ScheduledDelivery[] => soon(channels, 'approval.decided', about, settings, now)

/** A look-back goes where checks of its risk go, and is no question: each of its rows is one. */
export const planLookBack = (
  channels: readonly string[],
  risk: string,
  settings: Settings,
  now: number,
): ScheduledDelivery<LookBackNotice['type']>[] => {
  const about = { kind: 'spot_check', risk }
  const first = selectChannels(settings.rules, channels, about)
  return soon(first, 'look_back.opened', about, settings, now)
}

function soon<Event extends string>(
  channels: readonly string[],
  event: Event,
  { risk }: Kind,
  settings: Settings,
  now: number,
): ScheduledDelivery<Event>[] {
  const { digest = 0 } = settings
  return risk === 'low' && digest > 0
    ? planned(channels, event, nextDigestAt(now, digest), 'digest', risk, settings)
    : planned(channels, event, now, null, risk, settings)
}

function planned<Event extends string>(
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

/** The same moments for every daemon, before and after a restart. */
export const nextDigestAt = (now: number, every: number): number =>
  (Math.floor(now / every) + 1) * every

const hour = 3_600_000

/** The first moment from `at` on at which people may be told of this risk. Local time, as on their clocks. */
export function endOfQuietHours(at: number, risk: string, quiet: QuietHours | undefined): number {
  if (!quiet || (quiet.except_high_risk && risk === 'high')) return at
  const from = minuteOf(quiet.from)
  const to = minuteOf(quiet.to)
  const date = new Date(at)
  const minute = date.getHours() * 60 + date.getMinutes()
  const isOvernight = from > to
  const isQuiet = isOvernight ? minute >= from || minute < to : minute >= from && minute < to
  if (!isQuiet) return at
  const days = isOvernight && minute >= from ? 1 : 0
  const end = new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 0, to).getTime()
  // In the hour that comes twice in autumn, the first of the two ends lies behind us.
  return end > at ? end : end + hour
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

export const isRequestDelivery = ({ event }: Pick<Delivery, 'event'>): boolean =>
  event === 'approval.requested' || event === 'approval.escalated'

/**
 * Whether a decision makes it needless. People need not hear of what is decided; a machine that is told
 * everything hears neither question nor answer of what was only held back.
 */
export const isObsolete = (
  delivery: Pick<Delivery, 'event' | 'status' | 'attempts' | 'held'>,
  reader: Driver['audience'] | undefined,
): boolean =>
  delivery.status === 'pending' &&
  isRequestDelivery(delivery) &&
  (reader === 'person' || (delivery.held !== null && delivery.attempts === 0))

/** More than this at once is one message. */
const crowd = 10

/**
 * What goes out together, given what is due: what was held back while people slept or for the digest, and
 * everything where an agent asks more than anyone would read one by one.
 */
export function groupDeliveries(
  due: readonly Delivery[],
  reader: Driver['audience'],
): Delivery[][] {
  if (reader === 'machine') return due.map((one) => [one])
  const questions = due.filter(isRequestDelivery)
  const isGathered = (one: Delivery) =>
    isRequestDelivery(one) &&
    (questions.length > crowd || one.held === 'quiet' || one.held === 'digest')
  const gathered = due.filter(isGathered)
  const rest = due.filter((one) => !isGathered(one)).map((one) => [one])
  return gathered.length > 0 ? [gathered, ...rest] : rest
}
