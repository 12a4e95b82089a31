import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { clientIds, screens, shells } from './choices.ts'
import { toolOptions } from './option-kinds.ts'
import type { Add } from './program.ts'

const yes = () => new Option('-y, --yes', 'answer every question with yes')
const configFile = () =>
  new Option('--config-file <file>', "the client's file, where it is not in its usual place")

/** Shown and completed; what is meant by a shorter word the command finds out itself. */
function known(argument: Argument, words: readonly string[]): Argument {
  argument.argChoices = [...words]
  return argument
}

/** Setting up and looking after: cowork itself, the clients, the machine. */
export function setupCommands(program: Command, add: Add): void {
  add(
    program,
    'init',
    'set up the state folder, the configuration and clients',
    async (context, command) =>
      (await import('./init/init.ts')).init(context, command.optsWithGlobals()),
  )
    .option('--import <files...>', 'take over the settings of these files too')
    .option(
      '--workspace <folder>',
      'where agents keep their files (default: ~/Downloads/AI-Workspace)',
    )
    .option('--grant <folders...>', 'let agents read these folders, or write too: <folder>:rw')
    .option('--connect <clients...>', 'connect these clients, without asking which')
    .option('--notify <how>', 'how you are told besides: none, desktop, ntfy or ntfy:<topic>')
    .option('--practice', 'play the demo at the end')
    .addOption(yes())
    .addHelpText(
      'after',
      '\nFinds cowork.config.yaml, fileops-mcp.yaml and grants-config.yaml here and in\nyour home folder.',
    )
  add(
    program,
    'demo',
    'agents of different quality at work, in fast-forward',
    async (context, command) => (await import('./demo/demo.ts')).demo(context, command.opts()),
  )
    .addOption(
      new Option('--proposals <count>', 'how many each agent makes').argParser(Number).default(45),
    )
    .addOption(new Option('--pace <ms>', 'pause between them').argParser(Number).default(40))
    .option('--clean', 'end what the demo made: agents, requests, trust, policies, project, files')
  add(program, 'open', 'open the console in the browser', async (context, command) =>
    (await import('./open.ts')).open(context, command.args[0], command.opts()),
  )
    .addArgument(known(new Argument('[screen]', 'the screen to begin with'), screens))
    .option('--print', 'print the one-time link instead')
  add(
    program,
    'doctor',
    'look for what is wrong, and say what mends it',
    async (context, command) =>
      (await import('./doctor/doctor.ts')).doctor(context, command.opts()),
  ).option('--deep', 'check the whole ledger')
  connectCommands(program, add)
  machineCommands(program, add)
}

function connectCommands(program: Command, add: Add): void {
  const connectCommand = add(
    program,
    'connect',
    'let a client in, or list them',
    async (context, command) => {
      const { connect, listClients } = await import('./connect.ts')
      const [client] = command.args
      return client === undefined
        ? listClients(context)
        : connect(context, client, command.optsWithGlobals())
    },
  )
    .addArgument(known(new Argument('[client]', 'which one'), clientIds))
    .option('--agent <name>', 'the agent it acts as (default: the name of the client)')
    .option('--http', 'over HTTP, the token by reference to a variable')
    .option('--env-var <name>', 'with --http: the variable that will hold the token')
    .option('--inline', "write the token itself into the client's file, in plain text")
    .addOption(
      new Option(
        '--results <form>',
        'structured: for programs that read structuredContent',
      ).choices(['structured']),
    )
    .option('--dry-run', 'show the change and leave it at that')
    .addOption(configFile())
    .addOption(yes())
    .addHelpText(
      'after',
      '\nClaude Code searches tools itself: cowork connect claude-code --tools all',
    )
  for (const option of toolOptions()) connectCommand.addOption(option)
  add(program, 'disconnect', 'undo connect', async (context, command) =>
    (await import('./disconnect.ts')).disconnect(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
    .addArgument(known(new Argument('<client>', 'which one'), clientIds))
    .option('--keep-agent', 'do not revoke its agent')
    .addOption(configFile())
    .addOption(yes())
}

function machineCommands(program: Command, add: Add): void {
  const service = program.command('service').description('start the daemon at login')
  add(
    service,
    'install',
    'by systemd, launchd or the Task Scheduler of this user',
    async (context, command) =>
      (await import('./service.ts')).installService(context, command.optsWithGlobals()),
  )
    .option('--print', 'print the text and leave it at that')
    .addOption(yes())
  add(service, 'remove', 'no longer start it at login', async (context, command) =>
    (await import('./service.ts')).removeService(context, command.optsWithGlobals()),
  ).addOption(yes())
  add(program, 'uninstall', 'undo connects and services; data stays', async (context, command) =>
    (await import('./uninstall.ts')).uninstall(context, command.optsWithGlobals()),
  )
    .option('--purge', 'delete the data too, the ledger included')
    .addOption(new Option('--timeout <seconds>', 'how long to wait').argParser(Number).default(30))
    .addOption(yes())
  add(program, 'inspect', 'open the MCP Inspector on the daemon', async (context, command) =>
    (await import('./inspect.ts')).inspect(context, command.opts()),
  ).option('--print', 'print the command and leave it at that')
  add(program, 'run', 'start a program with the secrets of --env-file', async (context, command) =>
    (await import('./run-with.ts')).runWith(context, command.args),
  )
    .argument('[command...]', 'after two dashes, with its arguments')
    .addHelpText('after', '\nExample: cowork run --env-file .env -- claude')
  add(program, 'completion', 'print a completion script', async (context, command) => {
    const { completionScript } = await import('./completion.ts')
    const shell = shells.find((one) => one === command.args[0]) ?? 'bash'
    const script = completionScript(program, shell)
    context.out.data({ shell, script }, () => script.trimEnd().split('\n'))
  })
    .addArgument(new Argument('<shell>', 'for which shell').choices(shells))
    .addHelpText('after', '\nbash: source <(cowork completion bash)')
}
