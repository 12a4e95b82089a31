import * as z from 'zod'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { Tool } from '#base/tool.ts'

const known = new WeakMap<Tool, string>()

/** Of a tool's input schema: an approval for a tool that changed since is void (A1). */
export function schemaHash(tool: Tool): string {
  const found = known.get(tool)
  if (found !== undefined) return found
  const schema = tool.listing?.['inputSchema'] ?? z.toJSONSchema(tool.input, { io: 'input' })
  const hash = sha256Hex(canonicalJson(schema))
  known.set(tool, hash)
  return hash
}
