import * as z from 'zod'
import { routeAnswers, toolResults } from './registry.ts'
import type { Shape, Shapes } from './shape.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema
type Definitions = Readonly<Record<string, JsonSchema>>

/** Converts the registry to plain data, for clients that cannot load zod. */
export const buildShapes = (): Shapes => ({
  tools: toShapes(toolResults),
  routes: toShapes(routeAnswers),
})

const toShapes = (schemas: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toShape(schema)]))

export function toShape(schema: z.ZodType): Shape {
  const json = z.toJSONSchema(schema)
  return fromJsonSchema(json, json.$defs ?? {})
}

function fromJsonSchema(schema: JsonSchema, defs: Definitions): Shape {
  const innerShape = (inner: JsonSchema | boolean | undefined): Shape =>
    typeof inner === 'object' ? fromJsonSchema(inner, defs) : 'any'
  const { $ref, anyOf, type, properties, required = [], additionalProperties } = schema
  if ($ref !== undefined) {
    const name = $ref.replace('#/$defs/', '')
    // Zod gives a recursive schema such as any JSON a generated name.
    return name.startsWith('__') ? 'any' : innerShape(defs[name])
  }
  if (anyOf) return { either: anyOf.map(innerShape) }
  if (schema.enum) return { is: schema.enum }
  if (schema.const !== undefined) return { is: [schema.const] }
  if (type === 'array') return { list: innerShape(schema.items as JsonSchema) }
  if (type === 'integer') return 'number'
  if (Array.isArray(type) || type === undefined) return 'any'
  if (type !== 'object') return type
  if (!properties) return { values: innerShape(additionalProperties) }
  const fields = Object.entries(properties).map(([name, field]) => [
    required.includes(name) ? name : `${name}?`,
    innerShape(field),
  ])
  return { fields: Object.fromEntries(fields) as Readonly<Record<string, Shape>> }
}
