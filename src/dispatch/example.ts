import * as z from 'zod'
import { toSafeJson } from '#base/sanitize.ts'
import type { Tool } from '#base/tool.ts'

type Arguments = Readonly<Record<string, unknown>>
type ExampleTarget = Pick<Tool, 'name' | 'input' | 'example'>

const maxReusedLength = 200

/**
 * Formats a minimal valid call, for models that cannot list tools. Valid arguments of the failed
 * call are reused.
 */
export function formatExample(
  tool: ExampleTarget,
  given: Arguments = {},
  wrong: ReadonlySet<PropertyKey | undefined> = new Set(),
): string {
  const example = Object.entries(getExample(tool)).map(([name, value]) => {
    const own = given[name]
    const isReused = isShort(own) && !wrong.has(name)
    return [name, isReused ? own : value]
  })
  return `${tool.name} ${toSafeJson(Object.fromEntries(example))}`
}

const isShort = (value: unknown) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= maxReusedLength)

const examples = new WeakMap<object, Arguments>()

/** Returns the tool's own example, otherwise a value for each required argument. */
export function getExample({ input, example }: ExampleTarget): Arguments {
  if (example) return example
  const known =
    examples.get(input) ?? (exampleValue(z.toJSONSchema(input, { io: 'input' })) as Arguments)
  examples.set(input, known)
  return known
}

type Schema = z.core.JSONSchema._JSONSchema

function exampleValue(schema: Schema | undefined): unknown {
  if (typeof schema !== 'object') return '…'
  const { enum: [first] = [], properties = {}, required = [], items, anyOf } = schema
  if (first !== undefined) return first
  if (anyOf) return exampleValue(anyOf[0])
  const { type, minimum = 1, maximum } = schema
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, exampleValue(properties[name])]))
  if (type === 'array') return Array.isArray(items) ? [] : [exampleValue(items)]
  if (type === 'integer' || type === 'number') return maximum === 1 ? 0.9 : Math.max(minimum, 1)
  return type === 'boolean' ? true : '…'
}
