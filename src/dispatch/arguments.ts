import * as z from 'zod'
import { findClosestWord } from '#base/config/suggest.ts'
import { clamp, unwrap } from '#base/soft-limit.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Tool } from '#base/tool.ts'
import type { Refusal } from '#base/call-check.ts'
import { formatExample } from './example.ts'

/** Arguments that any call may bring to say who calls; a tool that does not read them never sees them. */
export const callerArguments = new Set([
  '_meta',
  '_cowork_metadata',
  'agent',
  'agent_id',
  'agent_token',
])

type Arguments = Readonly<Record<string, unknown>>
type Reading = Pick<Tool, 'name' | 'input' | 'aliases' | 'example'>

/** The parsed input, with a note for each argument that was changed; or what was wrong (SV27). */
type ParsedArguments =
  | { readonly input: Record<string, unknown>; readonly notes: readonly string[] }
  | { readonly refusal: Refusal }

export function parseArguments(tool: Reading, given: unknown = {}): ParsedArguments {
  const { args, notes } = isObject(given) ? readArguments(tool, given) : { args: given, notes: [] }
  const parsed = strictSchema(tool.input).safeParse(args)
  return parsed.success
    ? { input: parsed.data, notes }
    : { refusal: invalidInput(tool, args, parsed.error) }
}

/** The arguments under the names of the tool, in range, and without those that it does not read. */
function readArguments({ input, aliases = {} }: Reading, given: Arguments) {
  const { shape, def } = input
  const isLoose = def.catchall !== undefined && !(def.catchall instanceof z.ZodNever)
  const notes: string[] = []
  // Without a prototype, so that `__proto__` is a name like any other.
  const args = Object.create(null) as Record<string, unknown>
  for (const [key, value] of Object.entries(given)) {
    const alias = key in shape ? undefined : aliases[key]
    const name = alias === undefined || alias in given ? key : alias
    const schema = shape[name]
    if (!schema && !isLoose && callerArguments.has(name)) continue
    const clamped = schema && clamp(schema, value)
    if (clamped !== undefined)
      notes.push(`${name} ${String(value)} is out of range: ${clamped} was used.`)
    args[name] = clamped ?? value
  }
  return { args, notes }
}

const strictSchemas = new WeakMap<z.ZodObject, z.ZodObject>()

/** A schema that says nothing of other arguments refuses them; one that declares a catchall keeps it. */
function strictSchema(schema: z.ZodObject): z.ZodObject {
  if (schema.def.catchall) return schema
  const strict = strictSchemas.get(schema) ?? schema.strict()
  strictSchemas.set(schema, strict)
  return strict
}

/** Names each wrong argument in a sentence, and a valid call. */
function invalidInput(tool: Reading, given: unknown, { issues }: z.ZodError): Refusal {
  const missing = issues.filter(({ path }) => path.length > 0 && isMissing(given, path))
  const said = [
    ...(missing.length > 0 ? [` needs ${missing.map(pathOf).join(', ')}`] : []),
    ...issues.flatMap((issue) => {
      if (missing.includes(issue)) return []
      if (issue.code !== 'unrecognized_keys') return [`: ${messageOf(issue)}`]
      const inside = issue.path.length === 0 ? '' : `: ${pathOf(issue)}`
      return unknownNames(issue.keys, namesAt(tool.input, issue.path)).map((one) => inside + one)
    }),
  ]
  const [first = '', ...rest] = said.map(withFullStop)
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

const pathOf = ({ path }: Issue) => path.join('.')

const messageOf = (issue: Issue) =>
  issue.path.length > 0 ? `${pathOf(issue)}: ${issue.message}` : issue.message

/** The names that an object inside of the arguments takes. */
function namesAt(schema: z.core.$ZodType, [key, ...rest]: readonly PropertyKey[]): string[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodArray) return namesAt(inner.element, rest)
  if (inner instanceof z.ZodRecord) return namesAt(inner.valueType, rest)
  if (!(inner instanceof z.ZodObject)) return []
  const next = key === undefined ? undefined : inner.shape[String(key)]
  if (next) return namesAt(next, rest)
  return Object.keys(inner.shape).filter((name) => !callerArguments.has(name))
}

/** Each with the names that come near it; with all names those that are near to none. */
function unknownNames(keys: readonly string[], known: readonly string[]): readonly string[] {
  const found = keys.map((key) => ({ key: sanitizeText(key, 100), near: namesNear(key, known) }))
  const far = found.filter(({ near }) => near.length === 0).map(({ key }) => key)
  const takes = known.length > 0 ? `: it takes ${known.join(', ')}` : ''
  return [
    ...(far.length > 0 ? [` has no ${far.join(', ')}${takes}`] : []),
    ...found.flatMap(({ key, near }) =>
      near.length > 0 ? [` has no ${key}: ${near.join(' or ')}?`] : [],
    ),
  ]
}

/** Words that other tools use for the same thing. */
const synonyms = [
  ['description', 'details', 'notes', 'text', 'body', 'comment'],
  ['name', 'title', 'summary'],
  ['labels', 'tags', 'themes', 'theme'],
  ['file', 'filename', 'folder', 'directory', 'path', 'paths'],
  ['why', 'reason', 'reasoning'],
]

function namesNear(key: string, known: readonly string[]): readonly string[] {
  const near = known.filter((name) => isNear(key.toLowerCase(), name))
  if (near.length > 0) return near
  const typo = findClosestWord(key, known)
  if (typo !== undefined) return [typo]
  const alike = synonyms.find((words) => words.includes(key.toLowerCase())) ?? []
  return known.filter((name) => alike.includes(name))
}

const shortestWord = 3
const alikeLetters = 4

function isNear(given: string, name: string): boolean {
  const words = name.split('_').filter(({ length }) => length >= shortestWord)
  return (
    words.some((word) => given.includes(word)) ||
    (given.length >= shortestWord && name.includes(given)) ||
    given.slice(0, alikeLetters) === name.slice(0, alikeLetters)
  )
}

const withFullStop = (text: string) => (/[.?]$/.test(text) ? text : `${text}.`)
