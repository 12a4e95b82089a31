import * as z from 'zod'
import { errorMessage } from '#base/errors.ts'

type Json = Readonly<Record<string, unknown>>

/** What only counts for one type is left unsaid without it, and then anything would do. */
const typed = [
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
/** They run in the engine of the language, which a text of a few dozen characters can hang (Y2). */
const patterns = ['pattern', 'patternProperties']
const deepest = 32

/** A JSON Schema about an object, ready to be asked. Throws where it says more than can be kept. */
export function compileObjectSchema(schema: Json): z.ZodType {
  const whole = { type: 'object', ...schema }
  check(whole, 'it', 0)
  return z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0])
}

/** What is wrong with it, or undefined. */
export function validateSchema(schema: Json): string | undefined {
  try {
    compileObjectSchema(schema)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

function check(node: unknown, name: string, depth: number): void {
  if (depth > deepest) throw new Error(`${name} is nested more than ${deepest} levels deep`)
  if (Array.isArray(node)) {
    for (const [place, item] of node.entries()) check(item, `${name}[${place}]`, depth + 1)
    return
  }
  if (!isObject(node)) return
  const pattern = patterns.find((key) => Object.hasOwn(node, key))
  if (pattern !== undefined)
    throw new Error(`${name} has a ${pattern}, which is not understood here: use an enum`)
  const needsType = typed.find((key) => Object.hasOwn(node, key))
  if (needsType !== undefined && !Object.hasOwn(node, 'type'))
    throw new Error(`${name} has ${needsType} and no type: say its type`)
  for (const [key, inner] of Object.entries(node)) {
    // Here keys are names of values, not words of JSON Schema.
    if (key === 'properties' || key === '$defs' || key === 'definitions') {
      if (!isObject(inner)) throw new Error(`${name}.${key} is no mapping of names`)
      for (const [property, value] of Object.entries(inner))
        check(value, `${name}.${property}`, depth + 1)
    } else if (key !== 'enum' && key !== 'const' && key !== 'default' && key !== 'examples')
      check(inner, `${name}.${key}`, depth + 1)
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
