import { RE2JS } from 're2js'
import { CoworkError, errorMessage } from '#base/errors.ts'

export const redactionMark = '[redacted]'

/**
 * Patterns of secrets. They run on untrusted text in JavaScript's backtracking engine, so each starts with a fixed word
 * and takes a bounded number of steps.
 */
const secretNamePattern =
  /(?:^|_)(?:token|passwords?|passwd|passphrase|pwd|secrets?|authorization|cookies?|credentials?|bearer|(?:api|auth|access|secret|private|signing|encryption|service|master|ssh)_?keys?)$/
const tokens =
  /(?:sk|ps|pk)-cowork-[0-9a-f]{48}|(?<=#(?:code|invite)=)[\w-]{43}|(?<![A-Za-z0-9])sk-[\w-]{16,}|[rs]k_(?:live|test)_\w{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|npm_[A-Za-z0-9]{36}|xox[a-z]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{35}/g
const jwtCandidate = /eyJ[\w.-]{16,}/g
const privateKey =
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g
const bearer = /\b(bearer[ \t]+)[\w.~+/=-]{6,}/gi
const header = /\b((?:authorization|cookie|x-api-key)[ \t]*:[ \t]*)[^\s"'][^\r\n"']*/gi
const userinfo = /(:\/\/[^\s/:@?#"<>]*:)[^\s/?#"<>]+@/g
const assignment = /(?<![\w-])([\w-]+)["']?[ \t]*[=:][ \t]*/g
const assignedValue = /"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S])*'?|[^\s"'&;,<>[\]{}]+/y

// Most strings contain none of these: one test instead of eight. Prefixes that end in a dash or an underscore are matched
// from that character, which few strings contain; `cowork_` must not match `rk_live_`.
const suspicious =
  /[=:]|[-_](?<=(?<![a-z0-9])sk-|[sp][ks]-cowork-|[rs]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|npm_|-----)|xox|A[KS]IA|AIza|eyJ|bearer/i

/** Caches names, which repeat: hostile text contains 100,000 of them, 45 ms instead of 12 for 240 KB of `a=` (RS4). */
const checkedNames = new Map<string, boolean>()
const maxCheckedNames = 4096

/** Returns whether a field of this name contains a secret: `agent_token`, `x-api-key`, `clientSecret`; not `max_tokens`. */
export function isSecretName(name: string): boolean {
  const known = checkedNames.get(name)
  if (known !== undefined) return known
  const isSecret = looksSecret(name)
  if (name.length <= 64) {
    if (checkedNames.size >= maxCheckedNames) checkedNames.clear()
    checkedNames.set(name, isSecret)
  }
  return isSecret
}

function looksSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]/g, '_')
  return secretNamePattern.test(words.toLowerCase())
}

/** Redacts values assigned to secret names in text: `password=x`, `"token": "x"`, `secret: x`. */
function redactAssignments(text: string): string {
  let kept = ''
  let done = 0
  assignment.lastIndex = 0
  for (let found = assignment.exec(text); found; found = assignment.exec(text)) {
    assignedValue.lastIndex = assignment.lastIndex
    if (!isSecretName(found[1] ?? '') || !assignedValue.test(text)) continue
    kept += text.slice(done, assignment.lastIndex) + redactionMark
    done = assignedValue.lastIndex
    assignment.lastIndex = done
  }
  return kept + text.slice(done)
}

type Rule = (text: string) => string

const builtInRules: Rule[] = [
  (text) => text.replace(privateKey, redactionMark),
  (text) => text.replace(tokens, redactionMark),
  (text) => text.replace(jwtCandidate, (run) => (run.split('.').length > 2 ? redactionMark : run)),
  (text) => text.replace(bearer, `$1${redactionMark}`),
  (text) => text.replace(header, `$1${redactionMark}`),
  (text) => text.replace(userinfo, `$1${redactionMark}@`),
  redactAssignments,
]

/** Shorter values would match by chance. */
const minSecretLength = 6
const maxPasses = 4
/** A text with more secrets is redacted completely: each rule scans every part between two marks (RS4). */
const maxMarks = 256

export type SecretSettings = {
  /** Values to redact in any context. */
  readonly secrets: readonly string[]
  /** Patterns of the owner, in RE2 syntax: they run in linear time. */
  readonly patterns: readonly string[]
  /**
   * Masks only values that look like secrets, not values with a secret name: in a result, `nextPageToken` must reach
   * the agent.
   */
  readonly ignoresNames?: boolean
}

/** Creates a function that replaces every secret in a text by `[redacted]`. */
export function createScrubber({ secrets, patterns, ignoresNames = false }: SecretSettings) {
  const shapes = ignoresNames
    ? builtInRules.filter((rule) => rule !== redactAssignments)
    : builtInRules
  const known = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), percentEncode(secret)])
  const values = [...new Set(known)].sort((a, b) => b.length - a.length)
  const compiled = patterns.map(compile)
  const rules: Rule[] = [
    ...values.map(
      (value): Rule =>
        (text) =>
          text.includes(value) ? text.replaceAll(value, redactionMark) : text,
    ),
    (text) => (suspicious.test(text) ? applyRules(shapes, text) : text),
    ...compiled.map(
      (pattern): Rule =>
        (text) =>
          pattern.matcher(text).replaceAll(redactionMark),
    ),
  ]

  /** A fast check that skips all rules for most texts. */
  const isClean = (text: string) =>
    compiled.length === 0 &&
    !suspicious.test(text) &&
    values.every((value) => !text.includes(value))

  /**
   * Repeats until nothing changes: a replacement can expose the next secret, and redacting twice must change nothing. A
   * text that keeps changing is redacted completely.
   */
  function scrub(text: string): string {
    let current = text.isWellFormed() ? text : text.toWellFormed()
    if (isClean(current)) return current
    for (let pass = 0; pass < maxPasses; pass++) {
      const next = applyRules(rules, current)
      if (next === current) return next
      current = next.toWellFormed()
    }
    return redactionMark
  }

  const canMatchNumbers = compiled.length > 0 || values.some((value) => /^[\d.e+-]+$/i.test(value))
  return { scrub, canMatchNumbers }
}

/** Applies a rule outside of marks only: `\w+` would otherwise match inside of a mark. */
const applyOutsideMarks = (text: string, rule: Rule): string =>
  text.includes(redactionMark)
    ? text.split(redactionMark).map(rule).join(redactionMark)
    : rule(text)

function applyRules(rules: readonly Rule[], text: string): string {
  let current = text
  for (const rule of rules) {
    const next = applyOutsideMarks(current, rule)
    if (next !== current && hasManyMarks(next)) return redactionMark
    current = next
  }
  return current
}

function hasManyMarks(text: string): boolean {
  let count = 0
  for (
    let at = text.indexOf(redactionMark);
    at !== -1;
    at = text.indexOf(redactionMark, at + redactionMark.length)
  )
    if (++count > maxMarks) return true
  return false
}

const percentEncode = (secret: string) => encodeURIComponent(secret.toWellFormed())

function compile(pattern: string): RE2JS {
  const patternError = (why: string) =>
    new CoworkError(
      'redaction_pattern_invalid',
      `Invalid redaction pattern: ${JSON.stringify(pattern)} ${why}.`,
      {
        hint: 'Use RE2 syntax, without lookaround and backreferences.',
      },
    )
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern)
  } catch (error) {
    throw patternError(`cannot be compiled: ${errorMessage(error)}`)
  }
  if (compiled.matcher('').find()) throw patternError('matches the empty text')
  return compiled
}
