import { CommanderError } from 'commander'
import type { Command, Help, Option } from 'commander'
import type { CoworkError } from '#base/errors.ts'
import { exitCode, toExitCode, usageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { wrapText } from './output.ts'
import type { Output } from './output.ts'

/** Shows the global options, such as `--json`, in the help of each command (K2). */
export const sharedOptions: Partial<Help> = {
  showGlobalOptions: true,
  // Wrap the text beside a long option; otherwise the terminal breaks it.
  minWidthToWrap: 20,
  visibleGlobalOptions(command: Command): Option[] {
    const top = getRootCommand(command)
    return command === top ? [] : top.options.filter(({ long }) => long !== '--version')
  },
}

const getRootCommand = (command: Command): Command =>
  command.parent ? getRootCommand(command.parent) : command

/** Adds a help hint to usage errors of each command, and lists the subcommands (K3). */
export function addHelpHints(command: Command, typedName: string): void {
  const names = command.commands.map((child) => child.name())
  const help = `\`${typedName} --help\``
  if (!command.parent) command.showHelpAfterError(`Run ${help} for the list of commands.`)
  else if (names.length === 0) command.showHelpAfterError(`Run ${help} for usage.`)
  else {
    const lines = wrapText(`Commands: ${names.join(', ')}. Run ${help} for details.`)
    command.showHelpAfterError(lines.join('\n'))
  }
  // A group takes no arguments itself, so an extra argument is an unknown command.
  if (isGroup(command)) command.allowExcessArguments(true)
  for (const child of command.commands) addHelpHints(child, `${typedName} ${child.name()}`)
}

const isGroup = ({ commands, registeredArguments }: Command) =>
  commands.length > 0 && registeredArguments.length === 0

export function rejectUnknownCommand(command: Command): void {
  const [name] = command.args
  if (name !== undefined && isGroup(command))
    command.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' })
}

/** Determined before parsing; arguments after `--` belong to another program. */
export const wantsJson = (args: readonly string[]): boolean =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).includes('--json')

/** Buffers commander's error text: with `--json` an object is printed instead (K2). */
export function bufferOutput(program: Command): () => string {
  let output = ''
  const buffer = (command: Command): void => {
    command.configureOutput({ writeErr: (text) => void (output += text) })
    command.commands.forEach(buffer)
  }
  buffer(program)
  return () => output
}

/** Prints the error, unless commander has printed it, and returns the exit code. */
export function reportAndExit(
  error: unknown,
  out: Output,
  getOutput: (() => string) | undefined,
): ExitCode {
  if (!(error instanceof CommanderError)) {
    out.problem(error)
    return toExitCode(error)
  }
  if (error.exitCode === 0) return exitCode.ok
  if (getOutput) out.problem(toUsageError(error, getOutput()))
  return exitCode.usage
}

/** Returns the error of commander, with its other output as the hint. */
function toUsageError({ code, message }: CommanderError, output: string): CoworkError {
  if (code === 'commander.help') return usageError('Command missing.', output.trim())
  return usageError(message.replace(/^error: /, ''), output.replace(message, '').trim())
}
