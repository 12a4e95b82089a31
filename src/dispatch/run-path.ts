import { CoworkError } from '#base/errors.ts'
import type { Call, RunResult, Tool } from '#base/tool.ts'
import { NotExecuted } from './admission.ts'
import type { CallPath, PathContext } from './execute.ts'

type RunTool = Pick<
  Extract<Tool, { readonly effect: 'write' | 'destructive' }>,
  'startsBeforeRecord'
> & {
  readonly run: NonNullable<Tool['run']>
}

/**
 * Runs a tool that acts outside the store. `call.started` is on disk before any visible effect,
 * and `call.done` before the caller receives the result (L1, L12).
 */
export function runPath({ run, startsBeforeRecord }: RunTool, context: PathContext): CallPath {
  const { ledger, tool, input, record, admission } = context
  const { promise: queued, resolve: markQueued } = Promise.withResolvers<void>()
  const call: Call = { ...record.call, commitQueued: queued }
  let isStarted = false
  let starting: Promise<NotExecuted | undefined> | undefined
  const start = () => (starting ??= recordStart())

  async function recordStart(): Promise<NotExecuted | undefined> {
    const payload = tool.toPayload ? await tool.toPayload(input) : input
    return ledger.transact(async (tx) => {
      const decision = await admission.admit(tx)
      if (decision instanceof NotExecuted) return decision
      tx.append(record.started({ data: { decision }, payload }))
      return undefined
    })
  }

  async function runAfterStart(): Promise<RunResult | NotExecuted> {
    const stop = await start()
    if (stop) return stop
    isStarted = true
    return run(input, call)
  }

  /**
   * Lets the tool prepare invisible changes, call `recordStart`, and act once it resolves. The
   * preparation and `call.started` are fsynced at the same time, which saves one of three waits
   * (ADR 0018).
   */
  async function runWhileRecordingStart(): Promise<RunResult | NotExecuted> {
    async function recordStartOrStop(): Promise<void> {
      const stop = await start()
      if (stop) throw new CoworkError('not_started', 'The call cannot run now.')
    }
    const running = async () => run(input, { ...call, recordStart: recordStartOrStop })
    const [result] = await Promise.allSettled([running()])
    // A tool that never called `recordStart` is recorded too.
    const stop = await start()
    if (stop) return stop
    isStarted = true
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  async function recordEnd({ output, finalize }: RunResult): Promise<void> {
    const recorded = ledger.transact(async (tx) => {
      await finalize?.(tx)
      await admission.complete(tx, output)
      tx.append(record.done())
    })
    markQueued()
    await recorded.catch((error: unknown) => {
      throw toUnrecordedError(tool, error)
    })
  }

  return {
    async execute() {
      try {
        const result = await (startsBeforeRecord && context.needsNoApproval
          ? runWhileRecordingStart()
          : runAfterStart())
        if (result instanceof NotExecuted) return result
        await recordEnd(result)
        return result.output
      } finally {
        markQueued()
      }
    },
    // A recorded start needs a recorded end before the caller learns of it (L12).
    mustCommitFailure: () => isStarted,
  }
}

/**
 * Replaces "nothing was saved": that is true for the store, but the effects outside it were not
 * undone.
 */
function toUnrecordedError({ name }: Tool, error: unknown): unknown {
  if (!(error instanceof CoworkError) || error.code !== 'store_unavailable') return error
  const message = `${name} ran, but its result could not be recorded: ${error.message}`
  return new CoworkError('outcome_unknown', message, {
    hint: 'Check its effects before you try again.',
    cause: error,
  })
}
