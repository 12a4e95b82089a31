import { RefusedResult } from '#base/tool.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { TrustKey } from './trust-service.ts'
import type { GovernanceStore } from './store.ts'
import type { Caller } from '#base/caller.ts'

const hour = 60 * 60 * 1000

export type VolumeCap = ReturnType<typeof createVolumeCap>

/** Limits proposals per rolling hour and agent in a domain (V1, V2). The store counts them. */
export function createVolumeCap(
  store: GovernanceStore,
  cap: number,
  now: Clock,
  /** Limit over all domains (V3): otherwise an agent could invent domains. */
  agentCap: number,
) {
  const since = () => (cap === 0 ? Number.MAX_SAFE_INTEGER : now() - hour)

  /** Returns the remaining capacity after one more proposal, or a refusal. */
  async function next(
    tx: Tx,
    { agent, domain }: TrustKey,
    used: number,
  ): Promise<{ remaining: number | null; refused?: RefusedResult }> {
    const tooMany = agentCap === 0 ? undefined : await overall(tx, agent, agentCap)
    if (tooMany) return { remaining: 0, refused: tooMany }
    if (cap === 0) return { remaining: null }
    const remaining = cap - used - 1
    if (remaining >= 0) return { remaining }
    const oldest = (await store.oldest(tx, agent, domain, since())) ?? now()
    const seconds = Math.max(1, Math.ceil((oldest + hour - now()) / 1000))
    return { remaining: 0, refused: capExceeded(cap, agent, domain, seconds) }
  }

  /** Returns a refusal if the agent is over its total cap. Locks the agent, because its domains are counted together. */
  async function overall(tx: Tx, agent: string, most: number): Promise<RefusedResult | undefined> {
    await store.lockAgent(tx, agent)
    const { used, oldest } = await store.usedByAgent(tx, agent, now() - hour)
    if (used < most) return undefined
    const seconds = Math.max(1, Math.ceil(((oldest ?? now()) + hour - now()) / 1000))
    return capExceeded(most, agent, undefined, seconds)
  }

  return {
    cap,
    isFree: cap === 0 && agentCap === 0,
    since,
    next,
    /** Counts one more proposal; the trust record must be locked. */
    take: async (tx: Tx, pair: TrustKey) =>
      next(tx, pair, await store.used(tx, pair.agent, pair.domain, since())),
    left: async (tx: Tx, { agent, domain }: TrustKey): Promise<number | null> =>
      cap === 0 ? null : Math.max(0, cap - (await store.used(tx, agent, domain, since()))),
  }
}

const capExceeded = (cap: number, agent: string, domain: string | undefined, seconds: number) =>
  new RefusedResult(
    'VOLUME_CAP_EXCEEDED',
    `VolumeCapError: ${agent} has made ${cap} proposals${domain === undefined ? '' : ` in ${domain}`} within an hour.`,
    {
      hint: `Wait ${seconds} seconds, or ask a person to raise authority.${domain === undefined ? 'agent_volume_cap' : 'volume_cap'}.`,
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

/** Maximum pending requests of an agent that no cap counts: more would bury the others (V3). */
export const maxPendingRequests = 50

export const pendingLimitHint =
  'Wait for a person to decide, or withdraw some with cowork_withdraw.'

export const isPendingLimitReached = async (
  store: Pick<GovernanceStore, 'waiting'>,
  tx: Tx,
  kind: string,
  { id, since = 0 }: Caller,
): Promise<boolean> => (await store.waiting(tx, id, kind, since)) >= maxPendingRequests
