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
 * A tool that acts outside the store. `call.started` is on disk before anyone can see what it does, and `call.done`
 * before anyone hears of it (L1, L12).
 */
export function runPath({ run, startsBeforeRecord }: RunTool, context: PathContext): CallPath {
  const { ledger, tool, input, record, admission } = context
  const { promise: inLine, resolve: markQueued } = Promise.withResolvers<void>()
  const call: Call = { ...record.call, commitQueued: inLine }
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
   * The tool prepares what nobody can see yet, asks to be recorded by `enter`, and acts when that resolves. The disk
   * syncs what it prepared and `call.started` at the same time, which saves one of three waits (ADR 0018).
   */
  async function runBesideStart(): Promise<RunResult | NotExecuted> {
    async function enter(): Promise<void> {
      const stop = await start()
      if (stop) throw new CoworkError('not_started', 'The call does not run now.')
    }
    const running = async () => run(input, { ...call, recordStart: enter })
    const [result] = await Promise.allSettled([running()])
    // A tool that ended without asking for it is on record all the same.
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
      throw unrecorded(tool, error)
    })
  }

  return {
    async execute() {
      try {
        const result = await (startsBeforeRecord && context.isSure
          ? runBesideStart()
          : runAfterStart())
        if (result instanceof NotExecuted) return result
        await recordEnd(result)
        return result.output
      } finally {
        markQueued()
      }
    },
    // What began and is on record must also end on record before anyone hears of it (L12).
    mustCommitFailure: () => isStarted,
  }
}

/** The store says that nothing was saved, and that is true of the store: what ran outside of it was not undone. */
function unrecorded({ name }: Tool, error: unknown): unknown {
  if (!(error instanceof CoworkError) || error.code !== 'store_unavailable') return error
  const message = `${name} ran, but its end could not be recorded: ${error.message}`
  return new CoworkError('outcome_unknown', message, {
    hint: 'Look at what it did before you try again.',
    cause: error,
  })
}
