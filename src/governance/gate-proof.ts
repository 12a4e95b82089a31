import type { Approvals, Risk } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader } from '#base/db/port.ts'
import { memoize } from '#base/memoize.ts'
import { normalizeVisible } from './rules/visible-name.ts'
import type { Proof } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'

/** Tells an agent with a sufficient score why it still needs approval (T3, T11). */
export const evidenceNote = 'evidence counts reviews by people only'

export type GateProof = ReturnType<typeof createGateProof>

type Deps = {
  readonly store: Pick<GovernanceStore, 'proof'>
  readonly spotChecks: Pick<SpotChecks, 'unopened'>
  readonly kindOf: (action: string) => string
  readonly now: Clock
}

/** Reads the inputs of the gate besides trust: the credit of the kind of action, and its unread checks (T11, T13). */
export function createGateProof({ store, spotChecks, kindOf, now }: Deps) {
  return async (reader: Reader, pair: TrustKey, risk: Risk, action: string): Promise<Proof> => {
    const unopened = await spotChecks.unopened(reader, pair, risk)
    const key = { ...pair, risk, kind: kindOf(action) }
    const { kind, unread } = await store.proof(reader, key, now())
    const count = unread.count + unopened
    return { kind, unread: { ...unread, count } }
  }
}

/** Cached: the same actions recur, and redaction takes longer than a lookup. */
const maxNames = 1000

/**
 * Normalizes the name of a kind of action for the store: an agent may put a credential into it (A14), or escape its debts
 * with look-alike letters (T13).
 */
export const createKindNormalizer = (show: Approvals['redactForDisplay']) =>
  memoize(
    (action) =>
      normalizeVisible(show(action) as string)
        .replaceAll(/\s+/g, ' ')
        .toLowerCase(),
    maxNames,
  )
