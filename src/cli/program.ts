import { Command, InvalidArgumentError, Option } from 'commander'
import { readEnvFiles } from '#base/config/env-file.ts'
import { currentEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { contextOf } from './context.ts'
import type { Context, Globals } from './context.ts'
import { exitCode, usage } from './exit.ts'
import { fileCommands } from './file-commands.ts'
import { governanceCommands } from './governance-commands.ts'
import { commandHere } from './launcher.ts'
import { toolOptions } from './option-kinds.ts'
import { createOutput } from './output.ts'
import { setupCommands } from './setup-commands.ts'
import { asksForJson, endWith, holdBack } from './usage-fault.ts'
import { pointToHelp, refuseUnknown, sharedOptions } from './usage-help.ts'
import { version } from './version.ts'
import { workCommands } from './work-commands.ts'

/** Gives its exit code; that of another program may be any number. */
type Verb = (context: Context, command: Command) => Promise<number | void>

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
  act: (verb: Verb, command: Command) => Promise<void>,
  words = 'cowork',
): Command {
  const program = new Command('cowork')
    .description('One local server that people and AI agents work together through.')
    .version(version())
    .option('--config <file>', 'configuration file (default: cowork.yaml in the state folder)')
    .option('--state <folder>', 'state folder (default: COWORK_STATE_DIR, else ~/.cowork)')
    .option('--json', 'print data as JSON')
    .addOption(
      new Option(
        '--env-file <file>',
        'read variables from a file; may repeat, the later wins',
      ).argParser((file: string, before?: string[]) => [...(before ?? []), file]),
    )
    .exitOverride()
    .configureHelp(sharedOptions)
  const add = (parent: Command, usage: string, description: string, verb: Verb) => {
    const command = parent.command(usage).description(description)
    return command.action(() => {
      refuseUnknown(command)
      return act(verb, command)
    })
  }
  lifeCommands(program, add)
  governanceCommands(program, add)
  fileCommands(program, add)
  workCommands(program, add)
  auditCommands(program, add)
  agentCommands(program, add)
  storeCommands(program, add)
  setupCommands(program, add)
  pointToHelp(program, words)
  return program
}

export type Add = (parent: Command, usage: string, description: string, verb: Verb) => Command

function lifeCommands(program: Command, add: Add): void {
  const seconds = new Option('--timeout <seconds>', 'how long to wait').argParser(whole).default(30)
  const port = new Option('--port <number>', 'port to listen on; 0 takes a free one')
  const noAuth = new Option('--no-auth', 'the address for work asks for no WORKSYNC_API_KEY')
  add(program, 'up', 'run the daemon, in the foreground', async (context, command) =>
    command.getOptionValue('detach') === true
      ? (await import('./background.ts')).start(context, command.opts())
      : (await import('./up.ts')).up(context, command.opts()),
  )
    .option('-d, --detach', 'in the background')
    .addOption(new Option('--detached').hideHelp())
    .addOption(new Option('--free-port').hideHelp())
    .addOption(port)
    .addOption(noAuth)
    .addOption(seconds)
  add(program, 'start', 'the same as up -d', async (context, command) =>
    (await import('./background.ts')).start(context, command.opts()),
  )
    .addOption(port)
    .addOption(noAuth)
    .addOption(seconds)
  add(program, 'down', 'end the daemon after the calls under way', async (context, command) =>
    (await import('./background.ts')).down(context, command.opts()),
  )
    .alias('stop')
    .addOption(seconds)
  add(program, 'restart', 'down, then up -d', async (context, command) =>
    (await import('./background.ts')).restart(context, command.opts()),
  )
    .addOption(port)
    .addOption(noAuth)
    .addOption(seconds)
  add(program, 'status', 'whether it runs and how it stands', async (context) =>
    (await import('./status.ts')).status(context),
  )
  add(program, 'logs', "the daemon's log", async (context, command) =>
    (await import('./logs.ts')).logs(context, command.opts()),
  )
    .addOption(lines(100))
    .addOption(follow())
  add(program, 'halt [scope]', 'refuse new calls of agents', async (context, command) =>
    (await import('./halt.ts')).halt(context, command.args[0] ?? 'all', command.opts()),
  )
    .option('--reason <text>', 'why, for the people and agents who ask')
    .option('--force', 'halt a name that is not known yet')
    .addHelpText('after', '\nA scope is all (default), agent:<id>, domain:<name> or server:<name>.')
  add(program, 'resume [scope]', 'lift a halt', async (context, command) =>
    (await import('./halt.ts')).resume(context, command.args[0] ?? 'all'),
  )
  add(
    program,
    'mcp',
    'serve MCP over stdio, starting the daemon if none runs',
    async (context, command) => (await import('./mcp.ts')).mcp(context, command.opts()),
  )
    .option('--agent <name>', 'act with the token kept for this agent')
    .option(
      '--tools <names>',
      'list these tools and toolsets, separated by commas; or core, or all',
    )
    .option('--exclude <names>', 'neither list nor call these tools and toolsets')
    .option('--read-only', 'list and call only tools that read, ask and report')
    .addOption(
      new Option('--results <form>', 'send every result as structured data too').choices([
        'structured',
      ]),
    )
}

