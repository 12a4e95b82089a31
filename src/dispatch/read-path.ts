import type { Tool } from '#base/tool.ts'
import type { CallPath, PathContext } from './execute.ts'

/** Runs a read. It changes nothing, so the entry may follow the result (L12). */
export const readPath = (
  read: NonNullable<Tool['read']>,
  { ledger, input, record }: PathContext,
): CallPath => ({
  async execute() {
    const output = await read(input, record.call)
    ledger.appendDeferred(record.done())
    return output
  },
  mustCommitFailure: () => false,
})
