import type * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { TransactionBody, Db, Reader, TransactOptions } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { verifyCheckpoint } from './checkpoint.ts'
import type { SigningKey } from './checkpoint.ts'
import { createCheckpointSigner } from './checkpoint-signer.ts'
import { checkHead } from './check-head.ts'
import { createPayloadEraser } from './erase.ts'
import { runFollower, follow } from './follow.ts'
import type { StartPosition, FollowerHandler } from './follow.ts'
import { createHeadMac } from './head-mac.ts'
import { startMirror } from './mirror.ts'
import type { Mirror, MirrorOptions } from './mirror.ts'
import { firstSeq, genesisHash } from './model.ts'
import type { Entry } from './model.ts'
import { createDeferredEntries } from './deferred-entries.ts'
import { inclusionProof } from './proof.ts'
import { isJoined, joinedNouns, collectJoiningIds } from './receipt.ts'
import { toHashedEntry, search, isVisibleTo } from './search.ts'
import type { HashedEntry } from './search.ts'
import type { LedgerSealer } from './sealer.ts'
import { createLedgerStore } from './store.ts'
import type { EntryFilter, EntryRow } from './store.ts'
import type { ledgerAnswers, Receipt } from './wire.ts'

export type LedgerDeps = {
  readonly db: Db
  readonly sealer: LedgerSealer
  readonly openKey: (known: string | undefined) => SigningKey
  readonly copyCheckpoint: (line: string) => void | Promise<void>
  /** Throws if the store is too short; called before the first signature. */
  readonly assertSize?: (size: number) => void
  readonly now: Clock
  readonly log: Log
}

/** The proof that an entry is in the ledger that a checkpoint signs (L6). */
export type EntryProof = z.output<(typeof ledgerAnswers)['GET /api/ledger/{seq}/proof']>

export type Ledger = Awaited<ReturnType<typeof openLedger>>

/** A call has a few entries, but one approval may allow many calls. */
const maxReceiptEntries = 1000

/** The number of an agent's newest entries in which `recentEntries` looks for one domain. */
const maxRecentEntries = 300

