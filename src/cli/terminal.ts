import { styleText } from 'node:util'
import { CoworkError } from '#base/errors.ts'
import type { Hunk } from './clients/edits.ts'
import type { Context } from './context.ts'
import { usageError } from './exit.ts'
import { sanitizeForTerminal } from './output.ts'

/** How a command may ask: by itself on a terminal, or not at all. */
export type PromptOptions = {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string }

/** Nobody reads along in `--json`, and a prompt off a terminal would wait for ever (K2). */
export const isInteractive = ({ json = false }: PromptOptions): boolean =>
  !json && process.stdin.isTTY === true && process.stderr.isTTY === true

export const hasScreen = (
  { env }: Pick<Context, 'env'>,
  { list, json }: { readonly list?: boolean; readonly json?: boolean },
): boolean =>
  !list && !json && process.stdin.isTTY && process.stdout.isTTY && env['TERM'] !== 'dumb'

const streams = () => ({ input: process.stdin, output: process.stderr })

/** Ctrl-D closes the input and leaves a prompt without an answer, and us without anything to wait for. */
async function answered<T>(
  prompt: Promise<T>,
  said = 'Nothing more was changed.',
): Promise<Exclude<T, symbol>> {
  const { promise: closed, reject } = Promise.withResolvers<never>()
  const onClosed = () => {
    process.stdin.setRawMode(false)
    reject(new CoworkError('interrupted', 'Nothing more was changed.'))
  }
  process.once('beforeExit', onClosed)
  try {
    const answer = await Promise.race([prompt, closed])
    if (typeof answer === 'symbol') throw new CoworkError('interrupted', said)
    return answer as Exclude<T, symbol>
  } finally {
    process.off('beforeExit', onClosed)
  }
}

/** Goes on only with a yes, from the flag or from the person; one that cannot be undone needs a key more. */
export async function confirm(
  question: string,
  asking: PromptOptions,
  initialValue = true,
): Promise<void> {
  if (asking.yes) return
  if (!isInteractive(asking))
    throw usageError(
      `This needs a yes, and there is no terminal to ask on: ${question}`,
      'Add --yes to answer so.',
    )
  const { confirm } = await import('@clack/prompts')
  const asked = confirm({ message: sanitizeForTerminal(question), initialValue, ...streams() })
  if (!(await answered(asked, 'Nothing was changed.')))
    throw new CoworkError('declined', 'Nothing was changed.')
}

export async function selectMany(message: string, choices: readonly Choice[]): Promise<string[]> {
  const { multiselect } = await import('@clack/prompts')
  const options = choices.map((choice) => ({ ...choice }))
  return answered(multiselect({ message, options, required: false, ...streams() }))
}

export async function selectOne<Value extends string>(
  message: string,
  choices: readonly (Choice & { readonly value: Value })[],
): Promise<Value> {
  const { select } = await import('@clack/prompts')
  const options = choices.map((choice) => ({ ...choice }))
  return (await answered(select<string>({ message, options, ...streams() }))) as Value
}

/** A line of text; what `wrong` says against it is told, and it is asked again. */
export async function promptText(
  message: string,
  placeholder: string,
  wrong: (text: string) => string | undefined,
): Promise<string> {
  const { text } = await import('@clack/prompts')
  const validate = (given = '') => wrong(given.trim())
  return (await answered(text({ message, placeholder, validate, ...streams() }))).trim()
}

/** A change as a person reads it before it is made: only its own lines, since others may hold secrets. */
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

/** To the person beside the data; silent in `--json`. */
export function printNote(lines: readonly string[], { json = false }: PromptOptions): void {
  if (!json) for (const line of lines) process.stderr.write(`${line}\n`)
}
