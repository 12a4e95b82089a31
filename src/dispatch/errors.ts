import type { ErrorTable } from '#base/errors.ts'

export const dispatchErrors = {
  unknown_tool: { status: 404, exit: 'notFound' },
  tool_excluded: { status: 403, exit: 'failed' },
  not_started: { status: 409, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof dispatchErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
