import type { Clock } from '#base/clock.ts'
import type { Draft } from '#base/entry.ts'
import type { Log } from '#base/log.ts'
import { createFailureNotes } from './failures.ts'
import type { Failure } from './failures.ts'
import { createSlowdown } from './slowdown.ts'
import type { Sleep } from './slowdown.ts'

type Deps = {
  readonly now: Clock
  readonly sleep: Sleep
  readonly note: (draft: Draft) => void
  readonly log: Log
}

export type Doorkeeper = ReturnType<typeof createDoorkeeper>

/** What every failed credential costs, whatever kind it is: an entry, and for guesses time (I9). */
export function createDoorkeeper({ now, sleep, note, log }: Deps) {
  const slowdown = createSlowdown({ now, sleep })
  const noteFailure = createFailureNotes({ note, sleep, log })
  const keys = (address: string, principal: string | undefined) =>
    principal === undefined ? [`address:${address}`] : [`address:${address}`, principal]

  return {
    failed: noteFailure,
    /** Resolves when the answer may be given. `principal` is whose patience it costs besides the address's. */
    async guessed(failure: Failure, principal?: string): Promise<void> {
      noteFailure(failure)
      await slowdown.failed(keys(failure.address, principal))
    },
    succeeded: (address: string, principal: string) => slowdown.succeeded(keys(address, principal)),
  }
}
