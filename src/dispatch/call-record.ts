import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { EntryDraft, EntryIds } from '#base/entry.ts'
import { noProgress } from '#base/tool.ts'
import type { Call, CallDetails, CallTarget } from '#base/tool.ts'
import { toTouchedData } from '#ledger'
import type { Execution } from './execute.ts'

export type CallRecord = ReturnType<typeof createCallRecord>

/** Creates the call object for the tool and the entries of the call. */
export function createCallRecord(
  { id, startedAt, attempt, request }: Pick<Execution, 'id' | 'startedAt' | 'attempt' | 'request'>,
  now: Clock,
) {
  const { tool, caller, touch } = attempt
  let ids: EntryIds = {}
  let details: Pick<CallDetails, 'ids' | 'data'> = {}
  const touched: NonNullable<CallDetails['touched']>[] = []

  const call: Call = {
    id,
    caller,
    signal: request.signal ?? new AbortController().signal,
    progress: request.progress ?? noProgress,
    addDetails(more) {
      if (more.touched) touched.push(more.touched)
      const files = touched.map(({ file }) => file)
      const isListed = touched.length > 1 || touched.some(({ isSubject }) => !isSubject)
      details = {
        ids: { ...details.ids, ...more.ids },
        data: {
          ...details.data,
          ...(more.touched && isListed && toTouchedData(files)),
          ...more.data,
        },
      }
    },
    ...(request.exchange !== undefined && { mcpContext: request.exchange }),
  }

  const elapsed = () => ({ ms: now() - startedAt })

  function entry(type: string, more: Partial<EntryDraft> = {}, extra = details): EntryDraft {
    const draft = buildCallEntry(type, id, caller, touch)
    return {
      ...draft,
      ...more,
      ids: { ...draft.ids, ...ids, ...extra.ids, ...more.ids },
      data: { ...draft.data, tool: tool.name, effect: tool.effect, ...extra.data, ...more.data },
    }
  }

  return {
    call,
    entry,
    elapsed,
    /** Sets the ids of the decision about the call. */
    setIds: (decidedBy: EntryIds) => void (ids = decidedBy),
    /** Details from the tool belong to the final entry, so they are left out here. */
    started: (more: Partial<EntryDraft>): EntryDraft => entry('call.started', more, {}),
    done: (): EntryDraft => entry('call.done', { outcome: 'done', data: elapsed() }),
  }
}

export function buildCallEntry(
  type: string,
  call: string,
  caller: Caller,
  touch?: CallTarget,
): EntryDraft {
  const { claim } = caller
  return {
    type,
    actor: toActor(caller),
    ids: { call },
    ...(touch && { domain: touch.domain }),
    ...(touch?.target !== undefined && { subject: touch.target }),
    ...((touch?.data ?? claim) !== undefined && {
      data: { ...touch?.data, ...(claim !== undefined && { claim }) },
    }),
  }
}
