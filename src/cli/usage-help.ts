import type { Command, Help, Option } from 'commander'
import { wrapped } from './output.ts'

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

const namesIn = ({ commands }: Command) => commands.map((one) => one.name())

/** After a fault in its usage each command names its own help, and what may follow it (K3). */
export function pointToHelp(command: Command, words: string): void {
  const names = namesIn(command)
  const help = `\`${words} --help\``
  if (!command.parent) command.showHelpAfterError(`${help} lists the commands.`)
  else if (names.length === 0) command.showHelpAfterError(`${help} shows what it takes.`)
  else {
    const lines = wrapped(`Its commands: ${names.join(', ')}. ${help} tells more.`)
    command.showHelpAfterError(lines.join('\n'))
  }
  // What it does by itself takes nothing, so whatever follows is meant as one of its commands.
  if (isGroup(command)) command.allowExcessArguments(true)
  for (const one of command.commands) pointToHelp(one, `${words} ${one.name()}`)
}

const isGroup = ({ commands, registeredArguments }: Command) =>
  commands.length > 0 && registeredArguments.length === 0

export function refuseUnknown(command: Command): void {
  const [name] = command.args
  if (name !== undefined && isGroup(command))
    command.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' })
}
