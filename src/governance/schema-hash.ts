import * as z from 'zod'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { isRecord } from '#base/json.ts'
import type { Tool } from '#base/tool.ts'
import { splitWords } from '#base/words.ts'

const known = new WeakMap<Tool, string>()

/** Hashes the input schema of a tool: an approval is void when the tool takes other input (A1). */
export function schemaHash(tool: Tool): string {
  const found = known.get(tool)
  if (found !== undefined) return found
  const schema = tool.listing?.['inputSchema'] ?? z.toJSONSchema(tool.input, { io: 'input' })
  const hash = sha256Hex(canonicalJson(withoutTexts(schema)))
  known.set(tool, hash)
  return hash
}

/** Keywords that describe and restrict nothing. */
const texts = new Set(['description', 'title'])
/** Keywords whose members have names of their own, such as a property called `description`. */
const named = new Set<string>(
  splitWords('properties patternProperties dependentSchemas $defs definitions'),
)
const values = new Set(['default', 'const', 'enum', 'examples'])

/** The schema without what only people and models read of it. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !texts.has(keyword))
      .map(([keyword, value]) => {
        if (values.has(keyword)) return [keyword, value]
        return [keyword, named.has(keyword) ? eachWithoutTexts(value) : withoutTexts(value)]
      }),
  )
}

const eachWithoutTexts = (schemas: unknown): unknown =>
  isRecord(schemas)
    ? Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, withoutTexts(schema)]),
      )
    : schemas
