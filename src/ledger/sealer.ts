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
  /** Sets the key when the ledger opens. The store determines the key, so appends are impossible before. */
  useKey(key: SigningKey): void
  /** Records a committed size. A shorter head with a valid MAC was restored from an old state. */
  recordSize(size: number): void
}

/**
 * Creates the ledger's part of every transaction: the entries of a body are numbered, hashed and committed together with
 * its changes, or neither is committed (L1).
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
      if (!headMac) throw new Error('the ledger is not open')
      const head = (await store.head(tx)) ?? emptyHead
      // Extending a forged head would prove it (RS1).
      if (!headMac.isValid(head)) throw headChangedError()
      if (head.size < knownSize) throw headShrunkError(head.size, knownSize)
      knownSize = head.size
      const clock = now()
      if (head.at - clock > maxClockStepMs)
        throw new CoworkError(
          'clock_went_back',
          `The clock is at ${new Date(clock).toISOString()}, before the newest ledger entry at ${new Date(head.at).toISOString()}.`,
          { hint: 'Correct the clock; until then nothing is recorded.' },
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