export async function openLedger(deps: LedgerDeps) {
  const { db, sealer, copyCheckpoint, now, log } = deps
  const store = createLedgerStore(db.dialect)
  const size = async () => (await store.peek(db))?.size ?? 0
  deps.assertSize?.(await size())
  const key = deps.openKey(await store.key(db))
  const headMac = createHeadMac(key)
  await db.transact((tx) => checkHead(tx, { dialect: db.dialect, store, headMac }))
  sealer.useKey(key)
  const deferred = createDeferredEntries(db, sealer.prepare, log)
  const checkpoints = createCheckpointSigner({
    db,
    store,
    key,
    copy: copyCheckpoint,
    onSigned: sealer.recordSize,
    now,
    log,
  })
  // After a crash the newest entries have no checkpoint.
  await checkpoints.sign()
  const erasure = createPayloadEraser({ db, store, now, log })
  const mirrors: Mirror[] = []

  async function findCheckpoint(seq: number) {
    let signed = await store.checkpointFrom(db, seq)
    if (!signed) {
      await checkpoints.sign()
      signed = await store.checkpointFrom(db, seq)
    }
    if (signed) return signed
    throw new CoworkError('not_signed_yet', `No checkpoint covers entry ${seq} yet.`, {
      hint: 'Retry in one second.',
    })
  }

  return {
    vkey: key.vkey,
    headMac,
    /** Derives a secret for one purpose, the same for all daemons that share the signing key. */
    derive: key.derive,
    transact: <T>(body: TransactionBody<T>, options?: TransactOptions) =>
      db.transact(body, options),
    /** Appends an entry; it is on disk when the promise resolves. */
    record: (draft: EntryDraft) => db.transact(async (tx) => tx.append(draft)),
    /** Appends an entry without waiting; it is on disk within 50 ms (L12). */
    appendDeferred: deferred.appendDeferred,
    /** Returns the outage that stops all calls, if any (A11). */
    outage: () => db.outage() ?? deferred.outage(),
    size,
    find: async (filter: EntryFilter) =>
      (await search(db, store, filter)).map(({ entry }) => entry),
    /** Finds entries with their hashed bytes. */
    findHashed: (filter: EntryFilter) => search(db, store, filter),
    /**
     * Lists an agent's entries in one domain, newest first, among its last `maxRecentEntries`. Uses an index, so that it can
     * run inside a transaction (H5).
     */
    async recentEntries(reader: Reader, caller: Caller, domain: string): Promise<Entry[]> {
      const filter = { actor: caller.id, newestFirst: true, limit: maxRecentEntries }
      const rows = await store.find(reader, filter)
      return rows
        .map(parseEntry)
        .filter((entry) => isVisibleTo(caller, entry) && entry.domain === domain)
    },
    /** Returns an entry with its payload, and whether its previous hash matches. */
    async entry(seq: number) {
      const row = await store.entry(db, seq)
      if (!row) return undefined
      const { entry, hash } = toHashedEntry(row)
      const previous = seq === firstSeq ? genesisHash : (await store.entry(db, seq - 1))?.hash
      const beside = entry.payload === undefined ? undefined : await store.payload(db, seq)
      return {
        entry,
        hash,
        prevOk: entry.prev === previous,
        ...(beside && { payload: JSON.parse(beside.body) as unknown }),
      }
    },
    async payloads(seqs: readonly number[]) {
      const found = await Promise.all(seqs.map((seq) => store.payload(db, seq)))
      return found.filter((row) => row !== undefined)
    },
    checkpoints: () => store.checkpoints(db),
    latestCheckpoint: () => store.latestCheckpoint(db),

    /** Yields entries after `after` in order, until the signal (L11). */
    async *follow(after: number, signal: AbortSignal): AsyncGenerator<Entry[], void> {
      for await (const rows of follow(db, store, after, signal)) yield rows.map(parseEntry)
    },
    /** Yields entries with their hashed bytes. */
    async *tail(after: number, signal: AbortSignal): AsyncGenerator<HashedEntry[], void> {
      for await (const rows of follow(db, store, after, signal)) yield rows.map(toHashedEntry)
    },
    onAppend: (listener: () => void) => db.onAppend(listener),
    /** Runs a follower with a stored cursor. */
    runFollower: (
      name: string,
      handle: FollowerHandler<Entry>,
      signal: AbortSignal,
      from: StartPosition = 'first entry',
    ) => runFollower(db, store, name, (tx, rows) => handle(tx, rows.map(parseEntry)), signal, from),

    async prove(seq: number): Promise<EntryProof> {
      const row = await store.entry(db, seq)
      if (!row)
        throw new CoworkError(
          'not_found',
          `Not found: entry ${seq}. The newest entry is ${await size()}.`,
          {
            hint: 'Run `cowork audit tail` to see the newest entries.',
          },
        )
      const signed = await findCheckpoint(seq)
      const tree = verifyCheckpoint(signed.note, key.vkey)
      const path = await inclusionProof(store.hashes(db), seq - 1, tree.size)
      return {
        seq,
        entry: row.body,
        index: seq - 1,
        size: tree.size,
        path: path.map((hash) => hash.toString('base64')),
        checkpoint: signed.note,
        vkey: key.vkey,
      }
    },

    /** Builds the receipt of a call: its entries, approvals and proposals, proven by one checkpoint (L16). */
    async receipt(call: string): Promise<Receipt> {
      const own = await search(db, store, { call, limit: maxReceiptEntries })
      const last = own.at(-1)
      if (!last)
        throw new CoworkError('not_found', `Not found: call ${call}.`, {
          hint: 'Run `cowork audit tail --json` to see the ids of calls.',
        })
      const joining = collectJoiningIds(own.map(({ entry }) => entry))
      const found = new Map(own.map((recorded) => [recorded.entry.seq, recorded]))
      for (const text of joining)
        for (const recorded of await search(db, store, {
          text,
          types: joinedNouns,
          limit: maxReceiptEntries,
        }))
          if (isJoined(recorded.entry, joining)) found.set(recorded.entry.seq, recorded)
      const entries = [...found.values()].toSorted((a, b) => a.entry.seq - b.entry.seq)
      const { note } = await findCheckpoint(entries.at(-1)?.entry.seq ?? last.entry.seq)
      const { size } = verifyCheckpoint(note, key.vkey)
      const proven: Receipt['entries'] = []
      for (const { entry, body } of entries) {
        const path = await inclusionProof(store.hashes(db), entry.seq - 1, size)
        const hashes = path.map((hash) => hash.toString('base64'))
        proven.push({ index: entry.seq - 1, entry: body, path: hashes })
      }
      return { receipt: 1, call, vkey: key.vkey, checkpoint: note, entries: proven }
    },

    /** Erases the payload of an entry and records who erased it and why (L8). */
    erase: erasure.erase,
    onErase: erasure.onErase,
    eraseRemainingCopies: erasure.eraseRemainingCopies,
    eraseBefore: erasure.eraseBefore,
    startPayloadExpiry: erasure.startExpiry,

    /** Copies new entries to a file, one line each, until the ledger closes (L9). */
    mirror: (options: MirrorOptions) =>
      void mirrors.push(startMirror({ db, store, log: log.scope('mirror') }, options)),

    async close() {
      await erasure.close()
      await deferred.close()
      await Promise.all(mirrors.map((mirror) => mirror.close()))
      await checkpoints.close()
    },
  }
}

const parseEntry = (row: EntryRow) => JSON.parse(row.body) as Entry
