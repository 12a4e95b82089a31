import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Entry } from '#ledger'
import type { Delivery, ApprovalSummary, Describe, Driver } from './model.ts'
import { selectChannels, isRecentEnough, isRecent, lookBackNoticeOf } from './rules.ts'
import { buildNotification, toNotificationEvent, untried } from './rules.ts'
import type { NotificationEvent } from './rules.ts'
import type { DeliveryStore } from './store.ts'
import type { ChatStore } from './telegram/store.ts'
import {
  isObsolete,
  isRequestDelivery,
  scheduleDecision,
  planLookBack,
  scheduleRequest,
} from './schedule.ts'
import type { ScheduledDelivery, Settings } from './schedule.ts'

type Deps = {
  readonly store: DeliveryStore
  readonly chats: ChatStore
  readonly drivers: ReadonlyMap<string, Driver>
  readonly settings: Settings
  readonly describe: Describe
  readonly publicUrl: () => string
  readonly now: Clock
}
type Event = { readonly entry: Entry; readonly told: NotificationEvent; readonly approval: string }

/**
 * Writes what is to be told where and when, in the transaction of whoever follows the ledger. Times lie in
 * the store, so a restart keeps them; a decision takes away what is not needed any more (A10).
 */
export function createOutbox(deps: Deps) {
  const { store, chats, drivers, settings, describe, publicUrl, now } = deps
  const channels = [...drivers.keys()]
  const readerOf = (channel: string) => drivers.get(channel)?.audience

  return async function write(tx: Tx, entries: readonly Entry[]): Promise<boolean> {
    for (const { type, subject } of entries)
      if (type === 'person.removed' && subject !== undefined) await chats.forgetPerson(tx, subject)
    const events = entries.flatMap((entry): Event[] => {
      const told = toNotificationEvent(entry)
      const approval = entry.ids?.approval
      return told && approval !== undefined ? [{ entry, told, approval }] : []
    })
    const backs = entries.filter(
      ({ type, at }) => type === 'look_back.opened' && isRecent(at, now()),
    )
    if (events.length === 0 && backs.length === 0)
      return entries.some(({ type }) => type === 'delivery.retried')

    const ids = (list: readonly Event[]) => [...new Set(list.map(({ approval }) => approval))]
    const decided = ids(events.filter(({ told }) => told.type === 'approval.decided'))
    const known = await describe(tx, ids(events))
    const before = await store.about(tx, decided)
    const messages = await chats.withMessages(tx, decided)
    let fresh: Delivery[] = backs.flatMap(lookBack)
    for (const event of events) {
      const { entry, told, approval } = event
      const about = known.get(approval)
      if (!about) continue
      let plan: ScheduledDelivery[]
      if (told.type === 'approval.decided') {
        const mine = [...before, ...fresh].filter((one) => one.approval === approval)
        const needless = mine.filter((one) => isObsolete(one, readerOf(one.channel)))
        for (const { id } of needless) await store.drop(tx, id)
        fresh = fresh.filter((one) => !needless.includes(one))
        const open = messages.filter((one) => one.approval === approval)
        plan = [...answers(about, mine, needless), ...marks(open.map(({ channel }) => channel))]
      } else plan = questions(told, about)
      if (isRecentEnough(told, about, entry.at, now()))
        fresh.push(...plan.map((one) => toldIn(one, event, about)))
    }
    if (fresh.length > 0) await store.add(tx, fresh)
    return true
  }

  /** People need not hear of what is decided by now. */
  function questions({ type }: NotificationEvent, about: ApprovalSummary): ScheduledDelivery[] {
    const plan = scheduleRequest(type, about, channels, settings, now())
    if (about.status === 'pending') return plan
    return plan.filter(({ channel }) => readerOf(channel) === 'machine')
  }

  /** Machines hear how it ended, unless they have not heard of it in time, or have heard that already. */
  function answers(
    about: ApprovalSummary,
    mine: readonly Delivery[],
    needless: readonly Delivery[],
  ): ScheduledDelivery[] {
    const first = selectChannels(settings.rules, channels, about)
    const machines = channels.filter((channel) => {
      const own = mine.filter((one) => one.channel === channel)
      const isAsked = own.some((one) => isRequestDelivery(one) && !needless.includes(one))
      const isUnheard = own.some((one) => needless.includes(one)) && !isAsked
      const isAnswered = own.some((one) => !isRequestDelivery(one))
      const isConcerned = (isAsked || first.includes(channel)) && !isUnheard && !isAnswered
      return readerOf(channel) === 'machine' && isConcerned
    })
    return scheduleDecision(machines, about, settings, now())
  }

  /** Messages that can be marked are, at any hour, since that makes no sound. */
  function marks(open: readonly string[]): ScheduledDelivery[] {
    const marking = open.filter((channel) => drivers.get(channel)?.edits)
    return marking.map((channel) => ({
      channel,
      event: 'approval.decided',
      nextAt: now(),
      held: null,
    }))
  }

  function toldIn(
    one: ScheduledDelivery,
    { entry, told, approval }: Event,
    about: ApprovalSummary,
  ): Delivery {
    const notice = buildNotification(
      { ...told, type: one.event },
      entry,
      approval,
      about,
      publicUrl(),
    )
    return untried({ id: newId(), approval, ...one }, notice, now())
  }

  function lookBack(entry: Entry): Delivery[] {
    const notice = lookBackNoticeOf(entry, publicUrl())
    const plan = planLookBack(channels, notice.data.risk, settings, now())
    return plan.map((one) => untried({ id: newId(), approval: '', ...one }, notice, now()))
  }
}
