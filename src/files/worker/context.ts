import type { Guard } from '../rules/guard.ts'
import type { Roots } from '../confine/types.ts'
import type { OpResponse, OpRequest, Op, ExpectedResult, WorkerSetup } from './protocol.ts'

export type OpContext = {
  readonly roots: Roots
  readonly guard: Guard
  readonly limits: WorkerSetup['limits']
  /** Long operations await it regularly: it lets other calls run when the time slice is used up. */
  yieldIfDue(): Promise<void>
  /**
   * Awaited before the first visible change. Rejects if the change must not be made. When it resolves, the daemon
   * has the expected result.
   */
  waitForEntry(expected?: ExpectedResult): Promise<void>
  /** Reports progress. Cheap: most reports are dropped, except the last. */
  reportProgress(done: number, total?: number): void
}

/** Returns the response, or throws a `FileError`. `cancelled` returns true once no caller waits. */
export type RunOp<O extends Op> = (
  context: OpContext,
  ask: OpRequest<O>,
  body: Buffer,
  cancelled: () => boolean,
) => OpResponse<O> | Promise<OpResponse<O>>

export type OpMap = { readonly [O in Op]: RunOp<O> }
