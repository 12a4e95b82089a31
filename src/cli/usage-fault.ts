import { CommanderError } from 'commander'
import type { Command } from 'commander'
import type { CoworkError } from '#base/errors.ts'
import { exitCode, exitCodeOf, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import type { Output } from './output.ts'

/** Known before the line is understood; what follows two dashes is another program's. */
export const asksForJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).includes('--json')

/** What commander says of a wrong line, kept where `--json` wants an object instead of text (K2). */
export function holdBack(program: Command): () => string {
  let said = ''
  const hold = (command: Command): void => {
    command.configureOutput({ writeErr: (text) => void (said += text) })
    command.commands.forEach(hold)
  }
  hold(program)
  return () => said
}

/** Says what went wrong, unless commander has said it, and gives the exit code. `said` is what was held back. */
export function endWith(error: unknown, out: Output, said: (() => string) | undefined): ExitCode {
  if (!(error instanceof CommanderError)) {
    out.problem(error)
    return exitCodeOf(error)
  }
  if (error.exitCode === 0) return exitCode.ok
  if (said) out.problem(usageFault(error, said()))
  return exitCode.usage
}

/** The fault itself, then what commander said after it. */
function usageFault({ code, message }: CommanderError, said: string): CoworkError {
  if (code === 'commander.help') return usage('A command is missing.', said.trim())
  return usage(message.replace(/^error: /, ''), said.replace(message, '').trim())
}
