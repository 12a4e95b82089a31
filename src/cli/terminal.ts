import { styleText } from 'node:util'
import { CoworkError } from '#base/errors.ts'
import type { Hunk } from './clients/edits.ts'
import type { Context } from './context.ts'
import { usageError } from './exit.ts'
import { sanitizeForTerminal } from './output.ts'

/** Options that control prompts. */
export type PromptOptions = {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string }

/** True if a person can be prompted: a prompt without a terminal would wait forever (K2). */
export const isInteractive = ({ json = false }: PromptOptions): boolean =>
  !json && process.stdin.isTTY === true && process.stderr.isTTY === true

export const hasScreen = (
  { env }: Pick<Context, 'env'>,
  { list, json }: { readonly list?: boolean; readonly json?: boolean },
): boolean =>
  !list && !json && process.stdin.isTTY && process.stdout.isTTY && env['TERM'] !== 'dumb'

const streams = () => ({ input: process.stdin, output: process.stderr })

/** Awaits a prompt. Ctrl-D closes the input without an answer, which counts as an interruption. */
async function awaitPrompt<T>(
  prompt: Promise<T>,
  message = 'No further changes were made.',
): Promise<Exclude<T, symbol>> {
  const { promise: closed, reject } = Promise.withResolvers<never>()
  const onClosed = () => {
    process.stdin.setRawMode(false)
    reject(new CoworkError('interrupted', 'No further changes were made.'))
  }
  process.once('beforeExit', onClosed)
  try {
    const answer = await Promise.race([prompt, closed])
    if (typeof answer === 'symbol') throw new CoworkError('interrupted', message)
    return answer as Exclude<T, symbol>
  } finally {
    process.off('beforeExit', onClosed)
  }
}

/** Asks for confirmation unless `--yes` is set; for irreversible actions the default is no. */
export async function confirm(
  question: string,
  asking: PromptOptions,
  initialValue = true,
): Promise<void> {
  if (asking.yes) return
  if (!isInteractive(asking))
    throw usageError(
      `Confirmation required, but this is not a terminal: ${question}`,
      'Add --yes to confirm.',
    )
  const { confirm } = await import('@clack/prompts')
  const answer = confirm({ message: sanitizeForTerminal(question), initialValue, ...streams() })
  if (!(await awaitPrompt(answer, 'No changes were made.')))
    throw new CoworkError('declined', 'No changes were made.')
}

export async function selectMany(message: string, choices: readonly Choice[]): Promise<string[]> {
  const { multiselect } = await import('@clack/prompts')
  const options = choices.map((choice) => ({ ...choice }))
  return awaitPrompt(multiselect({ message, options, required: false, ...streams() }))
}

export async function selectOne<Value extends string>(
  message: string,
  choices: readonly (Choice & { readonly value: Value })[],
): Promise<Value> {
  const { select } = await import('@clack/prompts')
  const options = choices.map((choice) => ({ ...choice }))
  return (await awaitPrompt(select<string>({ message, options, ...streams() }))) as Value
}

/** Prompts for a line of text until `validateText` accepts it. */
export async function promptText(
  message: string,
  placeholder: string,
  validateText: (text: string) => string | undefined,
): Promise<string> {
  const { text } = await import('@clack/prompts')
  const validate = (value = '') => validateText(value.trim())
  return (await awaitPrompt(text({ message, placeholder, validate, ...streams() }))).trim()
}

/** Formats a change for review: only its own lines, since others may contain secrets. */
export function diffLines(
  file: string,
  hunks: readonly Hunk[],
  stream: NodeJS.WriteStream = process.stderr,
): string[] {
  const marked = (text: string, sign: '-' | '+') =>
    text === ''
      ? []
      : text
          .replace(/^\r?\n|\r?\n[ \t]*$/g, '')
          .split(/\r?\n/)
          .map((line) =>
            styleText(
              sign === '-' ? 'red' : 'green',
              `${sign} ${sanitizeForTerminal(line.replaceAll('\t', '  '))}`,
              { stream },
            ),
          )
  return [
    sanitizeForTerminal(file),
    ...hunks.flatMap(({ line, removed, inserted }) => [
      styleText('dim', `@@ line ${line} @@`, { stream }),
      ...marked(removed, '-'),
      ...marked(inserted, '+'),
    ]),
  ]
}

/** Prints lines for people on stderr; nothing in `--json`. */
export function printNote(lines: readonly string[], { json = false }: PromptOptions): void {
  if (!json) for (const line of lines) process.stderr.write(`${line}\n`)
}
