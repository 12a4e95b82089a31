import { useMemo, useSyncExternalStore } from 'react'
import type { Item } from './approval.ts'
import { isUrgent } from './notification.ts'
import { isPending, useQueue } from './queue.ts'
import { snoozed } from './snooze-store.ts'

export function usePendingItems(): {
  waiting: Item[]
  asleep: Item[]
  total: number
  urgent: number
} {
  const { items, counts, isWhole } = useQueue()
  const putOff = useSyncExternalStore(snoozed.subscribe, snoozed.get)
  return useMemo(() => {
    const pending = [...items.values()].filter(isPending)
    const asleep = pending.filter(({ id }) => Object.hasOwn(putOff, id))
    const waiting = pending.filter(({ id }) => !Object.hasOwn(putOff, id))
    const total = isWhole
      ? waiting.length
      : Math.max((counts.all ?? 0) - asleep.length, waiting.length)
    return { waiting, asleep, total, urgent: waiting.filter(isUrgent).length }
  }, [items, counts, isWhole, putOff])
}
