import type { ToolName, ToolResults } from '#wire'
import { ApiError, call } from '../api/client.ts'
import { toPersonError } from './file-error.ts'

export async function callFiles<Name extends ToolName>(
  tool: Name,
  args: object = {},
): Promise<ToolResults[Name]> {
  try {
    return await call(tool, args)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, hint, details } = error
    throw new ApiError(toPersonError(tool, { ...details, code, message, hint }))
  }
}
