import { ApiError, call } from '../api/client.ts'
import { forPerson } from './file-error.ts'

/** Calls a tool of the files for the person at the screen. */
export async function callFiles<Output>(tool: string, args: object = {}): Promise<Output> {
  try {
    return await call<Output>(tool, args)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, hint, details } = error
    throw new ApiError(forPerson(tool, { ...details, code, message, hint }))
  }
}
