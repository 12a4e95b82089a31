import * as z from 'zod'
import { errorMessage } from '#base/errors.ts'

type Json = Readonly<Record<string, unknown>>

/** Keywords that apply to one type only. Without `type` they would accept every value of another type. */
const typedKeywords = [
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
]
/** These keywords use JavaScript's regular expressions, which a text of a few dozen characters can hang (Y2). */
const patternKeywords = ['pattern', 'patternProperties']
const maxDepth = 32

/** Compiles a JSON Schema for an object. Throws for unsupported keywords. */
export function compileObjectSchema(schema: Json): z.ZodType {
  const objectSchema = { type: 'object', ...schema }
  check(objectSchema, 'it', 0)
  return z.fromJSONSchema(objectSchema as Parameters<typeof z.fromJSONSchema>[0])
}

/** Returns what is wrong with a schema, or undefined. */
export function validateSchema(schema: Json): string | undefined {
  try {
    compileObjectSchema(schema)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

function check(node: unknown, name: string, depth: number): void {
  if (depth > maxDepth) throw new Error(`${name} is nested more than ${maxDepth} levels deep`)
  if (Array.isArray(node)) {
    for (const [place, item] of node.entries()) check(item, `${name}[${place}]`, depth + 1)
    return
  }
  if (!isObject(node)) return
  const pattern = patternKeywords.find((key) => Object.hasOwn(node, key))
  if (pattern !== undefined)
    throw new Error(`${name} has a ${pattern}, which is not supported: use an enum`)
  const needsType = typedKeywords.find((key) => Object.hasOwn(node, key))
  if (needsType !== undefined && !Object.hasOwn(node, 'type'))
    throw new Error(`${name} has ${needsType} without a type: add the type`)
  for (const [key, inner] of Object.entries(node)) {
    // These keys are property names, not keywords of JSON Schema.
    if (key === 'properties' || key === '$defs' || key === 'definitions') {
      if (!isObject(inner)) throw new Error(`${name}.${key} is not a mapping`)
      for (const [property, value] of Object.entries(inner))
        check(value, `${name}.${property}`, depth + 1)
    } else if (key !== 'enum' && key !== 'const' && key !== 'default' && key !== 'examples')
      check(inner, `${name}.${key}`, depth + 1)
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
