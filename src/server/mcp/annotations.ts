import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Tool } from '#base/tool.ts'

/**
 * Hints for clients about what a tool may do. Without a hint MCP assumes a tool that destroys, is not idempotent and
 * reaches into the open world, so only what differs is said: every hint of every tool costs tokens. A tool that
 * writes and does not only add is destructive in the words of MCP, even where cowork keeps versions (RA13).
 */
export function annotationsOf(tool: Tool): ToolAnnotations {
  const isRead = tool.effect === 'read'
  return {
    ...(isRead && { readOnlyHint: true }),
    ...(!isRead && tool.additive && { destructiveHint: false }),
    ...(!isRead && tool.idempotent && { idempotentHint: true }),
    ...(!tool.openWorld && { openWorldHint: false }),
  }
}
