import { createHmac, randomBytes } from 'node:crypto'
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { secretsEqual } from '#base/hash.ts'
import { defineTool, McpResult, rpcError } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import { getMcpContext } from '../../src/server/mcp/mcp-context.ts'
import type { McpContext } from '../../src/server/mcp/mcp-context.ts'

export type Answer = Readonly<Record<string, unknown>> | McpResult
type Args = Readonly<Record<string, unknown>>
export type Run = (exchange: McpContext, args: Args, call: Call) => Answer | Promise<Answer>

/** A tool that answers in MCP's own words, as the gateway's will. */
export const rawTool = (name: string, run: Run, listing: Tool['listing'] = {}): Tool =>
  defineTool({
    name,
    title: name,
    description: `${name} of the conformance suite`,
    toolset: 'conformance',
    effect: 'read',
    by: 'anyone',
    input: z.looseObject({}),
    output: z.unknown(),
    speaksMcp: true,
    listing,
    async read(args, call) {
      const exchange = getMcpContext(call)
      if (!exchange) throw new Error('the suite calls over MCP')
      const answer = await run(exchange, args, call)
      return answer instanceof McpResult ? answer : new McpResult(answer)
    },
  })

export const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

export const ask = (inputRequests: Record<string, unknown>, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
})

type Schema = { readonly type: 'object'; readonly [keyword: string]: unknown }

export const elicit = (message: string, requestedSchema: Schema) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})

export const sample = (value: string) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: value } }], maxTokens: 100 },
})

export const listRoots = { method: 'roots/list', params: {} }

/** A form with one required field. */
export const oneField = (name: string, type = 'string'): Schema => ({
  type: 'object',
  properties: { [name]: { type } },
  required: [name],
})

export const getInputResponse = ({ context }: McpContext, key: string): unknown =>
  context.mcpReq.inputResponses?.[key]

/** Returns the form that the client accepted, if its content has the requested shape. */
export function parseForm<T extends z.ZodRawShape>(exchange: McpContext, key: string, shape: T) {
  const answer = z.object({ action: z.literal('accept'), content: z.object(shape) })
  const parsed = answer.safeParse(getInputResponse(exchange, key))
  return parsed.success ? parsed.data.content : undefined
}

export const getCapabilities = ({ context }: McpContext): ClientCapabilities => {
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } =
    context.mcpReq.envelope ?? {}
  return envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}
}

const key = randomBytes(32)
const sealOf = (body: string) => createHmac('sha256', key).update(body).digest('hex')

/** State that travels through the client and comes back as it left. */
export function sealState(state: unknown): string {
  const body = Buffer.from(JSON.stringify(state)).toString('base64url')
  return `${body}.${sealOf(body)}`
}

export function openState<T>({ context }: McpContext, schema: z.ZodType<T>): T | undefined {
  const raw = context.mcpReq.requestState()
  if (typeof raw !== 'string') return undefined
  const [body = '', seal = ''] = raw.split('.')
  if (!secretsEqual(seal, sealOf(body))) throw rpcError(-32602, 'The request state was changed.')
  return schema.parse(JSON.parse(Buffer.from(body, 'base64url').toString()))
}
