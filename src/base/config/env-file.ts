import { readFileSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'

/** Reads the files of `--env-file`; a later file wins. Values may be references (I8). */
export function readEnvFiles(paths: readonly string[]): Record<string, string> {
  return Object.assign({}, ...paths.map((path) => parseEnvFile(path, readEnvFile(path))))
}

function readEnvFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CoworkError(
      'env_file_unreadable',
      `Cannot read the env file ${path}: ${errorMessage(cause)}.`,
      {
        hint: 'Check the path given with --env-file.',
        cause,
      },
    )
  }
}

const assignment = /^(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$/
const quoted = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)")[ \t]*(?:#.*)?$/
const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/**
 * Parses `NAME=value` and `export NAME=value`, with literal '…' and with "…" that may contain \n, \t, \" and \\. A `#`
 * starts a comment at the start of a line or after a space. Variables are not expanded. An error names only the number
 * of an invalid line: its content may be a secret.
 */
export function parseEnvFile(path: string, text: string): Record<string, string> {
  const values: [string, string][] = []
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, rest = ''] = assignment.exec(line) ?? []
    const value = name === undefined ? undefined : parseValue(rest)
    if (name === undefined || value === undefined)
      throw new CoworkError(
        'env_file_invalid',
        `${path}:${index + 1}: expected NAME=value${name === undefined ? '' : `, but the quotes of ${name} are not closed`}.`,
        { hint: 'Correct the line and start again.', details: { file: path, line: index + 1 } },
      )
    values.push([name, value])
  }
  return Object.fromEntries(values)
}

function parseValue(rest: string): string | undefined {
  if (!/^['"]/.test(rest)) {
    const note = ` ${rest}`.search(/[ \t]#/)
    return note < 0 ? rest : rest.slice(0, note).trimEnd()
  }
  const [match, single, double = ''] = quoted.exec(rest) ?? []
  if (match === undefined) return undefined
  return single ?? double.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter)
}
