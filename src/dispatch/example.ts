import * as z from 'zod'
import { toSafeJson } from '#base/sanitize.ts'
import type { Tool } from '#base/tool.ts'

type Arguments = Readonly<Record<string, unknown>>
type Described = Pick<Tool, 'name' | 'input' | 'example'>

const maxReusedLength = 200

/** A minimal valid call, for models, which cannot list tools. It keeps what was right of the call that failed. */
export function formatExample(
  tool: Described,
  given: Arguments = {},
  wrong: ReadonlySet<PropertyKey | undefined> = new Set(),
): string {
  const example = Object.entries(exampleOf(tool)).map(([name, value]) => {
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

/** Returns the tool's own example, else a value for each required argument. */
export function exampleOf({ input, example }: Described): Arguments {
  if (example) return example
  const known =
    examples.get(input) ?? (valueFor(z.toJSONSchema(input, { io: 'input' })) as Arguments)
  examples.set(input, known)
  return known
}

type Schema = z.core.JSONSchema._JSONSchema

function valueFor(schema: Schema | undefined): unknown {
  if (typeof schema !== 'object') return '…'
  const { enum: [first] = [], properties = {}, required = [], items, anyOf } = schema
  if (first !== undefined) return first
  if (anyOf) return valueFor(anyOf[0])
  const { type, minimum = 1, maximum } = schema
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, valueFor(properties[name])]))
  if (type === 'array') return Array.isArray(items) ? [] : [valueFor(items)]
  if (type === 'integer' || type === 'number') return maximum === 1 ? 0.9 : Math.max(minimum, 1)
  return type === 'boolean' ? true : '…'
}
