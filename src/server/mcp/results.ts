import { ProtocolError } from '@modelcontextprotocol/server'
import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { McpResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { CallResult } from '#dispatch'
import type { Problem } from '../guards.ts'
import { withEarlier } from './earlier-run.ts'

/**
 * Converts a call result to an MCP tool result. `structured` clients get the full output of every
 * tool (SV19).
 */
export function toResult(server: Server, answer: CallResult, structured: boolean): CallToolResult {
  if (answer.status === 'done')
    return withEarlier(toDone(server, answer, structured), answer.earlier)
  if (answer.code === 'rpc_error') throw toProtocolError(answer)
  return toErrorResult(answer)
}

type Done = Extract<CallResult, { status: 'done' }>

function toDone(server: Server, { tool, output, notes }: Done, structured: boolean) {
  if (output instanceof McpResult && !tool.speaksMcp)
    throw new Error(`${tool.name} returns an MCP result without declaring it`)
  const content = toContent(tool, output, structured)
  // A prompt to the client or a task is not a tool result and stays unchanged.
  if ('resultType' in content) return content
  const result = withNotes(content, notes)
  if (!('structuredContent' in result)) return result
  // Clients of 2025-11-25 accept only objects here; the SDK wraps other values.
  return server.projectCallToolResult(result, tool.listing?.['outputSchema'] as JsonSchema)
}

/** Adds notes on differences from the request to both halves (SV27). */
function withNotes(result: CallToolResult, notes: readonly string[] = []): CallToolResult {
  if (notes.length === 0) return result
  const { content, structuredContent } = result
  return {
    ...result,
    content: [...content, { type: 'text', text: notes.map((note) => `[${note}]`).join('\n') }],
    ...(isObject(structuredContent) && { structuredContent: { ...structuredContent, notes } }),
  }
}

/**
 * Builds a tool result. Some clients show models the content, others only structuredContent: so
 * both contain everything, or only text is sent (SV19).
 */
export function toContent(
  tool: Tool | undefined,
  output: unknown,
  structured = false,
): CallToolResult {
  if (output instanceof McpResult) return output.result as CallToolResult
  const sent = structured ? output : (tool?.lean?.(output) ?? output)
  const text = () => tool?.text?.(output) ?? toSafeJson(sent) ?? 'done'
  const content = (tool?.toMcpContent?.(output) ?? [
    { type: 'text', text: text() },
  ]) as CallToolResult['content']
  const isTextOnly = output === undefined || (tool?.textOnly === true && !structured)
  return isTextOnly ? { content } : { content, structuredContent: sent }
}

type JsonSchema = Parameters<Server['projectCallToolResult']>[1]

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Builds an error that the model can read and correct, complete in both halves (SV19). */
export const toErrorResult = (problem: Problem): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: toText(problem) }],
  structuredContent: toErrorPayload(problem),
})

export const isCurrentProtocol = (server: Server) =>
  (server.getNegotiatedProtocolVersion() ?? '') >= '2026'

/** Converts a refusal outside of a tool call. */
export function toProtocolError(problem: Problem): ProtocolError {
  const { code, message, details = {} } = problem
  if (code !== 'rpc_error')
    return new ProtocolError(-32000, formatError(problem), toErrorPayload(problem))
  const { rpc_code: rpcCode, rpc_data: data } = details
  return new ProtocolError(typeof rpcCode === 'number' ? rpcCode : -32603, message, data)
}

export const formatError = ({ message, hint }: Problem): string =>
  hint === undefined ? message : `${message} ${hint}`

/** Machine-readable fields of the source projects; they repeat the message. */
const hiddenDetails = new Set(['code', 'message', 'hint', 'error', 'auth_error', 'error_type'])

/** Formats the message and every detail that it does not contain. */
function toText(fault: Problem): string {
  const prose = formatError(fault)
  const details = Object.entries(fault.details ?? {})
    .filter(([name, value]) => !hiddenDetails.has(name) && !isMentioned(prose, value))
    .map(
      ([name, value]) =>
        `${name}: ${typeof value === 'string' ? sanitizeText(value) : toSafeJson(value)}`,
    )
  const text = [prose, ...details].join('\n')
  // Gemini CLI treats text that parses as JSON as structured content.
  return isJson(text) ? `Error: ${text}` : text
}

function isMentioned(prose: string, value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'object') return Object.values(value).every((one) => isMentioned(prose, one))
  const text = typeof value === 'string' ? sanitizeText(value) : toSafeJson(value)
  // Short values could match inside other values.
  return typeof value === 'string'
    ? prose.includes(text ?? '')
    : new RegExp(String.raw`(?<![\w.])${text}(?![\w.])`).test(prose)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export const toErrorPayload = ({
  code,
  message,
  hint,
  details,
}: Problem): Record<string, unknown> => ({
  // First, so models read them first; and last, so no detail overrides them.
  ...Object.assign({ code, message, hint }, details),
  code,
  message,
})
