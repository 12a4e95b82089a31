import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import type { Entry } from '#ledger'
import type { Delivery, ApprovalSummary, Describe, Driver } from './model.ts'
import { selectChannels, isRecentEnough, isRecent, buildLookBackNotification } from './rules.ts'
import { buildNotification, toNotificationEvent, newDelivery } from './rules.ts'
import type { NotificationEvent } from './rules.ts'
import type { DeliveryStore } from './store.ts'
import type { ChatStore } from './telegram/store.ts'
import {
  isObsolete,
  isRequestDelivery,
  scheduleDecision,
  scheduleLookBack,
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
type ApprovalEvent = {
  readonly entry: Entry
  readonly event: NotificationEvent
  readonly approval: string
}

/**
 * Creates the function that queues deliveries in the transaction of the ledger follower. Due times
 * are stored, so they survive a restart; a decision deletes deliveries that became obsolete (A10).
 */
export function createOutbox(deps: Deps) {
  const { store, chats, drivers, settings, describe, publicUrl, now } = deps
  const channels = [...drivers.keys()]
  const getAudience = (channel: string) => drivers.get(channel)?.audience

  return async function write(tx: Tx, entries: readonly Entry[]): Promise<boolean> {
    for (const { type, subject } of entries)
      if (type === 'person.removed' && subject !== undefined) await chats.deletePerson(tx, subject)
    const approvalEvents = entries.flatMap((entry): ApprovalEvent[] => {
      const event = toNotificationEvent(entry)
      const approval = entry.ids?.approval
      return event && approval !== undefined ? [{ entry, event, approval }] : []
    })
    const lookBacks = entries.filter(
      ({ type, at }) => type === 'look_back.opened' && isRecent(at, now()),
    )
    if (approvalEvents.length === 0 && lookBacks.length === 0)
      return entries.some(({ type }) => type === 'delivery.retried')

    const ids = (list: readonly ApprovalEvent[]) => [
      ...new Set(list.map(({ approval }) => approval)),
    ]
    const decided = ids(approvalEvents.filter(({ event }) => event.type === 'approval.decided'))
    const summaries = await describe(tx, ids(approvalEvents))
    const before = await store.listAbout(tx, decided)
    const messages = await chats.listChannelsWithMessages(tx, decided)
    let added: Delivery[] = lookBacks.flatMap(toLookBackDeliveries)
    for (const approvalEvent of approvalEvents) {
      const { entry, event, approval } = approvalEvent
      const about = summaries.get(approval)
      if (!about) continue
      let plan: ScheduledDelivery[]
      if (event.type === 'approval.decided') {
        const own = [...before, ...added].filter((one) => one.approval === approval)
        const obsolete = own.filter((one) => isObsolete(one, getAudience(one.channel)))
        for (const { id } of obsolete) await store.delete(tx, id)
        added = added.filter((one) => !obsolete.includes(one))
        const open = messages.filter((one) => one.approval === approval)
        plan = [
          ...scheduleDecisions(about, own, obsolete),
          ...scheduleEdits(open.map(({ channel }) => channel)),
        ]
      } else plan = scheduleRequests(event, about)
      if (isRecentEnough(event, about, entry.at, now()))
        added.push(...plan.map((one) => toDelivery(one, approvalEvent, about)))
    }
    if (added.length > 0) await store.add(tx, added)
    return true
  }

  /** People are not notified of requests that are already decided. */
  function scheduleRequests(
    { type }: NotificationEvent,
    about: ApprovalSummary,
  ): ScheduledDelivery[] {
    const plan = scheduleRequest(type, about, channels, settings, now())
    if (about.status === 'pending') return plan
    return plan.filter(({ channel }) => getAudience(channel) === 'machine')
  }

  /**
   * Schedules the decision for machines, unless the request never reached them or they already
   * received the decision.
   */
  function scheduleDecisions(
    about: ApprovalSummary,
    own: readonly Delivery[],
    obsolete: readonly Delivery[],
  ): ScheduledDelivery[] {
    const first = selectChannels(settings.rules, channels, about)
    const machines = channels.filter((channel) => {
      const deliveries = own.filter((one) => one.channel === channel)
      const hasRequest = deliveries.some((one) => isRequestDelivery(one) && !obsolete.includes(one))
      const wasNotReached = deliveries.some((one) => obsolete.includes(one)) && !hasRequest
      const hasDecision = deliveries.some((one) => !isRequestDelivery(one))
      const needsDecision =
        (hasRequest || first.includes(channel)) && !wasNotReached && !hasDecision
      return getAudience(channel) === 'machine' && needsDecision
    })
    return scheduleDecision(machines, about, settings, now())
  }

  /** Editable messages are edited at any hour, because an edit makes no sound. */
  function scheduleEdits(open: readonly string[]): ScheduledDelivery[] {
    const editable = open.filter((channel) => drivers.get(channel)?.edits)
    return editable.map((channel) => ({
      channel,
      event: 'approval.decided',
      nextAt: now(),
      held: null,
    }))
  }

  function toDelivery(
    one: ScheduledDelivery,
    { entry, event, approval }: ApprovalEvent,
    about: ApprovalSummary,
  ): Delivery {
    const notice = buildNotification(
      { ...event, type: one.event },
      entry,
      approval,
      about,
      publicUrl(),
    )
    return newDelivery({ id: newId(), approval, ...one }, notice, now())
  }

  function toLookBackDeliveries(entry: Entry): Delivery[] {
    const notice = buildLookBackNotification(entry, publicUrl())
    const plan = scheduleLookBack(channels, notice.data.risk, settings, now())
    return plan.map((one) => newDelivery({ id: newId(), approval: '', ...one }, notice, now()))
  }
}