function auditCommands(program: Command, add: Add): void {
  const audit = program.command('audit').description('read, check and export the ledger')
  add(audit, 'tail', 'the newest entries', async (context, command) =>
    (await import('./audit.ts')).tail(context, command.opts()),
  )
    .addOption(lines(20))
    .addOption(follow())
    .option('--type <type>', 'only entries of this type, such as call.done')
    .option('--actor <id>', 'only entries of this agent or person')
  add(
    audit,
    'verify [path]',
    'check the store, an exported folder, or a receipt',
    async (context, command) =>
      (await import('./audit-verify.ts')).verify(context, command.args[0], command.opts()),
  )
    .option('--deep', 'also spell every entry anew and check its shape')
    .option('--key <key>', 'the public key to trust, or a file with it')
    .option(
      '--checkpoint <note>',
      'a checkpoint that you kept, as text or file; may repeat',
      (note: string, before?: string[]) => [...(before ?? []), note],
    )
  add(audit, 'prove <seq>', 'the proof that an entry is in the ledger', async (context, command) =>
    (await import('./audit.ts')).prove(context, entryNumber(command.args[0])),
  )
  add(
    audit,
    'receipt <call>',
    'write the entries of one call with their proofs into a file',
    async (context, command) =>
      (await import('./audit-receipt.ts')).receipt(context, command.args[0] ?? '', command.opts()),
  ).option('--out <file>', 'the file to write (default: receipt-<call>.json)')
  add(
    audit,
    'export <folder>',
    'write the ledger where verify can check it',
    async (context, command) =>
      (await import('./audit-export.ts')).exportLedger(context, command.args[0] ?? ''),
  )
}

function agentCommands(program: Command, add: Add): void {
  const agents = program.command('agents').description('who may come in over MCP')
  const added = add(
    agents,
    'add <id>',
    'register an agent and print its token, this once',
    async (context, command) =>
      (await import('./agents.ts')).addAgent(context, command.args[0] ?? '', command.opts()),
  ).option('--scope <globs...>', 'what it may do, such as read:* (default: everything)')
  const set = add(
    agents,
    'set <id>',
    "change an agent's tools; its token stays",
    async (context, command) =>
      (await import('./agents.ts')).setTools(context, command.args[0] ?? '', command.opts()),
  )
  for (const option of toolOptions()) {
    added.addOption(option)
    set.addOption(option)
  }
  set.option('--no-exclude', 'exclude nothing').option('--no-read-only', 'allow writing again')
  add(agents, 'ls', 'list them', async (context) =>
    (await import('./agents.ts')).listAgents(context),
  )
  add(agents, 'rotate <id>', 'give an agent a new token', async (context, command) =>
    (await import('./agents.ts')).rotateAgent(context, command.args[0] ?? '', command.opts()),
  ).addOption(
    new Option('--overlap <minutes>', 'how long the old one still works (default: 10)').argParser(
      whole,
    ),
  )
  add(
    agents,
    'revoke <id>',
    "end an agent's tokens and sessions at once",
    async (context, command) =>
      (await import('./agents.ts')).revokeAgent(context, command.args[0] ?? ''),
  )
  add(agents, 'token', 'make a token for a config file, without storing it', async (context) =>
    (await import('./agents.ts')).newToken(context),
  )
}

function storeCommands(program: Command, add: Add): void {
  add(
    program,
    'backup [file]',
    'keep everything in one file, while the daemon goes on',
    async (context, command) => (await import('./backup.ts')).backup(context, command.args[0]),
  )
  add(
    program,
    'restore <file>',
    'put a backup back, while no daemon runs',
    async (context, command) =>
      (await import('./restore.ts')).restore(context, command.args[0] ?? '', command.opts()),
  ).option('--force', 'move aside what is there')
  const storage = program.command('storage').description('where state is kept')
  add(
    storage,
    'migrate',
    'copy the store to another engine, while no daemon runs',
    async (context, command) =>
      (await import('./storage.ts')).migrateStorage(context, command.opts()),
  )
    .requiredOption('--to <place>', 'postgres://…, a reference such as env:NAME, or sqlite:<path>')
    .option('--write', 'name the new store in the configuration')
  const ledger = program.command('ledger').description('change what the ledger keeps')
  add(
    ledger,
    'redact <seq>',
    'erase what is kept beside an entry; the entry stays',
    async (context, command) =>
      (await import('./ledger.ts')).redact(context, entryNumber(command.args[0]), command.opts()),
  ).requiredOption('--reason <text>', 'why, for whoever reads the ledger')
  add(
    ledger,
    'accept',
    'accept entries that are neither signed nor covered by a MAC, while no daemon runs',
    async (context, command) =>
      (await import('./ledger-accept.ts')).accept(context, command.opts()),
  ).requiredOption('--reason <text>', 'why, for everyone who verifies the ledger')
}

const lines = (count: number) =>
  new Option('-n, --lines <count>', 'how many').argParser(whole).default(count)
const follow = () => new Option('-f, --follow', 'go on with what comes')

function whole(text: string): number {
  if (!isWhole(text)) throw new InvalidArgumentError('It is not a whole number.')
  return Number(text)
}

/** Read when the command runs, where commander no longer says what is wrong. */
function entryNumber(text = ''): number {
  if (isWhole(text)) return Number(text)
  throw usage(`"${text}" is not the number of an entry.`, '`cowork audit tail` shows them.')
}

const isWhole = (text: string) => /^\d{1,15}$/.test(text)
