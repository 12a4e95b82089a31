import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server'
import type { ClientCapabilities, Server, ServerContext } from '@modelcontextprotocol/server'
import type { Call } from '#base/tool.ts'

/** The MCP request behind a call, for the few tools that speak MCP themselves (the gateway's). */
export type McpContext = {
  readonly context: ServerContext
  /** The client can take a task instead of an answer (SV15). */
  readonly tasks: boolean
}

export const tasksExtension = 'io.modelcontextprotocol/tasks'

export const createMcpContext = (context: ServerContext): McpContext => ({
  context,
  tasks: supportsTasks(context),
})

export const getMcpContext = (call: Call): McpContext | undefined =>
  isExchange(call.mcpContext) ? call.mcpContext : undefined

const isExchange = (value: unknown): value is McpContext =>
  typeof value === 'object' && value !== null && 'context' in value && 'tasks' in value

/** What a client of the 2026 era says of itself with every request. */
type Envelope = {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name?: unknown; readonly version?: unknown }
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
}

const envelopeOf = ({ mcpReq }: ServerContext): Envelope => mcpReq.envelope ?? {}

export const getClientInfo = (context: ServerContext) => envelopeOf(context)[CLIENT_INFO_META_KEY]

/** With the call itself, else with the HTTP request that brought it. */
export function getTraceparent({ mcpReq, http }: ServerContext): string | undefined {
  const named = mcpReq._meta?.[TRACEPARENT_META_KEY]
  return typeof named === 'string' ? named : (http?.req?.headers.get('traceparent') ?? undefined)
}

/** The client can show a person an address (A5). */
export function supportsUrlElicitation(server: Server, context: ServerContext): boolean {
  const declared =
    envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  return declared?.elicitation?.url !== undefined
}

/** The 2025 era's tasks were another thing, so its clients take none. */
export const supportsTasks = (context: ServerContext): boolean =>
  envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[tasksExtension] !== undefined
