import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import type { Ledger } from '#ledger'
import type { Channel, CheckpointNotification } from './model.ts'
import { newDelivery } from './rules.ts'
import type { DeliveryStore } from './store.ts'
import { endOfQuietHours } from './schedule.ts'
import type { Settings } from './schedule.ts'

type Deps = {
  readonly db: Db
  readonly store: DeliveryStore
  readonly ledger: Ledger
  readonly channels: readonly Channel[]
  readonly settings: Settings
  readonly publicUrl: () => string
  readonly now: Clock
}

/**
 * Queues the latest checkpoint for every channel that opts in, once per UTC day (L15). The
 * delivery id contains channel and day, so neither a restart nor a second daemon repeats it.
 */
export function createDailyCheckpoint(deps: Deps) {
  const { db, store, ledger, settings, publicUrl, now } = deps
  const channels = deps.channels.filter((one) => one.type !== 'desktop' && one.checkpoints === true)

  return async (): Promise<boolean> => {
    const newest = channels.length > 0 ? await ledger.latestCheckpoint() : undefined
    if (!newest) return false
    const at = now()
    const day = formatRfc3339(at).slice(0, 10)
    const notice: CheckpointNotification = {
      type: 'ledger.checkpoint',
      timestamp: formatRfc3339(at),
      data: {
        size: newest.size,
        checkpoint: newest.note,
        risk: 'normal',
        review_url: `${publicUrl().replace(/\/+$/, '')}/audit`,
      },
    }
    const nextAt = endOfQuietHours(at, notice.data.risk, settings.quietHours)
    const common = { event: notice.type, approval: '', nextAt, held: null }
    const delivery = (channel: string) =>
      newDelivery({ id: `checkpoint-${day}-${channel}`, channel, ...common }, notice, at)
    const added = await db.transact(async (tx) => {
      let count = 0
      for (const { id: channel } of channels) count += await store.addOnce(tx, delivery(channel))
      return count
    })
    return added > 0
  }
}
