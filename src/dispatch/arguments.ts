import * as z from 'zod'
import { plainText } from '#base/plain.ts'
import type { Tool } from '#base/tool.ts'
import type { Refusal } from './checks.ts'

/** What any call may say of its caller, though no tool lists it. */
const ofCaller = new Set(['agent_id', 'agent', 'agent_token', '_meta'])

type Arguments = Readonly<Record<string, unknown>>

/** What the tool is to read. One that refuses what it does not know is not shown what every call may bring. */
export function argumentsFor(tool: Pick<Tool, 'input'>, given: unknown): unknown {
  const { shape, def } = tool.input
  if (!(def.catchall instanceof z.ZodNever) || !isObject(given)) return given ?? {}
  const isFor = (name: string) => name in shape || !ofCaller.has(name)
  return Object.fromEntries(Object.entries(given).filter(([name]) => isFor(name)))
}

/** What was wrong with the arguments, one sentence for each, so that the next call can be right. */
export function wrongArguments(
  { name, input }: Pick<Tool, 'name' | 'input'>,
  given: unknown,
  { issues }: z.ZodError,
): Refusal {
  const missing = issues.filter(({ path }) => path.length > 0 && isMissing(given, path))
  const said = [
    ...(missing.length > 0 ? [` needs ${missing.map(pathOf).join(', ')}`] : []),
    ...issues.flatMap((issue) => {
      if (missing.includes(issue)) return []
      if (issue.code !== 'unrecognized_keys') return [`: ${messageOf(issue)}`]
      return strangers(issue.keys, issue.path.length === 0 ? Object.keys(input.shape) : [])
    }),
  ]
  const [first = '', ...rest] = said.map(withFullStop)
  const others = rest.map((one) => (one.startsWith(':') ? one.slice(2) : `It${one}`))
  return {
    code: 'invalid_input',
    message: [name + first, ...others].join(' '),
    hint: `The input schema of ${name} in tools/list says what it takes.`,
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

/** Each with the names that come near it; with all names those that are near to none. */
function strangers(keys: readonly string[], known: readonly string[]): readonly string[] {
  const found = keys.map((key) => ({
    key: plainText(key, 100),
    near: known.filter((name) => isNear(key.toLowerCase(), name)),
  }))
  const far = found.filter(({ near }) => near.length === 0).map(({ key }) => key)
  const takes = known.length > 0 ? `: it takes ${known.join(', ')}` : ''
  return [
    ...(far.length > 0 ? [` has no ${far.join(', ')}${takes}`] : []),
    ...found.flatMap(({ key, near }) =>
      near.length > 0 ? [` has no ${key}: ${near.join(' or ')}?`] : [],
    ),
  ]
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
