import { Command } from 'commander'
import { readEnvFiles } from '#base/config/env-file.ts'
import { currentEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { addCommands, globalOptions } from './command.ts'
import type { Act, Entry } from './command.ts'
import { createContext } from './context.ts'
import type { Globals } from './context.ts'
import { exitCode } from './exit.ts'
import { commandName, version } from './launcher.ts'
import { createOutput } from './output.ts'
import { wantsJson, reportAndExit, bufferOutput, addHelpHints, sharedOptions } from './usage.ts'

/** Which file has which commands, in the order of the help. */
const tables: readonly (readonly [names: string, load: () => Promise<readonly Entry[]>])[] = [
  [
    'up start down stop restart status logs halt resume mcp',
    async () => (await import('./lifecycle.ts')).lifeCommands,
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
  ['backup restore storage', async () => (await import('./setup.ts')).storeCommands],
  ['ledger', async () => [(await import('./audit.ts')).ledgerCommand]],
  [
    // Without completion, which needs all commands.
    'init demo open doctor connect disconnect service uninstall inspect run',
    async () => (await import('./setup.ts')).setupCommands,
  ],
]

/** The commands of the file that has the named one; all of them for the help, or for a name that is none. */
export async function loadCommands(name = ''): Promise<readonly Entry[]> {
  const named = tables.filter(([names]) => names.split(' ').includes(name))
  const wanted = named.length > 0 ? named : tables
  return (await Promise.all(wanted.map(([, load]) => load()))).flat()
}

export async function run(args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok
  const json = wantsJson(args)
  const words = commandName(currentEnvironment())
  const out = createOutput({ json, command: words })
  const act = async (verb: Act, command: Command) => {
    code = (await verb(createContext(command.optsWithGlobals()), command)) ?? exitCode.ok
  }
  let said: (() => string) | undefined
  const newProgram = (commands: readonly Entry[]) => {
    const program = createProgram(act, commands, words)
    if (json) said = bufferOutput(program)
    return program
  }
  try {
    const looked = newProgram([])
    const { operands, unknown } = looked.parseOptions([...args])
    const { envFile = [] } = looked.opts<Globals>()
    const chosen =
      operands.length + unknown.length > 0
        ? []
        : byTransport({ ...currentEnvironment(), ...readEnvFiles(envFile) })
    const program = newProgram(await loadCommands(operands[0] ?? chosen?.[0]))
    if (chosen) await program.parseAsync([...args, ...chosen], { from: 'user' })
    else program.outputHelp()
    return code
  } catch (error) {
    return reportAndExit(error, out, said)
  }
}

/** Seed 004 starts the program without a command and says by TRANSPORT what it is to be (SV6). */
function byTransport({ TRANSPORT }: Environment): string[] | undefined {
  const transport = TRANSPORT?.toLowerCase()
  if (transport === 'stdio') return ['mcp']
  return transport === 'http' || transport === 'sse' ? ['up'] : undefined
}

/** The command line: `act` carries out what was chosen, `words` are what a person calls it by. */
export function createProgram(
  act: (verb: Act, command: Command) => Promise<void>,
  commands: readonly Entry[],
  words = 'cowork',
): Command {
  const program = new Command('cowork')
    .description('One local server that people and AI agents work together through.')
    .version(version())
    .exitOverride()
    .configureHelp(sharedOptions)
  for (const option of globalOptions) program.addOption(option)
  addCommands(program, commands, act)
  addHelpHints(program, words)
  return program
}
