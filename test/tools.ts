// Tools for tests, and calls of tools past dispatch.
import type { Tx } from '#base/db/port.ts'
import type { Call, Tool } from '#base/tool.ts'

type Store = { transact<T>(body: (tx: Tx) => Promise<T>): Promise<T> }

/** Calls a tool as dispatch does, without checks and entries. */
export async function callTool(
  tool: Tool,
  store: Store,
  input: Record<string, unknown>,
  call: Call,
): Promise<unknown> {
  if (tool.change) return store.transact((tx) => tool.change(tx, input, call))
  if (tool.read) return tool.read(input, call)
  const { output, finalize } = await tool.run(input, call)
  if (finalize) await store.transact(finalize)
  return output
}

/** The effect of a tool together with a function of the kind that this effect asks for. */
export const acting = <I, O>(
  effect: Tool['effect'],
  act: (input: I, call: Call) => Promise<O>,
):
  | { effect: 'read'; read: (input: I, call: Call) => Promise<O> }
  | {
      effect: 'write' | 'destructive'
      run: (input: I, call: Call) => Promise<{ output: O }>
    } =>
  effect === 'read'
    ? { effect, read: act }
    : { effect, run: async (input, call) => ({ output: await act(input, call) }) }
