import type * as z from 'zod'
import { configSchema } from './schema.ts'
import type { ConfigPath } from './schema-lookup.ts'
import { isSecret, listKeys } from './schema-lookup.ts'
import { findClosestWord } from './suggest.ts'

export type SchemaIssue = { path: ConfigPath; at: 'key' | 'value'; message: string }

/** Everything that is wrong with a configuration, in words: what was found and what was expected. */
export function findSchemaIssues(input: unknown): SchemaIssue[] {
  const result = configSchema.safeParse(input, { error: expectation })
  return result.success ? [] : result.error.issues.flatMap((issue) => explain(issue, [], input))
}

/** Keys of the seeds that are refused on purpose, with the reason a person needs. */
const refusedKeys = new Map([
  [
    'implicit_approval_seconds',
    'nothing is ever approved by time passing: an undecided proposal expires after approvals.ttl, which is a refusal. Remove this key',
  ],
])

type Issue = z.core.$ZodIssue

function explain(issue: Issue, above: ConfigPath, input: unknown): SchemaIssue[] {
  const path = [...above, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))]
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key))
  if (issue.code === 'invalid_union') {
    const branch = closestBranch(issue.errors)
    if (branch) return branch.flatMap((inner) => explain(inner, path, input))
  }
  if (issue.code === 'custom')
    return [{ path, at: 'value', message: `${formatConfigPath(path)} ${issue.message}` }]
  const value = valueAt(input, path)
  const found =
    isSecret(path) && typeof value === 'string' ? 'another text (not shown)' : shown(value)
  const expected = issue.message === '' ? 'another form' : issue.message
  const near =
    issue.code === 'invalid_value' && typeof value === 'string'
      ? findClosestWord(value, issue.values.map(String))
      : undefined
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return [
    {
      path,
      at: 'value',
      message: `${formatConfigPath(path)}: expected ${expected}, found ${found}${hint}`,
    },
  ]
}

function unknownKey(path: ConfigPath, key: string): SchemaIssue {
  const full = [...path, key]
  const reason = refusedKeys.get(key)
  const known = listKeys(path)
  const near = findClosestWord(key, known)
  const advice =
    near === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${near}?`
  const message =
    reason === undefined
      ? `${formatConfigPath(full)}: unknown key; ${advice}`
      : `${formatConfigPath(full)}: ${reason}`
  return { path: full, at: 'key', message }
}

/** A union such as `grants` fails in every branch; the one of the right type says what is really wrong. */
function closestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const fits = branches.filter(
    (issues) => !issues.some((it) => it.path.length === 0 && it.code.startsWith('invalid')),
  )
  return fits.toSorted((a, b) => a.length - b.length)[0]
}

const typeWords: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
}

/** What zod wanted, in words. Schemas with words of their own (kinds.ts) never come here. */
const expectation: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return typeWords[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_value') return oneOf(issue.values.map(String))
  if (issue.code === 'too_small')
    return `at least ${issue.minimum}${issue.origin === 'array' ? ' item' : ''}`
  if (issue.code === 'too_big') return `at most ${issue.maximum}`
  if (issue.code === 'invalid_union' && Array.isArray(issue.options))
    return oneOf(issue.options.map(String))
  return ''
}

const oneOf = (values: readonly string[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`

function valueAt(input: unknown, path: ConfigPath): unknown {
  let at = input
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping of keys'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

export const formatConfigPath = (path: ConfigPath): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? key : `${text}.${key}`
  }, '') || 'the file'
