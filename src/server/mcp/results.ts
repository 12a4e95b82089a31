import { ProtocolError } from '@modelcontextprotocol/server'
import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { McpResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { CallResult } from '#dispatch'
import type { Problem } from '../guards.ts'
import { withEarlier } from './earlier-run.ts'

/** Converts an answer of dispatch to a tool result. `structured` clients get the full output of every tool (SV19). */
export function toResult(server: Server, answer: CallResult, structured: boolean): CallToolResult {
  if (answer.status === 'done')
    return withEarlier(toDone(server, answer, structured), answer.earlier)
  if (answer.code === 'rpc_error') throw toProtocolError(answer)
  return toErrorResult(answer)
}

type Done = Extract<CallResult, { status: 'done' }>

function toDone(server: Server, { tool, output, notes }: Done, structured: boolean) {
  if (output instanceof McpResult && !tool.speaksMcp)
    throw new Error(`${tool.name} answers in the words of MCP and does not say so`)
  const content = toContent(tool, output, structured)
  // A question to the client or a task is no tool's answer: nothing of it is rewritten.
  if ('resultType' in content) return content
  const result = withNotes(content, notes)
  if (!('structuredContent' in result)) return result
  // Clients of 2025-11-25 accept only objects there: the SDK wraps anything else.
  return server.projectCallToolResult(result, tool.listing?.['outputSchema'] as JsonSchema)
}

/** Adds the differences from the request to both halves (SV27). */
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
 * The result of a tool. Some clients show their model the content, others structuredContent alone: either half says
 * everything, or the text is sent alone (SV19).
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

/** An error that the model can read and correct, complete in both halves (SV19). */
export const toErrorResult = (fault: Problem): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: textOf(fault) }],
  structuredContent: toErrorPayload(fault),
})

export const isCurrentProtocol = (server: Server) =>
  (server.getNegotiatedProtocolVersion() ?? '') >= '2026'

/** A refusal where there is no tool's result to put it in. */
export function toProtocolError(fault: Problem): ProtocolError {
  const { code, message, details = {} } = fault
  if (code !== 'rpc_error')
    return new ProtocolError(-32000, formatError(fault), toErrorPayload(fault))
  const { rpc_code: rpcCode, rpc_data: data } = details
  return new ProtocolError(typeof rpcCode === 'number' ? rpcCode : -32603, message, data)
}

export const formatError = ({ message, hint }: Problem): string =>
  hint === undefined ? message : `${message} ${hint}`

/** Marks of the seeds for programs; they tell a model nothing that the prose does not. */
const marks = new Set(['code', 'message', 'hint', 'error', 'auth_error', 'error_type'])

/** Prose, then every detail that it does not mention. */
function textOf(fault: Problem): string {
  const prose = formatError(fault)
  const details = Object.entries(fault.details ?? {})
    .filter(([name, value]) => !marks.has(name) && !isMentioned(prose, value))
    .map(
      ([name, value]) =>
        `${name}: ${typeof value === 'string' ? sanitizeText(value) : toSafeJson(value)}`,
    )
  const text = [prose, ...details].join('\n')
  // Gemini CLI takes a text that parses as JSON for structured content.
  return isJson(text) ? `Error: ${text}` : text
}

function isMentioned(prose: string, value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'object') return Object.values(value).every((one) => isMentioned(prose, one))
  const text = typeof value === 'string' ? sanitizeText(value) : toSafeJson(value)
  // Short values would be found inside of others.
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
  // Named first so that they are read first; named last so that no detail hides them.
  ...Object.assign({ code, message, hint }, details),
  code,
  message,
})
