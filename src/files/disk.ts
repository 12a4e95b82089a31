import type { Call } from '#base/tool.ts'
import type { FileWorker } from './client.ts'
import { explained } from './faults.ts'
import type { Grants } from './grants/service.ts'
import type { Placed, Places, Wanted } from './places.ts'
import type { Answered, Ask, Op } from './worker/protocol.ts'

type Deps = {
  readonly worker: FileWorker
  readonly places: Places
  readonly grants: Pick<Grants, 'used'>
}

export type Disk = ReturnType<typeof createDisk>

/** What a call does on disk: by the caller's own right, through the worker, and known to the ledger. */
export function createDisk({ worker, places, grants }: Deps) {
  return {
    /** Where it lies for this caller. The entry that ends the call says under which grant (FT8). */
    async place(call: Pick<Call, 'caller' | 'tell'>, wanted: Wanted): Promise<Placed> {
      const placed = await places.place(call.caller, wanted)
      if (placed.grant) call.tell({ ids: { grant: placed.grant.id } })
      return placed
    },

    /** `about` is what it is about: the first is named when it fails, and all their grants count as used. */
    async ask<O extends Op>(
      call: Pick<Call, 'signal' | 'enter'>,
      op: O,
      about: readonly Pick<Placed, 'path' | 'grant'>[],
      asked: Ask<O>,
      body?: Uint8Array,
    ): Promise<Answered<O>> {
      const ids = about.flatMap(({ grant }) => (grant ? [grant.id] : []))
      try {
        const { signal, enter } = call
        const more = { grants: ids, signal, enter, ...(body && { body }) }
        const answer = await worker.ask(op, asked, more)
        for (const id of ids) grants.used(id)
        return answer
      } catch (error) {
        throw explained(error, about[0]?.path ?? '')
      }
    },
  }
}
