import { createCountedEntries } from '#base/counted-entries.ts'
import { systemActor } from '#base/entry.ts'
import type { Draft } from '#base/entry.ts'
import type { Log } from '#base/log.ts'
import type { Sleep } from './slowdown.ts'

export type Failure = {
  readonly address: string
  readonly door: string
  readonly reason: string
  /** Who the caller said to be; never who it was. */
  readonly claimed?: string
}

type Deps = {
  readonly note: (draft: Draft) => void
  readonly sleep: Sleep
  readonly log: Log
}

/** Records failed credentials (I9). */
export const createFailureNotes = (deps: Deps): ((failure: Failure) => void) =>
  createCountedEntries({ ...deps, toEntry })

/** The actor is cowork itself: an entry must not name as actor whoever a stranger claims to be. */
const toEntry = (address: string, { door, reason, claimed }: Failure, count: number): Draft => ({
  type: 'auth.failed',
  actor: systemActor,
  domain: 'cowork',
  subject: address,
  outcome: reason,
  data: { door, count, ...(claimed !== undefined && { claimed }) },
})
