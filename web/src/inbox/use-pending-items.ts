import { useMemo, useSyncExternalStore } from 'react'
import type { Item } from './approval.ts'
import { isUrgent } from './notification.ts'
import { isPending, useQueue } from './queue.ts'
import { snoozed } from './snooze-store.ts'

export function usePendingItems(): {
  pendingItems: Item[]
  snoozedItems: Item[]
  total: number
  urgent: number
} {
  const { items, counts, isComplete } = useQueue()
  const snoozes = useSyncExternalStore(snoozed.subscribe, snoozed.get)
  return useMemo(() => {
    const all = [...items.values()].filter(isPending)
    const snoozedItems = all.filter(({ id }) => Object.hasOwn(snoozes, id))
    const pendingItems = all.filter(({ id }) => !Object.hasOwn(snoozes, id))
    const total = isComplete
      ? pendingItems.length
      : Math.max((counts.all ?? 0) - snoozedItems.length, pendingItems.length)
    return { pendingItems, snoozedItems, total, urgent: pendingItems.filter(isUrgent).length }
  }, [items, counts, isComplete, snoozes])
}
