import { RE2JS } from 're2js'
import { CoworkError, errorMessage } from '#base/errors.ts'

export const redactionMark = '[redacted]'

/**
 * What secrets look like. These run on text from outside with JavaScript's backtracking engine, so each one
 * starts at a fixed word and gives up after a bounded number of steps; nothing is scanned twice.
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

// Most strings hold none of these: one look instead of eight. What ends in a dash or an underscore is looked up
// from there, since few strings have those, and our own `cowork_` must not look like `rk_live_`.
const suspicious =
  /[=:]|[-_](?<=(?<![a-z0-9])sk-|[sp][ks]-cowork-|[rs]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|npm_|-----)|xox|A[KS]IA|AIza|eyJ|bearer/i

/** Names repeat, and hostile text holds 100,000 of them: 45 ms instead of 12 for 240 KB of `a=` (RS4). */
const checkedNames = new Map<string, boolean>()
const maxCheckedNames = 4096

/** Whether a field of this name holds a secret: `agent_token`, `x-api-key`, `clientSecret`; not `max_tokens`. */
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

/** `password=x`, `"token": "x"`, `secret: x`: what a secret name is given, in a command, a query or JSON within text. */
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

/** Below this a known value would match by chance. */
const minSecretLength = 6
const maxPasses = 4
/** A text with more secrets is taken out whole: each rule looks at every part between two marks (RS4). */
const maxMarks = 256

export type SecretSettings = {
  /** Values that must never be written, whatever surrounds them. */
  readonly secrets: readonly string[]
  /** Patterns of the owner, in RE2 syntax: linear in the text whatever they say. */
  readonly patterns: readonly string[]
}

/** Gives a function that replaces every secret in a text by `[redacted]`, and tells whether digits can be one. */
export function createScrubber({ secrets, patterns }: SecretSettings) {
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
    (text) => (suspicious.test(text) ? applyRules(builtInRules, text) : text),
    ...compiled.map(
      (pattern): Rule =>
        (text) =>
          pattern.matcher(text).replaceAll(redactionMark),
    ),
  ]

  /** Most texts are, so no rule is asked about them. */
  const isClean = (text: string) =>
    compiled.length === 0 &&
    !suspicious.test(text) &&
    values.every((value) => !text.includes(value))

  /**
   * Repeats until nothing changes, because a replacement can uncover the edge of the next secret, and so
   * that redacting twice changes nothing. What does not settle is taken out whole.
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

/** A rule never sees a mark: `\w+` would otherwise redact the word redacted. */
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
      `The redaction pattern ${JSON.stringify(pattern)} ${why}.`,
      {
        hint: 'Use RE2 syntax, without lookaround and backreferences.',
      },
    )
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern)
  } catch (error) {
    throw patternError(`cannot be read: ${errorMessage(error)}`)
  }
  if (compiled.matcher('').find())
    throw patternError('matches the empty text, so it would match all')
  return compiled
}
