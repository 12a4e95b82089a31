import * as z from 'zod'
import { findClosestWord } from '#base/config/suggest.ts'
import { clamp, unwrap } from '#base/soft-limit.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Tool } from '#base/tool.ts'
import type { Refusal } from '#base/call-check.ts'
import { formatExample } from './example.ts'

/**
 * Arguments that identify the caller and are allowed in every call; only tools that declare them
 * receive them.
 */
export const callerArguments = new Set([
  '_meta',
  '_cowork_metadata',
  'agent',
  'agent_id',
  'agent_token',
])

type Arguments = Readonly<Record<string, unknown>>
type ArgumentTarget = Pick<Tool, 'name' | 'input' | 'aliases' | 'example'>

/** The parsed input with a note for each changed argument, or the refusal (SV27). */
type ParsedArguments =
  | { readonly input: Record<string, unknown>; readonly notes: readonly string[] }
  | { readonly refusal: Refusal }

export function parseArguments(tool: ArgumentTarget, given: unknown = {}): ParsedArguments {
  const { args, notes } = isObject(given) ? readArguments(tool, given) : { args: given, notes: [] }
  const parsed = strictSchema(tool.input).safeParse(args)
  return parsed.success
    ? { input: parsed.data, notes }
    : { refusal: invalidInput(tool, args, parsed.error) }
}

/** Maps aliases to the tool's argument names, clamps values and drops unused caller arguments. */
function readArguments({ input, aliases = {} }: ArgumentTarget, given: Arguments) {
  const { shape, def } = input
  const isLoose = def.catchall !== undefined && !(def.catchall instanceof z.ZodNever)
  const notes: string[] = []
  // Without a prototype, so `__proto__` is an ordinary name.
  const args = Object.create(null) as Record<string, unknown>
  for (const [key, value] of Object.entries(given)) {
    const alias = key in shape ? undefined : aliases[key]
    const name = alias === undefined || alias in given ? key : alias
    const schema = shape[name]
    if (!schema && !isLoose && callerArguments.has(name)) continue
    const clamped = schema && clamp(schema, value)
    if (clamped !== undefined)
      notes.push(`${name} ${String(value)} is out of range: used ${clamped}.`)
    args[name] = clamped ?? value
  }
  return { args, notes }
}

const strictSchemas = new WeakMap<z.ZodObject, z.ZodObject>()

/** Makes a schema refuse unknown arguments, unless it declares a catchall. */
function strictSchema(schema: z.ZodObject): z.ZodObject {
  if (schema.def.catchall) return schema
  const strict = strictSchemas.get(schema) ?? schema.strict()
  strictSchemas.set(schema, strict)
  return strict
}

/** Describes each invalid argument in a sentence and adds a valid example call. */
function invalidInput(tool: ArgumentTarget, given: unknown, { issues }: z.ZodError): Refusal {
  const missing = issues.filter(({ path }) => path.length > 0 && isMissing(given, path))
  const sentences = [
    ...(missing.length > 0 ? [` needs ${missing.map(formatPath).join(', ')}`] : []),
    ...issues.flatMap((issue) => {
      if (missing.includes(issue)) return []
      if (issue.code !== 'unrecognized_keys') return [`: ${formatIssue(issue)}`]
      const inside = issue.path.length === 0 ? '' : `: ${formatPath(issue)}`
      return unknownNames(issue.keys, listNamesAt(tool.input, issue.path)).map(
        (one) => inside + one,
      )
    }),
  ]
  const [first = '', ...rest] = sentences.map(withFullStop)
  const others = rest.map((one) => (one.startsWith(':') ? one.slice(2) : `It${one}`))
  const wrong = new Set(issues.map(({ path: [name] }) => name))
  return {
    code: 'invalid_input',
    message: [tool.name + first, ...others].join(' '),
    hint: `Call it like this: ${formatExample(tool, isObject(given) ? given : {}, wrong)}`,
  }
}

type Issue = z.core.$ZodIssue

const isObject = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isMissing(given: unknown, path: readonly PropertyKey[]): boolean {
  let at = given
  for (const key of path) at = (at as Record<PropertyKey, unknown> | undefined)?.[key]
  return at === undefined
}

const formatPath = ({ path }: Issue) => path.join('.')

const formatIssue = (issue: Issue) =>
  issue.path.length > 0 ? `${formatPath(issue)}: ${issue.message}` : issue.message

/** Lists the valid names of a nested object. */
function listNamesAt(schema: z.core.$ZodType, [key, ...rest]: readonly PropertyKey[]): string[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodArray) return listNamesAt(inner.element, rest)
  if (inner instanceof z.ZodRecord) return listNamesAt(inner.valueType, rest)
  if (!(inner instanceof z.ZodObject)) return []
  const next = key === undefined ? undefined : inner.shape[String(key)]
  if (next) return listNamesAt(next, rest)
  return Object.keys(inner.shape).filter((name) => !callerArguments.has(name))
}

/** Describes unknown names: with similar names, or with all valid names if none is similar. */
function unknownNames(keys: readonly string[], known: readonly string[]): readonly string[] {
  const found = keys.map((key) => ({
    key: sanitizeText(key, 100),
    near: findSimilarNames(key, known),
  }))
  const far = found.filter(({ near }) => near.length === 0).map(({ key }) => key)
  const accepted = known.length > 0 ? `: it takes ${known.join(', ')}` : ''
  return [
    ...(far.length > 0 ? [` has no ${far.join(', ')}${accepted}`] : []),
    ...found.flatMap(({ key, near }) =>
      near.length > 0 ? [` has no ${key}: ${near.join(' or ')}?`] : [],
    ),
  ]
}

/** Synonyms that other tools use. */
const synonyms = [
  ['description', 'details', 'notes', 'text', 'body', 'comment'],
  ['name', 'title', 'summary'],
  ['labels', 'tags', 'themes', 'theme'],
  ['file', 'filename', 'folder', 'directory', 'path', 'paths'],
  ['why', 'reason', 'reasoning'],
]

function findSimilarNames(key: string, known: readonly string[]): readonly string[] {
  const near = known.filter((name) => isNear(key.toLowerCase(), name))
  if (near.length > 0) return near
  const typo = findClosestWord(key, known)
  if (typo !== undefined) return [typo]
  const group = synonyms.find((words) => words.includes(key.toLowerCase())) ?? []
  return known.filter((name) => group.includes(name))
}

const minWordLength = 3
const commonPrefixLength = 4

function isNear(given: string, name: string): boolean {
  const words = name.split('_').filter(({ length }) => length >= minWordLength)
  return (
    words.some((word) => given.includes(word)) ||
    (given.length >= minWordLength && name.includes(given)) ||
    given.slice(0, commonPrefixLength) === name.slice(0, commonPrefixLength)
  )
}

const withFullStop = (text: string) => (/[.?]$/.test(text) ? text : `${text}.`)
