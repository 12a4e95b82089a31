import { maxClockStepMs } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Dialect, Sealer } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { newSalt } from '#base/ids.ts'
import type { SigningKey } from './checkpoint.ts'
import { toIndexColumns, emptyHead, prepare, seal } from './model.ts'
import { createHeadMac, headChangedError, headShrunkError } from './head-mac.ts'
import type { HeadMac } from './head-mac.ts'
import type { PreparedEntry } from './model.ts'
import type { Redact } from './redact.ts'
import { createLedgerStore } from './store.ts'
import type { EntryRow, NodeRow, PayloadRow } from './store.ts'
import { appendLeaf, decodeFrontier, encodeFrontier, computeRoot } from './tree.ts'

export type LedgerSealer = Sealer<PreparedEntry> & {
  /** Opening the ledger calls this: the store tells which key it needs, so nothing can be appended before. */
  useKey(key: SigningKey): void
  /** A committed size of the ledger. A shorter head with a valid MAC is an old one that somebody put back. */
  recordSize(size: number): void
}

/**
 * The ledger's part in every transaction of the store: what a body appends is numbered, hashed and
 * committed with what it changed, or neither is (L1).
 */
export function createSealer(dialect: Dialect, redact: Redact, now: Clock): LedgerSealer {
  const store = createLedgerStore(dialect)
  let headMac: HeadMac | undefined
  let knownSize = 0

  return {
    recordSize(size) {
      knownSize = Math.max(knownSize, size)
    },

    useKey(key) {
      headMac = createHeadMac(key)
    },

    prepare: (draft) => prepare(draft, { redact, salt: newSalt }),

    async seal(tx, drafts) {
      if (!headMac) throw new Error('the ledger was not opened before the first entry')
      const head = (await store.head(tx)) ?? emptyHead
      // Extending a head that somebody else wrote would prove it (RS1).
      if (!headMac.isValid(head)) throw headChangedError()
      if (head.size < knownSize) throw headShrunkError(head.size, knownSize)
      knownSize = head.size
      const clock = now()
      if (head.at - clock > maxClockStepMs)
        throw new CoworkError(
          'clock_went_back',
          `The clock shows ${new Date(clock).toISOString()}, but the ledger already has ${new Date(head.at).toISOString()}.`,
          { hint: 'Set the clock right; nothing is recorded until then.' },
        )
      const at = Math.max(clock, head.at)
      let frontier = decodeFrontier(head.size, head.frontier)
      let prev = head.hash
      const entries: EntryRow[] = []
      const payloads: PayloadRow[] = []
      const nodes: NodeRow[] = []
      for (const draft of drafts) {
        const seq = frontier.size + 1
        const { entry, body, leaf, payload } = seal(draft, { seq, at, prev })
        prev = leaf.toString('hex')
        entries.push({ ...toIndexColumns(entry), seq, at, type: entry.type, body, hash: prev })
        if (payload) payloads.push({ seq, salt: payload.salt, body: payload.body })
        frontier = appendLeaf(frontier, leaf, (level, idx, hash) =>
          nodes.push({ level, idx, hash: hash.toString('hex') }),
        )
      }
      await store.addEntries(tx, entries)
      if (payloads.length > 0) await store.addPayloads(tx, payloads)
      if (nodes.length > 0) await store.addNodes(tx, nodes)
      await store.saveHead(tx, {
        size: frontier.size,
        at,
        hash: prev,
        frontier: encodeFrontier(frontier),
        mac: headMac.compute(frontier.size, computeRoot(frontier)),
      })
    },
  }
}
