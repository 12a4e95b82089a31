import { Command } from 'commander'
import { readEnvFiles } from '#base/config/env-file.ts'
import { currentEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { agentsCommand } from './agents.ts'
import { auditCommand, ledgerCommand } from './audit.ts'
import { addCommands } from './command.ts'
import type { Act, Entry } from './command.ts'
import { contextOf } from './context.ts'
import type { Globals } from './context.ts'
import { decideCommands } from './decide.ts'
import { exitCode } from './exit.ts'
import { filesCommand } from './files.ts'
import { grantsCommand } from './grants.ts'
import { handoffCommand } from './handoff.ts'
import { inboxCommand } from './inbox/inbox.ts'
import { commandHere } from './launcher.ts'
import { lifeCommands } from './life.ts'
import { notifyCommand } from './notify.ts'
import { globalOptions } from './option-kinds.ts'
import { createOutput } from './output.ts'
import { overrideCommand } from './override.ts'
import { permissionsCommand } from './permissions.ts'
import { policyCommand } from './policy.ts'
import { reportCommand } from './report.ts'
import { setupCommands, storeCommands } from './setup.ts'
import { trashCommand } from './trash.ts'
import { trustCommand } from './trust.ts'
import { asksForJson, endWith, holdBack } from './usage-fault.ts'
import { pointToHelp, sharedOptions } from './usage-help.ts'
import { version } from './version.ts'
import { workCommand } from './work/work.ts'
import { workspaceCommand } from './workspace.ts'

/** All there are, in the order of the help. */
export const commands: readonly Entry[] = [
  ...lifeCommands,
  inboxCommand,
  ...decideCommands,
  overrideCommand,
  handoffCommand,
  trustCommand,
  reportCommand,
  policyCommand,
  permissionsCommand,
  notifyCommand,
  filesCommand,
  trashCommand,
  grantsCommand,
  workspaceCommand,
  workCommand,
  auditCommand,
  agentsCommand,
  ...storeCommands,
  ledgerCommand,
  ...setupCommands,
]

/** Runs one command line. A command's own code is loaded when it is used. */
export async function run(args: readonly string[]): Promise<number> {
  const { stdout, stderr } = process
  let code: number = exitCode.ok
  const json = asksForJson(args)
  const words = commandHere(currentEnvironment())
  const out = createOutput({ json, stdout, stderr, command: words })
  let said: (() => string) | undefined
  const newProgram = () => {
    const program = createProgram(async (verb, command) => {
      code = (await verb(contextOf(command.optsWithGlobals()), command)) ?? exitCode.ok
    }, words)
    if (json) said = holdBack(program)
    return program
  }
  try {
    const looked = newProgram()
    const { operands, unknown } = looked.parseOptions([...args])
    const { envFile = [] } = looked.opts<Globals>()
    const chosen =
      operands.length + unknown.length > 0
        ? []
        : byTransport({ ...currentEnvironment(), ...readEnvFiles(envFile) })
    if (chosen) await newProgram().parseAsync([...args, ...chosen], { from: 'user' })
    else newProgram().outputHelp()
    return code
  } catch (error) {
    return endWith(error, out, said)
  }
}

/** Seed 004 starts the program without a command and says by TRANSPORT what it is to be (SV6). */
function byTransport({ TRANSPORT }: Environment): string[] | undefined {
  const transport = TRANSPORT?.toLowerCase()
  if (transport === 'stdio') return ['mcp']
  return transport === 'http' || transport === 'sse' ? ['up'] : undefined
}

/** The whole command line: `act` carries out what was chosen, `words` are what a person calls it by. */
export function createProgram(
  act: (verb: Act, command: Command) => Promise<void>,
  words = 'cowork',
): Command {
  const program = new Command('cowork')
    .description('One local server that people and AI agents work together through.')
    .version(version())
    .exitOverride()
    .configureHelp(sharedOptions)
  for (const option of globalOptions) program.addOption(option)
  addCommands(program, commands, act)
  pointToHelp(program, words)
  return program
}
