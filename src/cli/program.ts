import { Command } from 'commander'
import { readEnvFiles } from '#base/config/env-file.ts'
import { currentEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { addCommands, globalOptions } from './command.ts'
import type { CommandAction, CommandSpec } from './command.ts'
import { createContext } from './context.ts'
import type { Globals } from './context.ts'
import { exitCode } from './exit.ts'
import { commandName, version } from './launcher.ts'
import { createOutput } from './output.ts'
import { wantsJson, reportAndExit, bufferOutput, addHelpHints, sharedOptions } from './usage.ts'

/** Maps command names to the file that defines them, in the order of the help. */
const tables: readonly (readonly [names: string, load: () => Promise<readonly CommandSpec[]>])[] = [
  [
    'up start down stop restart status logs halt resume mcp',
    async () => (await import('./lifecycle.ts')).lifecycleCommands,
  ],
  ['inbox', async () => [(await import('./inbox/inbox.ts')).inboxCommand]],
  ['approve reject undo', async () => (await import('./decide.ts')).decideCommands],
  ['override', async () => [(await import('./trust.ts')).overrideCommand]],
  ['handoff', async () => [(await import('./handoff.ts')).handoffCommand]],
  ['trust', async () => [(await import('./trust.ts')).trustCommand]],
  ['report', async () => [(await import('./report.ts')).reportCommand]],
  ['policy', async () => [(await import('./policy.ts')).policyCommand]],
  ['permissions', async () => [(await import('./grants.ts')).permissionsCommand]],
  ['notify', async () => [(await import('./notify.ts')).notifyCommand]],
  ['files', async () => [(await import('./files.ts')).filesCommand]],
  ['trash', async () => [(await import('./files.ts')).trashCommand]],
  ['grants', async () => [(await import('./grants.ts')).grantsCommand]],
  ['workspace', async () => [(await import('./workspace.ts')).workspaceCommand]],
  ['work', async () => [(await import('./work/work.ts')).workCommand]],
  ['audit', async () => [(await import('./audit.ts')).auditCommand]],
  ['agents', async () => [(await import('./agents.ts')).agentsCommand]],
  ['servers', async () => [(await import('./servers.ts')).serversCommand]],
  ['backup restore storage', async () => (await import('./setup.ts')).storeCommands],
  ['ledger', async () => [(await import('./audit.ts')).ledgerCommand]],
  [
    // Without `completion`: it needs all commands.
    'init demo open doctor connect disconnect service uninstall inspect run',
    async () => (await import('./setup.ts')).setupCommands,
  ],
]

/** Loads the commands of the file that defines `name`; loads all for the help or an unknown name. */
export async function loadCommands(name = ''): Promise<readonly CommandSpec[]> {
  const matches = tables.filter(([names]) => names.split(' ').includes(name))
  const selected = matches.length > 0 ? matches : tables
  return (await Promise.all(selected.map(([, load]) => load()))).flat()
}

export async function run(args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok
  const json = wantsJson(args)
  const typedName = commandName(currentEnvironment())
  const out = createOutput({ json, command: typedName })
  const act = async (action: CommandAction, command: Command) => {
    code = (await action(createContext(command.optsWithGlobals()), command)) ?? exitCode.ok
  }
  let getOutput: (() => string) | undefined
  const newProgram = (commands: readonly CommandSpec[]) => {
    const program = createProgram(act, commands, typedName)
    if (json) getOutput = bufferOutput(program)
    return program
  }
  try {
    const globals = newProgram([])
    const { operands, unknown } = globals.parseOptions([...args])
    const { envFile = [] } = globals.opts<Globals>()
    const implied =
      operands.length + unknown.length > 0
        ? []
        : byTransport({ ...currentEnvironment(), ...readEnvFiles(envFile) })
    const program = newProgram(await loadCommands(operands[0] ?? implied?.[0]))
    if (implied) await program.parseAsync([...args, ...implied], { from: 'user' })
    else program.outputHelp()
    return code
  } catch (error) {
    return reportAndExit(error, out, getOutput)
  }
}

/** Selects a command by TRANSPORT: seed 004 starts the program without one (SV6). */
function byTransport({ TRANSPORT }: Environment): string[] | undefined {
  const transport = TRANSPORT?.toLowerCase()
  if (transport === 'stdio') return ['mcp']
  return transport === 'http' || transport === 'sse' ? ['up'] : undefined
}

/** Builds the command line. `typedName` is how people call it, such as `npx cowork`. */
export function createProgram(
  act: (action: CommandAction, command: Command) => Promise<void>,
  commands: readonly CommandSpec[],
  typedName = 'cowork',
): Command {
  const program = new Command('cowork')
    .description('Local server through which people and AI agents work together.')
    .version(version())
    .exitOverride()
    .configureHelp(sharedOptions)
  for (const option of globalOptions) program.addOption(option)
  addCommands(program, commands, act)
  addHelpHints(program, typedName)
  return program
}
