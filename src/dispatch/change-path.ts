import type { Tx } from '#base/db/port.ts'
import { RefusedResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { NotExecuted } from './admission.ts'
import type { CallPath, PathContext } from './execute.ts'

/** Nothing was committed, or the result of the commit is unknown. */
const storeFailures = new Set(['store_unavailable', 'store_closed', 'outcome_unknown'])

/** Runs a tool that changes only the store: the change and its entry are one transaction (L1). */
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
        // If the tool's own entry also records the call, a second entry is not appended (L2).
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
          const refusal = { ...record.elapsed(), message, details }
          tx.append(record.entry('call.refused', { outcome: code, data: refusal, payload: input }))
        } else if (!isRecorded)
          tx.append(record.entry('call.done', { outcome: 'done', data: data(), payload: input }))
        return output
      },
      { isUrgent: tool.isUrgent === true },
    ),

  /**
   * A claim was rolled back together with the tool's changes and is repeated with the failure.
   * After a store failure, the stored state of the claim is authoritative (A15).
   */
  mustCommitFailure: ({ code }) =>
    admission.hasClaim() && !record.call.signal.aborted && !storeFailures.has(code),
})
