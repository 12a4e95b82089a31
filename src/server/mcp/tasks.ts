import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { McpResult, rpcError } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import { getMcpContext, supportsTasks, tasksExtension } from './mcp-context.ts'

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A wait that outlives its request, in the words of SEP-2663. */
export type TaskRecord = {
  readonly taskId: string
  readonly status: TaskStatus
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** How long the record is kept; null is for ever. */
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  readonly inputRequests?: Readonly<Record<string, unknown>>
  /** A tool's fault is a result too: `failed` is for what JSON-RPC would answer as an error. */
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Durable records seen as tasks. What the caller may not see is answered as unknown. */
export type TaskSource = {
  /** `structured` as the client wants results (SV19). */
  get(id: string, caller: Caller, structured?: boolean): Promise<TaskRecord | undefined>
  /** False when there is no such task. Answers to questions it did not ask are ignored. */
  update(id: string, responses: Readonly<Record<string, unknown>>, caller: Caller): Promise<boolean>
  /** False when there is no such task. One that is over stays as it is. */
  cancel(id: string, caller: Caller): Promise<boolean>
}

/** Two sources behind one address; ids do not meet. */
export const combineTaskSources = (first: TaskSource, second: TaskSource): TaskSource => ({
  get: async (id, caller, structured) =>
    (await first.get(id, caller, structured)) ?? (await second.get(id, caller, structured)),
  update: async (id, responses, caller) =>
    (await first.update(id, responses, caller)) || second.update(id, responses, caller),
  cancel: async (id, caller) => (await first.cancel(id, caller)) || second.cancel(id, caller),
})

const missing = [
  -32021,
  'This needs a client that takes tasks.',
  { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
] as const

/** For tools that can answer in no other way. */
export function requireTaskSupport(call: Call): void {
  if (!getMcpContext(call)?.tasks) throw rpcError(...missing)
}

/** The answer that a record, already durable, will be the result. */
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
    if (!supportsTasks(context)) throw new ProtocolError(...missing)
    return callerOf(context)
  }
  server.setRequestHandler('tasks/get', { params, result }, async ({ taskId }, context) => {
    const task = await source.get(taskId, await callerWithTasks(context), structured)
    return task ? { ...task } : unknown(taskId)
  })
  server.setRequestHandler(
    'tasks/update',
    { params: updateParams, result },
    async ({ taskId, inputResponses }, context) => {
      // The SDK lifts `inputResponses` out of the parameters of every request.
      const responses = context.mcpReq.inputResponses ?? inputResponses ?? {}
      const found = await source.update(taskId, responses, await callerWithTasks(context))
      return found ? {} : unknown(taskId)
    },
  )
  server.setRequestHandler('tasks/cancel', { params, result }, async ({ taskId }, context) => {
    const found = await source.cancel(taskId, await callerWithTasks(context))
    return found ? {} : unknown(taskId)
  })
}

function unknown(taskId: string): never {
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no task ${JSON.stringify(taskId.slice(0, 100))}.`,
  )
}
