import { CommanderError } from 'commander'
import type { Command, Help, Option } from 'commander'
import type { CoworkError } from '#base/errors.ts'
import { exitCode, toExitCode, usageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { wrapText } from './output.ts'
import type { Output } from './output.ts'

/** The help of each command shows what every command takes, such as `--json` (K2); its group's options it has itself. */
export const sharedOptions: Partial<Help> = {
  showGlobalOptions: true,
  // Also beside a long option a text is wrapped rather than cut by the terminal.
  minWidthToWrap: 20,
  visibleGlobalOptions(command: Command): Option[] {
    const top = topOf(command)
    return command === top ? [] : top.options.filter(({ long }) => long !== '--version')
  },
}

const topOf = (command: Command): Command => (command.parent ? topOf(command.parent) : command)

/** After a fault in its usage each command names its own help, and what may follow it (K3). */
export function addHelpHints(command: Command, words: string): void {
  const names = command.commands.map((one) => one.name())
  const help = `\`${words} --help\``
  if (!command.parent) command.showHelpAfterError(`${help} lists the commands.`)
  else if (names.length === 0) command.showHelpAfterError(`${help} shows what it takes.`)
  else {
    const lines = wrapText(`Its commands: ${names.join(', ')}. ${help} tells more.`)
    command.showHelpAfterError(lines.join('\n'))
  }
  // What it does by itself takes nothing, so whatever follows is meant as one of its commands.
  if (isGroup(command)) command.allowExcessArguments(true)
  for (const one of command.commands) addHelpHints(one, `${words} ${one.name()}`)
}

const isGroup = ({ commands, registeredArguments }: Command) =>
  commands.length > 0 && registeredArguments.length === 0

export function rejectUnknownCommand(command: Command): void {
  const [name] = command.args
  if (name !== undefined && isGroup(command))
    command.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' })
}

/** Known before the line is understood; what follows two dashes is another program's. */
export const wantsJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).includes('--json')

/** What commander says of a wrong line, kept where `--json` wants an object instead of text (K2). */
export function bufferOutput(program: Command): () => string {
  let said = ''
  const hold = (command: Command): void => {
    command.configureOutput({ writeErr: (text) => void (said += text) })
    command.commands.forEach(hold)
  }
  hold(program)
  return () => said
}

/** Says what went wrong, unless commander has said it, and gives the exit code. `said` is what was held back. */
export function reportAndExit(
  error: unknown,
  out: Output,
  said: (() => string) | undefined,
): ExitCode {
  if (!(error instanceof CommanderError)) {
    out.problem(error)
    return toExitCode(error)
  }
  if (error.exitCode === 0) return exitCode.ok
  if (said) out.problem(usageFault(error, said()))
  return exitCode.usage
}

/** The fault itself, then what commander said after it. */
function usageFault({ code, message }: CommanderError, said: string): CoworkError {
  if (code === 'commander.help') return usageError('A command is missing.', said.trim())
  return usageError(message.replace(/^error: /, ''), said.replace(message, '').trim())
}
