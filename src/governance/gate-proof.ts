import type { Approvals, Risk } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader } from '#base/db/port.ts'
import { memoize } from '#base/memoize.ts'
import { normalizeVisible } from './rules/visible-name.ts'
import type { Proof } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'

/** Tells an agent whose score is high enough why it still waits for review (T3, T11). */
export const evidenceNote = 'evidence counts reviews by people only'

export type GateProof = ReturnType<typeof createGateProof>

type Deps = {
  readonly store: Pick<GovernanceStore, 'proof'>
  readonly spotChecks: Pick<SpotChecks, 'unopened'>
  readonly kindOf: (action: string) => string
  readonly now: Clock
}

/** What the gate looks at besides trust: the credit of a kind of action, and its unread checks (T11, T13). */
export function createGateProof({ store, spotChecks, kindOf, now }: Deps) {
  return async (reader: Reader, pair: TrustKey, risk: Risk, action: string): Promise<Proof> => {
    const unopened = await spotChecks.unopened(reader, pair, risk)
    const key = { ...pair, risk, kind: kindOf(action) }
    const { kind, unread } = await store.proof(reader, key, now())
    const count = unread.count + unopened
    return { kind, unread: { ...unread, count } }
  }
}

/** Remembered: the same actions are named again and again, and redaction takes longer than looking one up. */
const mostNames = 1000

/**
 * The name of a kind of action as it is stored: an agent may put a credential into it (A14), or leave its debts behind
 * with other letters that people read as the same (T13).
 */
export const createKindNames = (show: Approvals['redactForDisplay']) =>
  memoize(
    (action) =>
      normalizeVisible(show(action) as string)
        .replaceAll(/\s+/g, ' ')
        .toLowerCase(),
    mostNames,
  )
