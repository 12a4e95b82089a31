import type { Tx } from '#base/db/port.ts'
import { RefusedResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { NotExecuted } from './admission.ts'
import type { CallPath, PathContext } from './execute.ts'

/** Nothing was committed, or nobody knows. */
const storeFailures = new Set(['store_unavailable', 'store_closed', 'outcome_unknown'])

/** A tool that changes the store alone: the change and the record of it are one transaction, or nothing (L1). */
export const changePath = (
  change: NonNullable<Tool['transact']>,
  { ledger, tool, input, record, admission }: PathContext,
): CallPath => ({
  execute: () =>
    ledger.transact(
      async (tx) => {
        const decision = await admission.admit(tx)
        if (decision instanceof NotExecuted) return decision
        const data = () => ({ ...record.elapsed(), ...(admission.isDecided && { decision }) })
        let isRecorded = false
        // Where what the call does is the call itself, one entry says both (L2).
        const recording: Tx = {
          ...tx,
          append(draft) {
            if (!draft.isCall) return tx.append(draft)
            isRecorded = true
            const more = { ...draft, data: { ...draft.data, ...data() }, payload: input }
            tx.append(record.entry(draft.type, more))
          },
        }
        const output = await change(recording, input, record.call)
        await admission.complete(tx, output)
        if (output instanceof RefusedResult) {
          const { code, message, details } = output
          const said = { ...record.elapsed(), message, details }
          tx.append(record.entry('call.refused', { outcome: code, data: said, payload: input }))
        } else if (!isRecorded)
          tx.append(record.entry('call.done', { outcome: 'done', data: data(), payload: input }))
        return output
      },
      { isUrgent: tool.isUrgent === true },
    ),

  /**
   * A claim was rolled back with what the tool did, and is made again with its failure. Where the store failed, the
   * claim is what the store says (A15).
   */
  mustCommitFailure: ({ code }) =>
    admission.hasClaim() && !record.call.signal.aborted && !storeFailures.has(code),
})
