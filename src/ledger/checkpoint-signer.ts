import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { signCheckpoint } from './checkpoint.ts'
import type { SigningKey } from './checkpoint.ts'
import { createHeadMac, headChangedError, headShrunkError } from './head-mac.ts'
import type { LedgerStore } from './store.ts'
import { decodeFrontier, computeRoot } from './tree.ts'

const signAfter = { entries: 256, ms: 1000 }
/** Delay before the size is polled after a commit: a query per commit would slow down its caller. */
const pollDelayMs = 20

export type CheckpointSignerDeps = {
  readonly db: Db
  readonly store: LedgerStore
  readonly key: SigningKey
  /** Copies a checkpoint to a location outside the store, for the case that someone rewrites the store. */
  readonly copy: (line: string) => void | Promise<void>
  readonly onSigned: (size: number) => void
  readonly now: Clock
  readonly log: Log
}

/** Creates a signer that signs one second or 256 entries after the first unsigned entry, and at shutdown (L5). */
export function createCheckpointSigner({
  db,
  store,
  key,
  copy,
  onSigned,
  now,
  log,
}: CheckpointSignerDeps) {
  const headMac = createHeadMac(key)
  let signed = 0
  let timer: NodeJS.Timeout | undefined
  let pollTimer: NodeJS.Timeout | undefined
  let busy: Promise<void> | undefined

  async function sign() {
    clearTimeout(timer)
    timer = undefined
    if (!(await db.isLeader())) return
    const at = now()
    const note = await db.transact(async (tx) => {
      const head = await store.peek(tx)
      if (!head || head.size === 0 || head.size === signed) return undefined
      // Sign only entries that a daemon with the key committed (RS1).
      if (!headMac.isValid(head)) throw headChangedError()
      if (head.size < signed) throw headShrunkError(head.size, signed)
      const root = computeRoot(decodeFrontier(head.size, head.frontier))
      const text = signCheckpoint({ size: head.size, root }, key)
      const isNew = (await store.saveCheckpoint(tx, { size: head.size, at, note: text })) > 0
      return { size: head.size, text, isNew }
    })
    if (!note) return
    signed = note.size
    onSigned(signed)
    if (note.isNew) await copy(JSON.stringify({ at, size: note.size, note: note.text }))
  }

  const signOnce = () =>
    (busy ??= sign()
      .catch((error: unknown) => log.error('checkpoint failed', { error: errorMessage(error) }))
      .finally(() => (busy = undefined)))

  async function checkSize() {
    pollTimer = undefined
    const head = await store.peek(db).catch(() => undefined)
    if (head && head.size - signed >= signAfter.entries) await signOnce()
  }

  const stop = db.onAppend(() => {
    timer ??= setTimeout(() => void signOnce(), signAfter.ms)
    pollTimer ??= setTimeout(() => void checkSize(), pollDelayMs)
  })

  return {
    sign: signOnce,
    async close() {
      stop()
      clearTimeout(timer)
      clearTimeout(pollTimer)
      await busy
      await signOnce()
    },
  }
}
