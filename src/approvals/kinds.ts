import type { Tx } from '#base/db/port.ts'

type Decision = {
  readonly approval: string
  readonly status: 'approved' | 'rejected' | 'expired' | 'withdrawn'
  readonly decidedBy: string
}

/**
 * What a domain registers so that its waits end in the one approval record. `onDecided` runs in the
 * transaction of the decision, so deciding, acting on it and the ledger are one commit.
 */
export type ApprovalKind = {
  readonly kind: string
  describe(subject: string): string
  onDecided(tx: Tx, decision: Decision): Promise<void>
}

export function createApprovalKinds() {
  const kinds = new Map<string, ApprovalKind>()
  return {
    register(kind: ApprovalKind) {
      if (kinds.has(kind.kind))
        throw new Error(`two domains register the approval kind ${kind.kind}`)
      kinds.set(kind.kind, kind)
    },
    find: (kind: string) => kinds.get(kind),
  }
}
