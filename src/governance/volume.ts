import { Refused } from '#base/tool.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { GovernanceStore } from './store.ts'
import type { Trust } from './trust.ts'

const hour = 60 * 60 * 1000

export type Volume = ReturnType<typeof createVolume>

/** Proposals per rolling hour for one agent in one domain (V1, V2). Counted where they are stored. */
export function createVolume(store: GovernanceStore, cap: number, now: Clock) {
  return {
    cap,
    /** The trust of the pair, with what is left after one more; or why there is none left. */
    async take(
      tx: Tx,
      agent: string,
      domain: string,
    ): Promise<{ trust?: Trust; remaining: number | null; refused?: Refused }> {
      if (cap === 0) {
        const trust = await store.lock(tx, agent, domain)
        return { ...(trust && { trust }), remaining: null }
      }
      const since = now() - hour
      const { trust, used = 0 } = (await store.weigh(tx, agent, domain, since)) ?? {}
      const remaining = cap - used - 1
      if (remaining >= 0) return { ...(trust && { trust }), remaining }
      const oldest = (await store.oldest(tx, agent, domain, since)) ?? now()
      const seconds = Math.max(1, Math.ceil((oldest + hour - now()) / 1000))
      return { remaining: 0, refused: capExceeded(cap, agent, domain, seconds) }
    },
    /** What is left without one more. */
    async left(tx: Tx, agent: string, domain: string): Promise<number | null> {
      if (cap === 0) return null
      const used = (await store.weigh(tx, agent, domain, now() - hour))?.used ?? 0
      return Math.max(0, cap - used)
    },
  }
}

const capExceeded = (cap: number, agent: string, domain: string, seconds: number) =>
  new Refused(
    'VOLUME_CAP_EXCEEDED',
    `VolumeCapError: ${agent} has made ${cap} proposals in ${domain} within an hour.`,
    {
      hint: `Wait ${seconds} seconds, or ask a person to raise authority.volume_cap.`,
      details: {
        error: true,
        error_type: 'VolumeCapError',
        volume_cap_error: true,
        volume_cap: cap,
        volume_remaining: 0,
        retry_after_seconds: seconds,
      },
    },
  )
