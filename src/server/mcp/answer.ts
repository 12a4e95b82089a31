import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import type { Approval } from '#approvals'
import { plainJson } from '#base/plain.ts'
import { McpResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Answer } from '#dispatch'
import { wireOf } from './wire.ts'

/** What a refusal, a failure and a CoworkError have in common. */
export type Fault = {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** What dispatch answered, in MCP's words. */
export function toResult(server: Server, tool: Tool | undefined, answer: Answer): CallToolResult {
  if (answer.status === 'done') return toDone(server, answer.tool, answer.output)
  if (answer.code === 'unknown_tool')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, answer.message)
  if (answer.code === 'rpc_error') throw toProtocolError(answer)
  return toFault(server, tool, answer)
}

function toDone(server: Server, tool: Tool, output: unknown): CallToolResult {
  if (output instanceof McpResult && !tool.speaksMcp)
    throw new Error(`${tool.name} answers in the words of MCP and does not say so`)
  const result = contentOf(tool, output)
  // A question to the client or a task is no tool's answer: nothing of it is rewritten.
  if ('resultType' in result || (output === undefined && !('structuredContent' in result)))
    return result
  return server.projectCallToolResult(result, wireOf(tool).outputSchema)
}

/** What a tool gave, as the 2026 era writes it. */
export function contentOf(tool: Tool | undefined, output: unknown): CallToolResult {
  if (output instanceof McpResult) return output.result as CallToolResult
  if (tool?.present) return tool.present(output) as CallToolResult
  const text = tool?.text?.(output) ?? plainJson(output) ?? 'done'
  const content = [{ type: 'text' as const, text }]
  return output === undefined ? { content } : { content, structuredContent: output }
}

/** What ran was not what was asked for, where a person changed it: the agent is told (B3). */
export function withEdit<R extends Readonly<Record<string, unknown>>>(
  result: R,
  { approved, decidedBy }: Pick<Approval, 'approved' | 'decidedBy'>,
): R {
  const { content } = result
  if (approved === undefined || !Array.isArray(content)) return result
  const text = `${decidedBy ?? 'A person'} changed the arguments first. It ran with ${JSON.stringify(approved)}`
  return { ...result, content: [...(content as unknown[]), { type: 'text', text }] }
}

/**
 * A fault the model can read and mend. Clients of the older era check structuredContent against the output
 * schema even when it is an error (SDK 1.32 does), so for them the same object travels as text.
 */
export function toFault(server: Server, tool: Tool | undefined, fault: Fault): CallToolResult {
  const payload = payloadOf(fault)
  const strict = tool && wireOf(tool).outputSchema && !isModern(server)
  // Seed 001's clients read an AuthError from the text.
  const json = strict || fault.details?.['auth_error'] ? plainJson(payload) : undefined
  const text = json ?? proseOf(fault)
  return {
    isError: true,
    content: [{ type: 'text', text }],
    ...(!strict && { structuredContent: payload }),
  }
}

export const isModern = (server: Server) => (server.getNegotiatedProtocolVersion() ?? '') >= '2026'

/** A refusal where there is no tool's result to put it in. */
export function toProtocolError(fault: Fault): ProtocolError {
  const { code, message, details = {} } = fault
  if (code !== 'rpc_error') return new ProtocolError(-32000, proseOf(fault), payloadOf(fault))
  const { rpc_code: rpcCode, rpc_data: data } = details
  return new ProtocolError(typeof rpcCode === 'number' ? rpcCode : -32603, message, data)
}

export const proseOf = ({ message, hint }: Fault): string =>
  hint === undefined ? message : `${message} ${hint}`

export const payloadOf = ({ code, message, hint, details }: Fault): Record<string, unknown> => ({
  // Named first so that they are read first; named last so that no detail hides them.
  ...Object.assign({ code, message, hint }, details),
  code,
  message,
})
