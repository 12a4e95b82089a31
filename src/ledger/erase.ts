import type { Clock } from '#base/clock.ts'
import type { Db, Tx, Reader } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { PeriodicTask } from '#base/periodic-task.ts'
import type { Entry } from './model.ts'
import type { LedgerStore } from './store.ts'

/** An erasure: the content of these approvals and calls by a person, or everything before a time. */
export type Erased =
  | { readonly approvals: readonly string[]; readonly calls: readonly string[]; readonly by: Actor }
  | { readonly before: number }

/** Erases the copies in a module, in the transaction of the erasure. Returns the number of erased copies. */
export type EraseCopies = (tx: Tx, erased: Erased) => Promise<number>

const day = 86_400_000
const hour = 3_600_000
const batchSize = 1000

type Deps = {
  readonly db: Db
  readonly store: LedgerStore
  readonly now: Clock
  readonly log: Log
}

/**
 * Erases payloads (L8). The entry with its digest stays. A new entry records who erased the payload and why; without it,
 * verification reports the missing payload.
 */
export function createPayloadEraser({ db, store, now, log }: Deps) {
  let task: PeriodicTask | undefined
  const erasers = new Set<EraseCopies>()

  async function eraseCopies(tx: Tx, erased: Erased): Promise<number> {
    let count = 0
    for (const eraser of erasers) count += await eraser(tx, erased)
    return count
  }

  async function erase(tx: Tx, seq: number, reason: string, actor: Actor): Promise<void> {
    const row = await store.entry(tx, seq)
    const { approvals, calls, seqs } = row
      ? await findRelatives(tx, store, JSON.parse(row.body) as Entry)
      : { approvals: [], calls: [], seqs: [] }
    const erasedSeqs: number[] = []
    for (const each of new Set([seq, ...seqs]))
      if ((await store.erasePayload(tx, each)) > 0) erasedSeqs.push(each)
    const copies = await eraseCopies(tx, { approvals, calls, by: actor })
    if (erasedSeqs.length + copies === 0)
      throw new CoworkError('not_found', `Entry ${seq} has no content to erase.`, {
        hint: 'Check the entry: it may never have had content, or it was erased already.',
      })
    for (const each of new Set([seq, ...erasedSeqs]))
      tx.append({ type: 'payload.erased', actor, subject: String(each), data: { reason } })
  }

  /** Erases all payloads before this time and returns their number. Entry times never decrease, so they are a prefix. */
  async function eraseBefore(time: number): Promise<number> {
    for (let erased = 0; ;) {
      const { gone, copies } = await db.transact(async (tx) => {
        const oldest = await store.oldestPayloads(tx, batchSize)
        const upTo = oldest.filter(({ at }) => at < time).at(-1)?.seq
        const payloads = upTo === undefined ? 0 : await store.erasePayloadsUpTo(tx, upTo)
        const others = await eraseCopies(tx, { before: time })
        // Zero if another daemon was faster.
        if (payloads + others > 0)
          tx.append({
            type: 'payload.expired',
            actor: systemActor,
            data: {
              ...(payloads > 0 && { up_to_seq: upTo }),
              payloads,
              ...(others > 0 && { copies: others }),
            },
          })
        return { gone: payloads, copies: others }
      })
      erased += gone
      if (gone < batchSize && copies === 0) return erased
    }
  }

  /** Erases copies that an earlier version left behind (L8). */
  async function eraseRemainingCopies(): Promise<void> {
    const filter = { types: ['payload.erased', 'payload.expired'], limit: batchSize }
    for (let after = 0, page: Entry[]; ; after = page.at(-1)?.seq ?? after) {
      page = (await store.find(db, { ...filter, after })).map(
        ({ body }) => JSON.parse(body) as Entry,
      )
      for (const entry of page) await db.transact((tx) => eraseCopiesFor(tx, entry))
      if (page.length < batchSize) return
    }
  }

  async function eraseCopiesFor(tx: Tx, { type, subject, data }: Entry): Promise<void> {
    if (type === 'payload.erased') {
      const row = await store.entry(tx, Number(subject))
      if (!row) return
      const { approvals, calls } = await findRelatives(tx, store, JSON.parse(row.body) as Entry)
      await eraseCopies(tx, { approvals, calls, by: systemActor })
    } else {
      const upTo = await store.entry(tx, Number(data?.['up_to_seq']))
      if (upTo) while ((await eraseCopies(tx, { before: upTo.at })) > 0);
    }
  }

  function startExpiry(days: number) {
    task = startPeriodicTask({
      intervalMs: hour,
      async run() {
        if (await db.isLeader()) await eraseBefore(now() - days * day)
      },
      failure: 'payload expiry failed',
      log,
    })
  }

  return {
    onErase(eraser: EraseCopies): () => void {
      erasers.add(eraser)
      return () => void erasers.delete(eraser)
    },
    erase,
    eraseRemainingCopies,
    eraseBefore,
    startExpiry,
    close: async () => task?.close(),
  }
}

