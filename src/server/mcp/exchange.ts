import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Call } from '#base/tool.ts'

/** The MCP request behind a call, for the few tools that speak MCP themselves (the gateway's). */
export type Exchange = {
  readonly context: ServerContext
  /** The client can take a task instead of an answer (SV15). */
  readonly tasks: boolean
}

export const tasksExtension = 'io.modelcontextprotocol/tasks'

export const exchangeFor = (context: ServerContext): Exchange => ({
  context,
  tasks: takesTasks(context),
})

export const exchangeOf = (call: Call): Exchange | undefined =>
  isExchange(call.exchange) ? call.exchange : undefined

const isExchange = (value: unknown): value is Exchange =>
  typeof value === 'object' && value !== null && 'context' in value && 'tasks' in value

/** Declared with each request, and in the 2026 era only: 2025's tasks were another thing. */
export const takesTasks = (context: ServerContext): boolean =>
  context.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[tasksExtension] !== undefined
