import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ListToolsResult, Tool as WireTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import { toListing } from '#dispatch'
import type { ListedFor } from '#dispatch'
import { toAnnotations } from './annotations.ts'

const pageSize = 100

/** Cached per tool: converting zod to JSON Schema costs far more than a call. */
const wireTools = new WeakMap<Tool, WireTool>()

/** Returns the complete contract of a tool, for documents and the API. */
export function toWireTool(tool: Tool): WireTool {
  const known = wireTools.get(tool)
  if (known) return known
  const wireTool = toWire(tool)
  wireTools.set(tool, wireTool)
  return wireTool
}

function toWire(tool: Tool): WireTool {
  const outputSchema = toJsonSchema(tool.output, 'output')
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: { ...toJsonSchema(tool.input, 'input'), type: 'object' },
    // `z.unknown()` describes nothing, so such a tool promises no structured result.
    ...(Object.keys(outputSchema).length > 0 && { outputSchema }),
    annotations: toAnnotations(tool),
    ...tool.listing,
  }
}

/**
 * Omits `$schema`, because MCP assumes 2020-12 and it would cost 60 bytes of context per schema.
 * Outputs accept new fields: otherwise clients with an older list would break.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override({ zodSchema, jsonSchema }) {
      if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall)
        delete jsonSchema.additionalProperties
    },
  })
  return rest
}

/** Returns only the data that a model needs to choose and call a tool (SV17). */
function toListedTool(tool: Tool, listedFor: ListedFor): WireTool {
  const { inputSchema, ...listing } = toListing(tool, listedFor)
  return {
    ...listing,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: toAnnotations(tool),
    ...tool.listing,
  }
}

/**
 * Returns one page in name order. The cursor contains the last tool sent, so it stays valid when
 * the list changes.
 */
export function paginateTools(
  tools: readonly Tool[],
  cursor: string | undefined,
  listedFor: ListedFor = 'known',
): ListToolsResult {
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  const rest = after === undefined ? tools : tools.filter((tool) => tool.name > after)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    tools: page.map((tool) => toListedTool(tool, listedFor)),
    ...(last && rest.length > page.length && { nextCursor: formatCursor(last.name) }),
  }
}

const formatCursor = (name: string) => Buffer.from(`after ${name}`).toString('base64url')

function parseCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith('after ') || formatCursor(text.slice(6)) !== cursor)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'Invalid cursor. Call tools/list without a cursor to start again.',
    )
  return text.slice(6)
}
