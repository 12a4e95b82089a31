import { ProtocolError } from '@modelcontextprotocol/server'
import type {
  CallToolRequest,
  CallToolResult,
  JSONRPCResponse,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server'
import { isModern } from './answer.ts'

type Deps = {
  /** The server of this connection, once there is one and no other. */
  server(): Server | undefined
  /** Of a tool that speaks MCP itself, which the SDK understands. */
  speaksMcp(tool: string): boolean
  call(server: Server, request: CallToolRequest, context: ServerContext): Promise<CallToolResult>
  send(answer: JSONRPCResponse): void
}

type Id = string | number
type PlainCall = CallToolRequest & { readonly id: Id }

/**
 * Calls of the older era over stdio, taken from the line as they are. The SDK looks at each message nine times
 * with its schemas, which takes as long as reading a small file. Only what is plainly a call, on a connection
 * that has said hello, comes this way; whatever is not is the SDK's, and so are its answers.
 */
export function createDirectCalls({ server, speaksMcp, call, send }: Deps) {
  const running = new Map<Id, AbortController>()

  async function answer(to: Server, request: PlainCall): Promise<void> {
    const { id } = request
    const life = new AbortController()
    running.set(id, life)
    try {
      const result = await call(to, request, contextOf(to, request, life.signal))
      // Who took its question back gets no answer.
      if (!life.signal.aborted) send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      if (!life.signal.aborted) send({ jsonrpc: '2.0', id, error: faultOf(error) })
    } finally {
      running.delete(id)
    }
  }

  return {
    /** False where it is not for here. */
    take(message: unknown): boolean {
      const taken = cancelledIn(message)
      if (taken) {
        const life = running.get(taken.id)
        life?.abort(taken.reason)
        return life !== undefined
      }
      if (!isPlainCall(message) || running.has(message.id)) return false
      const to = server()
      if (!to || !isGreeted(to) || speaksMcp(message.params.name)) return false
      void answer(to, message)
      return true
    },
    close(): void {
      for (const life of running.values()) life.abort(new Error('Connection closed'))
    },
  }
}

const isGreeted = (server: Server) =>
  server.getNegotiatedProtocolVersion() !== undefined && !isModern(server)

/** As the SDK makes it, as far as the older era has it. */
const contextOf = (server: Server, { id, method, params }: PlainCall, signal: AbortSignal) =>
  ({
    mcpReq: {
      id,
      method,
      _meta: params._meta,
      signal,
      requestState: () => undefined,
      notify: (notification: Parameters<Server['notification']>[0]) =>
        server.notification(notification, { relatedRequestId: id }),
    },
  }) as unknown as ServerContext

function faultOf(error: unknown) {
  const { code, message, data } =
    error instanceof ProtocolError
      ? error
      : {
          code: -32603,
          message: 'The request failed because of a fault in cowork.',
          data: undefined,
        }
  return { code, message, ...(data !== undefined && { data }) }
}

type Plain = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is Id =>
  typeof value === 'string' || Number.isSafeInteger(value)

const ofParams = new Set(['name', 'arguments', '_meta'])

/** Without any of what needs a closer look: other members, tasks, the envelope of the newer era. */
function isPlainCall(value: unknown): value is PlainCall {
  if (!isObject(value) || value['method'] !== 'tools/call' || value['jsonrpc'] !== '2.0')
    return false
  const { id, params } = value
  if (!isId(id) || !isObject(params) || Object.keys(value).length !== 4) return false
  const { name, arguments: given, _meta: meta } = params
  return (
    typeof name === 'string' &&
    (given === undefined || isObject(given)) &&
    (meta === undefined || isPlainMeta(meta)) &&
    Object.keys(params).every((key) => ofParams.has(key))
  )
}

function isPlainMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false
  const { progressToken } = meta
  return (
    (progressToken === undefined || isId(progressToken)) &&
    Object.keys(meta).every((key) => !key.startsWith('io.modelcontextprotocol/'))
  )
}

/** The request that a client takes back. */
export function cancelledIn(
  value: unknown,
): { readonly id: Id; readonly reason: unknown } | undefined {
  if (!isObject(value) || value['method'] !== 'notifications/cancelled') return undefined
  const params = isObject(value['params']) ? value['params'] : {}
  const { requestId, reason } = params
  return isId(requestId) ? { id: requestId, reason } : undefined
}
