import type { Guard } from '../rules/guard.ts'
import type { Roots } from '../confine/types.ts'
import type { OpResponse, OpRequest, Op, ExpectedResult, WorkerSetup } from './protocol.ts'

export type OpContext = {
  readonly roots: Roots
  readonly guard: Guard
  readonly limits: WorkerSetup['limits']
  /** To be awaited every so often by whatever takes long: lets others pass when its share is used up. */
  yieldIfDue(): Promise<void>
  /**
   * To be awaited before the first thing that anyone could see. Rejects where it must not be done after all. The
   * daemon has the outlook when it resolves.
   */
  waitForEntry(expected?: ExpectedResult): Promise<void>
  /** Says how far it is. Cheap: most of what is said goes no further, except where all is done. */
  progress(done: number, total?: number): void
}

/** Answers, or throws a FileFault. `cancelled` turns true when nobody waits any longer. */
export type RunOp<O extends Op> = (
  context: OpContext,
  ask: OpRequest<O>,
  body: Buffer,
  cancelled: () => boolean,
) => OpResponse<O> | Promise<OpResponse<O>>

export type OpMap = { readonly [O in Op]: RunOp<O> }
