import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { McpResult, rpcError } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import { getMcpContext, supportsTasks, tasksExtension } from './mcp-context.ts'

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A task of SEP-2663: pending work that outlives its request. */
export type TaskRecord = {
  readonly taskId: string
  readonly status: TaskStatus
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** The retention of the record; null means forever. */
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  readonly inputRequests?: Readonly<Record<string, unknown>>
  /** A tool error is a result too: `failed` is for JSON-RPC errors. */
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Exposes durable records as tasks. A task that the caller cannot see is reported as unknown. */
export type TaskSource = {
  /** `structured` selects the result format of the client (SV19). */
  get(id: string, caller: Caller, structured?: boolean): Promise<TaskRecord | undefined>
  /** Returns false for an unknown task. Ignores responses that it did not request. */
  update(id: string, responses: Readonly<Record<string, unknown>>, caller: Caller): Promise<boolean>
  /** Returns false for an unknown task. A finished task stays unchanged. */
  cancel(id: string, caller: Caller): Promise<boolean>
}

/** Combines two sources with disjoint ids. */
export const combineTaskSources = (first: TaskSource, second: TaskSource): TaskSource => ({
  get: async (id, caller, structured) =>
    (await first.get(id, caller, structured)) ?? (await second.get(id, caller, structured)),
  update: async (id, responses, caller) =>
    (await first.update(id, responses, caller)) || second.update(id, responses, caller),
  cancel: async (id, caller) => (await first.cancel(id, caller)) || second.cancel(id, caller),
})

const tasksRequired = [
  -32021,
  'This tool requires a client with task support.',
  { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
] as const

/** Throws unless the client supports tasks, for tools that need them. */
export function requireTaskSupport(call: Call): void {
  if (!getMcpContext(call)?.tasks) throw rpcError(...tasksRequired)
}

/** Builds the result that refers to a stored task. */
export function taskResult(task: TaskRecord): McpResult {
  const { inputRequests: _, result: __, error: ___, ...created } = task
  return new McpResult({ resultType: 'task', ...created })
}

const params = z.object({ taskId: z.string() })
const updateParams = params.extend({ inputResponses: z.record(z.string(), z.unknown()).optional() })
const result = z.looseObject({})

export function attachTasks(
  server: Server,
  source: TaskSource,
  callerOf: (context: ServerContext) => Promise<Caller>,
  structured = false,
): void {
  const callerWithTasks = (context: ServerContext) => {
    if (!supportsTasks(context)) throw new ProtocolError(...tasksRequired)
    return callerOf(context)
  }
  server.setRequestHandler('tasks/get', { params, result }, async ({ taskId }, context) => {
    const task = await source.get(taskId, await callerWithTasks(context), structured)
    return task ? { ...task } : throwUnknownTask(taskId)
  })
  server.setRequestHandler(
    'tasks/update',
    { params: updateParams, result },
    async ({ taskId, inputResponses }, context) => {
      // The SDK removes `inputResponses` from the parameters of every request.
      const responses = context.mcpReq.inputResponses ?? inputResponses ?? {}
      const found = await source.update(taskId, responses, await callerWithTasks(context))
      return found ? {} : throwUnknownTask(taskId)
    },
  )
  server.setRequestHandler('tasks/cancel', { params, result }, async ({ taskId }, context) => {
    const found = await source.cancel(taskId, await callerWithTasks(context))
    return found ? {} : throwUnknownTask(taskId)
  })
}

function throwUnknownTask(taskId: string): never {
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown task: ${JSON.stringify(taskId.slice(0, 100))}.`,
  )
}
