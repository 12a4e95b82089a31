import type * as z from 'zod'
import { configSchema } from './schema.ts'
import type { ConfigPath } from './schema-lookup.ts'
import { isSecret, listKeys } from './schema-lookup.ts'
import { findClosestWord } from './suggest.ts'

export type SchemaIssue = { path: ConfigPath; at: 'key' | 'value'; message: string }

/** Finds every error in a configuration, with the expected and the actual value. */
export function findSchemaIssues(input: unknown): SchemaIssue[] {
  const result = configSchema.safeParse(input, { error: describeExpected })
  return result.success ? [] : result.error.issues.flatMap((issue) => explain(issue, [], input))
}

/** Keys of the source projects that are rejected on purpose, with the reason. */
const rejectedKeys = new Map([
  [
    'implicit_approval_seconds',
    'approval by timeout is not supported: an undecided proposal expires after approvals.ttl and is then rejected. Remove this key',
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
  const value = getValue(input, path)
  const found =
    isSecret(path) && typeof value === 'string' ? 'another string (not shown)' : formatValue(value)
  const expected = issue.message === '' ? 'another format' : issue.message
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
  const reason = rejectedKeys.get(key)
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

/** Returns the issues of the union branch with the right type: a union such as `grants` fails in every branch. */
function closestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const matching = branches.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && code.startsWith('invalid')),
  )
  return matching.toSorted((a, b) => a.length - b.length)[0]
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** Describes the value that zod expected. Not called for schemas with their own message (field-types.ts). */
const describeExpected: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return typeNames[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_value') return formatChoices(issue.values.map(String))
  if (issue.code === 'too_small')
    return `at least ${issue.minimum}${issue.origin === 'array' ? ' item' : ''}`
  if (issue.code === 'too_big') return `at most ${issue.maximum}`
  if (issue.code === 'invalid_union' && Array.isArray(issue.options))
    return formatChoices(issue.options.map(String))
  return ''
}

const formatChoices = (values: readonly string[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`

function getValue(input: unknown, path: ConfigPath): unknown {
  let at = input
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

export const formatConfigPath = (path: ConfigPath): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? key : `${text}.${key}`
  }, '') || 'the file'
