import { stringify } from 'yaml'
import { findSchemaIssues, formatConfigPath } from '#base/config/schema-issues.ts'
import { configSchema } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { parseYaml } from '#base/config/yaml.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { isRecord } from '#base/json.ts'

/** What a version of the policies is: two sections of cowork.yaml, as they are written there (Y6). */
export type PolicyDocument = Pick<Config, 'policies' | 'mappings'>

type Problem = { readonly path: string; readonly message: string }

/** In characters: what a person saves is recorded whole, and an entry holds no more than 256 KiB. */
const largestBody = 200_000
/** Each is compiled when it is read, and asked of every field of every change. */
const mostPatterns = 500
const longestPattern = 1000

/** Reads what a person wrote, as values or as YAML. Refuses with every problem at once. */
export function parsePolicyDocument(
  given: unknown,
  reasoningIds: readonly string[],
): PolicyDocument {
  const body = validatePolicyDocument(valueOf(given), reasoningIds)
  checkPatterns(body)
  return body
}

/** By the words of cowork.yaml: what stands there may be stored, and what is stored stand there. */
export function validatePolicyDocument(
  written: unknown,
  reasoningIds: readonly string[],
): PolicyDocument {
  if (!isRecord(written)) throw invalid([{ path: '', message: 'expected policies and mappings' }])
  const { policies = [], mappings = [], ...rest } = written
  const unknown = Object.keys(rest).map((key) => ({
    path: key,
    message: `${key}: unknown key; expected one of policies, mappings`,
  }))
  // The rest of the file is as it is: only these two are judged, by the same words as there.
  const input = {
    policies: policies ?? [],
    mappings: mappings ?? [],
    reasoning_schemas: reasoningIds.map((id) => ({ id })),
  }
  const found = findSchemaIssues(input).map(({ path, message }) => ({
    path: formatConfigPath(path),
    message,
  }))
  const problems = [...unknown, ...found]
  if (problems.length > 0) throw invalid(problems)
  const { policies: read, mappings: readMappings } = configSchema.parse(input)
  return { policies: read, mappings: readMappings }
}

function valueOf(given: unknown): unknown {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  if (text.length > largestBody)
    throw invalid([
      {
        path: '',
        message: `expected at most ${largestBody} characters; what is larger belongs in cowork.yaml`,
      },
    ])
  if (typeof given !== 'string') return given
  const { value, problems } = parseYaml(given)
  if (problems.length > 0)
    throw invalid(
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
    .filter(({ pattern }) => pattern.length > longestPattern)
    .map(({ path }) => ({
      path,
      message: `${path}: expected at most ${longestPattern} characters`,
    }))
  if (patterns.length > mostPatterns)
    problems.push({
      path: 'policies',
      message: `policies: expected at most ${mostPatterns} rules with a pattern`,
    })
  if (problems.length > 0) throw invalid(problems)
}

const mostShown = 20

function invalid(problems: readonly Problem[]): CoworkError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  const shown = problems.slice(0, mostShown).map(({ message }) => message)
  return new CoworkError('policy_invalid', [`The policies have ${count}.`, ...shown].join('\n'), {
    hint: 'Correct what is named; nothing was saved.',
    details: { problems: problems.slice(0, 100) },
  })
}

/** The full digest of what it says; versions show the start of one. */
export const hashPolicyDocument = ({ policies, mappings }: PolicyDocument): string =>
  sha256Hex(canonicalJson({ policies, mappings }))

/** As a person would write it in cowork.yaml, with what is the default left out. */
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
