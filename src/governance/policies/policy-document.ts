import { stringify } from 'yaml'
import { findSchemaIssues, formatConfigPath } from '#base/config/schema-issues.ts'
import { configSchema } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { parseYaml } from '#base/config/yaml.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { isRecord } from '#base/json.ts'

/** The content of a policy version: two sections in the form of cowork.yaml (Y6). */
export type PolicyDocument = Pick<Config, 'policies' | 'mappings'>

type Issue = { readonly path: string; readonly message: string }

/** In characters: the ledger entry contains the full document and holds at most 256 KiB. */
const maxDocumentLength = 200_000
/** Every pattern is compiled on load and matched against every field of every change. */
const maxPatterns = 500
const maxPatternLength = 1000

/** Parses a document from values or YAML and reports all issues at once. */
export function parsePolicyDocument(
  input: unknown,
  reasoningIds: readonly string[],
): PolicyDocument {
  const body = validatePolicyDocument(toValue(input), reasoningIds)
  checkPatterns(body)
  return body
}

/** Validates with the schema of cowork.yaml, so that the file and the store accept the same documents. */
export function validatePolicyDocument(
  input: unknown,
  reasoningIds: readonly string[],
): PolicyDocument {
  if (!isRecord(input))
    throw invalidPolicyError([{ path: '', message: 'expected policies and mappings' }])
  const { policies = [], mappings = [], ...rest } = input
  const unknown = Object.keys(rest).map((key) => ({
    path: key,
    message: `${key}: unknown key; expected one of policies, mappings`,
  }))
  // Only these two sections are validated; the rest of the file stays as it is.
  const config = {
    policies: policies ?? [],
    mappings: mappings ?? [],
    reasoning_schemas: reasoningIds.map((id) => ({ id })),
  }
  const issues = findSchemaIssues(config).map(({ path, message }) => ({
    path: formatConfigPath(path),
    message,
  }))
  const problems = [...unknown, ...issues]
  if (problems.length > 0) throw invalidPolicyError(problems)
  const { policies: read, mappings: readMappings } = configSchema.parse(config)
  return { policies: read, mappings: readMappings }
}

function toValue(input: unknown): unknown {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
  if (text.length > maxDocumentLength)
    throw invalidPolicyError([
      {
        path: '',
        message: `expected at most ${maxDocumentLength} characters; put a larger document into cowork.yaml`,
      },
    ])
  if (typeof input !== 'string') return input
  const { value, problems } = parseYaml(input)
  if (problems.length > 0)
    throw invalidPolicyError(
      problems.map(({ line, column, message }) => ({
        path: '',
        message: `line ${line}, column ${column}: ${message}`,
      })),
    )
  return value
}

function checkPatterns({ policies }: PolicyDocument): void {
  const patterns = policies.flatMap((policy, at) =>
    policy.rules.flatMap((rule, place) =>
      rule.constraint === 'regex'
        ? [{ path: `policies[${at}].rules[${place}].pattern`, pattern: rule.pattern }]
        : [],
    ),
  )
  const problems = patterns
    .filter(({ pattern }) => pattern.length > maxPatternLength)
    .map(({ path }) => ({
      path,
      message: `${path}: expected at most ${maxPatternLength} characters`,
    }))
  if (patterns.length > maxPatterns)
    problems.push({
      path: 'policies',
      message: `policies: expected at most ${maxPatterns} rules with a pattern`,
    })
  if (problems.length > 0) throw invalidPolicyError(problems)
}

const maxShown = 20

function invalidPolicyError(problems: readonly Issue[]): CoworkError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  const shown = problems.slice(0, maxShown).map(({ message }) => message)
  return new CoworkError('policy_invalid', [`Invalid policies: ${count}.`, ...shown].join('\n'), {
    hint: 'Correct the listed problems; nothing was saved.',
    details: { problems: problems.slice(0, 100) },
  })
}

/** Returns the full content hash; versions show the start of it. */
export const hashPolicyDocument = ({ policies, mappings }: PolicyDocument): string =>
  sha256Hex(canonicalJson({ policies, mappings }))

/** Formats a document as in cowork.yaml, without default values. */
export function formatPolicyYaml({ policies, mappings }: PolicyDocument): string {
  const brief = policies.map(({ rules, mode, description, ...policy }) => ({
    ...policy,
    ...(description !== '' && { description }),
    ...(mode !== 'enforce' && { mode }),
    rules: rules.map(({ approvers, ...rule }) => ({
      ...rule,
      ...(approvers !== 1 && { approvers }),
    })),
  }))
  return stringify({ policies: brief, mappings }, { lineWidth: 0, aliasDuplicateObjects: false })
}
