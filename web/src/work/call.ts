import type { ToolName } from '#wire'
import { call } from '../api/client.ts'

/** Calls a tool about work. Their outputs are declared loosely (FT9): `work.ts` says what the items have. */
export const callWork = async <Output>(tool: ToolName, args: object): Promise<Output> =>
  (await call(tool, args)) as Output
