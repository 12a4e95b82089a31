import { readFileSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'

/** `--env-file`, which may repeat: the later file wins. Values may be references (I8). */
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
 * `NAME=value`, `export NAME=value`, '…' as it is, "…" with \n, \t, \" and \\; # starts a comment on
 * its own line or after a space. Nothing is expanded. A line in any other form is refused by number,
 * without its content, which may be a secret.
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
    const value = name === undefined ? undefined : valueOf(rest)
    if (name === undefined || value === undefined)
      throw new CoworkError(
        'env_file_invalid',
        `${path}:${index + 1}: expected NAME=value${name === undefined ? '' : `, but the quotes around ${name} do not close`}.`,
        { hint: 'Correct the line and start again.', details: { file: path, line: index + 1 } },
      )
    values.push([name, value])
  }
  return Object.fromEntries(values)
}

function valueOf(rest: string): string | undefined {
  if (!/^['"]/.test(rest)) {
    const note = ` ${rest}`.search(/[ \t]#/)
    return note < 0 ? rest : rest.slice(0, note).trimEnd()
  }
  const [whole, single, double = ''] = quoted.exec(rest) ?? []
  if (whole === undefined) return undefined
  return single ?? double.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter)
}