/** Other records with the same content: approvals, calls and entries with arguments. */
type Relatives = {
  readonly approvals: readonly string[]
  readonly calls: readonly string[]
  readonly seqs: readonly number[]
}

const maxRelatives = 1000
const openedTypes = ['approval.requested', 'proposal.created', 'handoff.created']
const decidedTypes = ['approval.approved', 'handoff.resolved']
const endedTypes = ['call.started', 'call.done', 'call.failed', 'call.refused']

/** Finds the records that repeat the content of an entry (L8): the approval of the call and the edit by a person. */
async function findRelatives(
  reader: Reader,
  store: Pick<LedgerStore, 'find'>,
  entry: Entry,
): Promise<Relatives> {
  const find = async (
    filter: { call: string } | { text: string; since: number; types: string[] },
  ) =>
    (await store.find(reader, { ...filter, limit: maxRelatives })).map(
      ({ body }) => JSON.parse(body) as Entry,
    )
  const findByCall = async (call: string | undefined) => (call === undefined ? [] : find({ call }))

  const own = isContent(entry) ? await findByCall(entry.ids?.call) : []
  const approvals = new Set([entry, ...own.filter(isContent)].flatMap(getApprovals))
  const seqs = new Set(own.filter(hasArguments).map(({ seq }) => seq))
  for (const id of approvals) {
    const about = await find({
      text: id,
      since: parseIdTime(id),
      types: [...openedTypes, ...decidedTypes, ...endedTypes],
    })
    for (const other of about)
      if (isContent(other) && getApprovals(other).includes(id))
        for (const one of await findByCall(other.ids?.call))
          if (hasArguments(one)) seqs.add(one.seq)
  }
  const calls = isContent(entry) && entry.ids?.call !== undefined ? [entry.ids.call] : []
  return { approvals: [...approvals], calls, seqs: [...seqs] }
}

/** A decision contains content only if a person edited it. */
const isContent = ({ type, data }: Entry) =>
  openedTypes.includes(type) ||
  endedTypes.includes(type) ||
  type === 'handoff.resolved' ||
  data?.['collaborative'] === true

/** A call with a standing permission refers to the approval of another call, unless it consumed that approval. */
function getApprovals({ type, ids, data }: Entry): string[] {
  if (ids?.approval === undefined) return []
  if (!endedTypes.includes(type)) return [ids.approval]
  const { by, claimed } = (data?.['decision'] ?? {}) as { by?: unknown; claimed?: unknown }
  const isOwn = by !== undefined && (by !== 'permission' || claimed === true)
  return isOwn ? [ids.approval] : []
}

const hasArguments = ({ payload }: Entry) => payload !== undefined

/** Ids of approvals start with their creation time (UUID version 7). */
const parseIdTime = (id: string): number => {
  const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(at) ? 0 : at - 60_000
}
