import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { isCallable, isSelected } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'
import { callerArguments } from './arguments.ts'
import { hasScope } from './checks.ts'

/**
 * The listing variants: for a caller with a token, for a caller without a required token, or with
 * authentication off.
 */
export type ListedFor = 'known' | 'unknown' | 'open'

type Schema = { readonly [keyword: string]: unknown }
type Listing = { readonly name: string; readonly description: string; readonly inputSchema: Schema }

/** Part of every selection, so a pending result and every hint can be followed (SV18). */
const companions = ['cowork_check_approval', 'cowork_find_tools', 'cowork_use']

/** With authentication off, agents also see the tools of people that everyone may use (A3). */
const isForAgents = ({ by, allowsUnverified }: Tool, isOpen: boolean): boolean =>
  by !== 'human' || (isOpen && allowsUnverified === true)

/** True if tools/list shows this tool (SV17, SV18). */
export function isListed(
  tool: Tool,
  { selection = {}, isOpen }: { readonly selection?: ToolSelection | undefined; isOpen: boolean },
): boolean {
  const isCompanion = companions.includes(tool.name) && isCallable(selection, tool)
  return isForAgents(tool, isOpen) && (isCompanion || isSelected(selection, tool))
}

/** True if this agent can call the tool, listed or not. */
export const isUsable = (tool: Tool, caller: Caller, isOpen: boolean): boolean =>
  isForAgents(tool, isOpen) && hasScope(caller, tool) && isCallable(caller.selection ?? {}, tool)

const listings = new WeakMap<Tool, Partial<Record<ListedFor, Listing>>>()

/**
 * Returns the shortest schema with which a model can call the tool (SV17). Omitted constraints are
 * still enforced.
 */
export function toListing(tool: Tool, listedFor: ListedFor = 'known'): Listing {
  const known = listings.get(tool) ?? {}
  listings.set(tool, known)
  return (known[listedFor] ??= {
    name: tool.name,
    description: tool.description,
    inputSchema:
      (tool.listing?.['inputSchema'] as Schema | undefined) ?? toInputSchema(tool, listedFor),
  })
}

function toInputSchema(tool: Tool, listedFor: ListedFor): Schema {
  const { properties = {}, required = [] } = z.toJSONSchema(tool.input, { io: 'input' }) as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
  }
  const shown = Object.entries(properties).filter(
    ([name]) => !callerArguments.has(name) || listedFor === 'open',
  )
  const token = listedFor === 'unknown' ? { agent_token: { type: 'string' } } : {}
  const requiredNames = [...required, ...Object.keys(token)]
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(shown.map(([name, schema]) => [name, leanSchema(schema)])),
      ...token,
    },
    ...(requiredNames.length > 0 && { required: requiredNames }),
  }
}

const keptKeywords = ['type', 'description', 'enum', 'const', 'default', 'x-mcp-header']

/**
 * Keeps types, names, descriptions and choices. A structure of several levels becomes a plain
 * object.
 */
function leanSchema(schema: Schema, depth = 1): Schema {
  const { description, properties, items, required } = schema
  const descriptionField = typeof description === 'string' ? { description } : {}
  const union = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(union)) return { ...leanUnion(union as Schema[], depth), ...descriptionField }
  const lean = Object.fromEntries(
    Object.entries(schema).filter(
      ([keyword, value]) => keptKeywords.includes(keyword) && !isEmptyValue(value),
    ),
  )
  if (isSchema(items) && !isEmptySchema(items)) return { ...lean, items: leanSchema(items, depth) }
  if (!isSchema(properties) || depth > 1 || hasStructure(properties)) return lean
  const inner = Object.entries(properties).map(([name, sub]) => [name, leanSchema(sub, depth + 1)])
  return {
    ...lean,
    properties: Object.fromEntries(inner) as Schema,
    ...(Array.isArray(required) && { required }),
  }
}

/** Merges union members that differ only in their type. */
function leanUnion(union: readonly Schema[], depth: number): Schema {
  const parts = union.map((part) => leanSchema(part, depth))
  const types = parts.map(({ type }) => type).filter((type) => typeof type === 'string')
  if (types.length < parts.length) return { anyOf: parts }
  const choices = parts.flatMap(({ type, enum: list }) =>
    type === 'null' ? [null] : Array.isArray(list) ? (list as unknown[]) : [],
  )
  const hasChoices = parts.some(({ enum: list }) => Array.isArray(list))
  const rest = parts.filter(({ type }) => type !== 'null')
  if (
    rest.length > 1 &&
    rest.some((part) => Object.keys(part).length > 1 && part['type'] !== 'array')
  )
    return { anyOf: parts }
  return {
    ...rest[0],
    // Some clients use only the first type.
    type: types.toSorted((a, b) => Number(b === 'object') - Number(a === 'object')),
    ...(hasChoices && { enum: choices }),
  }
}

const isSchema = (value: unknown): value is Record<string, Schema> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmptySchema = (schema: object) => Object.keys(schema).length === 0

const hasStructure = (properties: Readonly<Record<string, Schema>>): boolean =>
  Object.values(properties).some(
    ({ type, additionalProperties }) =>
      type === 'object' && additionalProperties !== undefined && additionalProperties !== false,
  )

/** True for a default that carries no information: off, empty, none. */
const isEmptyValue = (value: unknown): boolean =>
  value === false ||
  value === 0 ||
  value === '' ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
