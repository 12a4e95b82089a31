import * as z from 'zod'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { isRecord } from '#base/json.ts'
import type { Tool } from '#base/tool.ts'
import { splitWords } from '#base/words.ts'

const hashes = new WeakMap<Tool, string>()

/** Hashes the input schema of a tool: an approval is void when the schema changes (A1). */
export function schemaHash(tool: Tool): string {
  const found = hashes.get(tool)
  if (found !== undefined) return found
  const schema = tool.listing?.['inputSchema'] ?? z.toJSONSchema(tool.input, { io: 'input' })
  const hash = sha256Hex(canonicalJson(withoutTexts(schema)))
  hashes.set(tool, hash)
  return hash
}

/** Keywords that describe and do not restrict. */
const textKeywords = new Set(['description', 'title'])
/** Keywords whose members have their own names, such as a property called `description`. */
const namedKeywords = new Set<string>(
  splitWords('properties patternProperties dependentSchemas $defs definitions'),
)
const valueKeywords = new Set(['default', 'const', 'enum', 'examples'])

/** Removes the texts that only people and models read. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !textKeywords.has(keyword))
      .map(([keyword, value]) => {
        if (valueKeywords.has(keyword)) return [keyword, value]
        return [keyword, namedKeywords.has(keyword) ? eachWithoutTexts(value) : withoutTexts(value)]
      }),
  )
}

const eachWithoutTexts = (schemas: unknown): unknown =>
  isRecord(schemas)
    ? Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, withoutTexts(schema)]),
      )
    : schemas
