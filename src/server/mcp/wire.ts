import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ListToolsResult, Tool as WireTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import { toListing } from '#dispatch'
import type { ListedFor } from '#dispatch'
import { annotationsOf } from './annotations.ts'

const pageSize = 100

/** The form is made once for each tool: zod to JSON Schema costs far more than answering a call. */
const forms = new WeakMap<Tool, WireTool>()

/** The whole contract of a tool, for documents and the API. */
export function toWireTool(tool: Tool): WireTool {
  const known = forms.get(tool)
  if (known) return known
  const form = toWire(tool)
  forms.set(tool, form)
  return form
}

function toWire(tool: Tool): WireTool {
  const outputSchema = toJsonSchema(tool.output, 'output')
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: { ...toJsonSchema(tool.input, 'input'), type: 'object' },
    // `z.unknown()` says nothing: such a tool promises no structured answer.
    ...(Object.keys(outputSchema).length > 0 && { outputSchema }),
    annotations: annotationsOf(tool),
    ...tool.listing,
  }
}

/**
 * 2020-12 is what MCP assumes, so `$schema` is left out: it would cost 60 bytes of context a schema. Neither
 * is an answer closed to new fields, which would break clients that still hold the list of yesterday.
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

/** Says of a tool what a model needs to choose and call it, and no more (SV17). */
function listedTool(tool: Tool, listedFor: ListedFor): WireTool {
  const { inputSchema, ...listing } = toListing(tool, listedFor)
  return {
    ...listing,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: annotationsOf(tool),
    ...tool.listing,
  }
}

/** One page, in the order of names. The cursor names the last tool sent, so it outlives a changed list. */
export function paginateTools(
  tools: readonly Tool[],
  cursor: string | undefined,
  listedFor: ListedFor = 'known',
): ListToolsResult {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  const rest = after === undefined ? tools : tools.filter((tool) => tool.name > after)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    tools: page.map((tool) => listedTool(tool, listedFor)),
    ...(last && rest.length > page.length && { nextCursor: writeCursor(last.name) }),
  }
}

const writeCursor = (name: string) => Buffer.from(`after ${name}`).toString('base64url')

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith('after ') || writeCursor(text.slice(6)) !== cursor)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The cursor is not one this server gave. Call tools/list without a cursor to start again.',
    )
  return text.slice(6)
}
