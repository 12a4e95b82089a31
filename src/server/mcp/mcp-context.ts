import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server'
import type { ClientCapabilities, Server, ServerContext } from '@modelcontextprotocol/server'
import type { Call } from '#base/tool.ts'

/** The MCP request of a call, for the few tools that use MCP themselves. */
export type McpContext = {
  readonly context: ServerContext
  /** True if the client accepts a task as the result (SV15). */
  readonly tasks: boolean
}

export const tasksExtension = 'io.modelcontextprotocol/tasks'

export const createMcpContext = (context: ServerContext): McpContext => ({
  context,
  tasks: supportsTasks(context),
})

export const getMcpContext = (call: Call): McpContext | undefined =>
  isMcpContext(call.mcpContext) ? call.mcpContext : undefined

const isMcpContext = (value: unknown): value is McpContext =>
  typeof value === 'object' && value !== null && 'context' in value && 'tasks' in value

/** The client data that every current request contains. */
type Envelope = {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name?: unknown; readonly version?: unknown }
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
}

const getEnvelope = ({ mcpReq }: ServerContext): Envelope => mcpReq.envelope ?? {}

export const getClientInfo = (context: ServerContext) => getEnvelope(context)[CLIENT_INFO_META_KEY]

/** Reads the trace context from the call, otherwise from its HTTP request. */
export function getTraceparent({ mcpReq, http }: ServerContext): string | undefined {
  const fromParams = mcpReq._meta?.[TRACEPARENT_META_KEY]
  return typeof fromParams === 'string'
    ? fromParams
    : (http?.req?.headers.get('traceparent') ?? undefined)
}

/** True if the client can show a URL to a person (A5). */
export function supportsUrlElicitation(server: Server, context: ServerContext): boolean {
  const declared =
    getEnvelope(context)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  return declared?.elicitation?.url !== undefined
}

/** Tasks of the 2025 protocol differ, so legacy clients do not support these. */
export const supportsTasks = (context: ServerContext): boolean =>
  getEnvelope(context)[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[tasksExtension] !== undefined
