import type { Tx } from '../../src/base/db/port.ts'
import type { Call, Tool } from '../../src/base/tool.ts'

type Store = { transact<T>(body: (tx: Tx) => Promise<T>): Promise<T> }

/** Calls a tool like dispatch, without checks and entries. */
export async function callTool(
  tool: Tool,
  store: Store,
  input: Record<string, unknown>,
  call: Call,
): Promise<unknown> {
  if (tool.transact) return store.transact((tx) => tool.transact(tx, input, call))
  if (tool.read) return tool.read(input, call)
  const { output, finalize } = await tool.run(input, call)
  if (finalize) await store.transact(finalize)
  return output
}
