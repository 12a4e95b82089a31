import { toErrorPayload, formatError } from './results.ts'
import type { Problem } from '../guards.ts'

const extraHeaders: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'Bearer realm="cowork"' },
  405: { Allow: 'GET, POST, DELETE' },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '5' },
}

/** Standard JSON-RPC codes; all other codes are server-specific. */
const rpcCodes: Record<string, number> = {
  invalid_json: -32700,
  header_mismatch: -32020,
  unknown_session: -32001,
  internal: -32603,
}

/**
 * Builds a refusal before MCP: an HTTP status for the transport and a JSON-RPC error for the
 * client.
 */
export function errorResponse(problem: Problem, status: number, body?: unknown): Response {
  return Response.json(
    {
      jsonrpc: '2.0',
      id: getRequestId(body),
      error: {
        code: rpcCodes[problem.code] ?? -32000,
        message: formatError(problem),
        data: toErrorPayload(problem),
      },
    },
    { status, headers: extraHeaders[status] ?? {} },
  )
}

/** Returns the request id, or null if the message has no valid one. */
export function getRequestId(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null
}
