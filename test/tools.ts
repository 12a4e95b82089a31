// Tools for tests.
import type { Call, Tool } from '#base/tool.ts'

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
