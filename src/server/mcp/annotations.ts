import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Tool } from '#base/tool.ts'

/**
 * Converts the effects of a tool to MCP hints. Without hints, MCP assumes a destructive,
 * non-idempotent tool with access to the open world, so only deviations are sent: every hint of
 * every tool costs tokens. In MCP terms, a tool that changes existing data is destructive even if
 * cowork keeps versions (RA13).
 */
export function toAnnotations(tool: Tool): ToolAnnotations {
  const isRead = tool.effect === 'read'
  return {
    ...(isRead && { readOnlyHint: true }),
    ...(!isRead && tool.additive && { destructiveHint: false }),
    ...(!isRead && tool.idempotent && { idempotentHint: true }),
    ...(!tool.openWorld && { openWorldHint: false }),
  }
}
