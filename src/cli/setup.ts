import { screens } from '#base/screens.ts'
import { clientIds, shells } from './choices.ts'
import {
  choice,
  flag,
  list,
  localCommand,
  number,
  required,
  text,
  toolOptions,
  withDefault,
  yes,
} from './command.ts'
import type { Entry } from './command.ts'

const configFile = () =>
  text('--config-file <file>', "the client's file, where it is not in its usual place")

export const storeCommands: readonly Entry[] = [
  localCommand({
    usage: 'backup [file]',
    summary: 'keep everything in one file, while the daemon goes on',
    act: async (call) => (await import('./backup.ts')).backup(call, call.args[0]),
  }),
  localCommand({
    usage: 'restore <file>',
    summary: 'put a backup back, while no daemon runs',
    options: { force: flag('--force', 'move aside what is there') },
    act: async (call) => (await import('./backup.ts')).restore(call, call.args[0], call.options),
  }),
  {
    usage: 'storage',
    summary: 'where state is kept',
    commands: [
      localCommand({
        usage: 'migrate',
        summary: 'copy the store to another engine, while no daemon runs',
        options: {
          to: required(
            text('--to <place>', 'postgres://…, a reference such as env:NAME, or sqlite:<path>'),
          ),
          write: flag('--write', 'name the new store in the configuration'),
        },
        act: async (call) => (await import('./storage.ts')).migrateStorage(call, call.options),
      }),
    ],
  },
]

export const setupCommands: readonly Entry[] = [
  localCommand({
    usage: 'init',
    summary: 'set up the state folder, the configuration and clients',
    options: {
      import: list('--import <files...>', 'take over the settings of these files too'),
      workspace: text(
        '--workspace <folder>',
        'where agents keep their files (default: ~/Downloads/AI-Workspace)',
      ),
      grant: list(
        '--grant <folders...>',
        'let agents read these folders, or write too: <folder>:rw',
      ),
      connect: list('--connect <clients...>', 'connect these clients, without asking which'),
      notify: text(
        '--notify <how>',
        'how you are told besides: none, desktop, ntfy or ntfy:<topic>',
      ),
      practice: flag('--practice', 'play the demo at the end'),
      yes: yes(),
    },
    help: 'Finds cowork.config.yaml, fileops-mcp.yaml and grants-config.yaml here and in\nyour home folder.',
    act: async (call) => (await import('./init/init.ts')).init(call, call.options),
  }),
  localCommand({
    usage: 'demo',
    summary: 'agents of different quality at work, in fast-forward',
    options: {
      proposals: withDefault(number('--proposals <count>', 'how many each agent makes'), 45),
      pace: withDefault(number('--pace <ms>', 'pause between them'), 40),
      clean: flag(
        '--clean',
        'end what the demo made: agents, requests, trust, policies, project, files',
      ),
    },
    act: async (call) => (await import('./demo/demo.ts')).demo(call, call.options),
  }),
  localCommand({
    usage: 'open [screen]',
    summary: 'open the console in the browser',
    args: { screen: { about: 'the screen to begin with', known: screens } },
    options: { print: flag('--print', 'print the one-time link instead') },
    act: async (call) => (await import('./open.ts')).open(call, call.args[0], call.options),
  }),
  localCommand({
    usage: 'doctor',
    summary: 'look for what is wrong, and say what mends it',
    options: { deep: flag('--deep', 'check the whole ledger') },
    act: async (call) => (await import('./doctor/doctor.ts')).doctor(call, call.options),
  }),
  localCommand({
    usage: 'connect [client]',
    summary: 'let a client in, or list them',
    args: { client: { about: 'which one', known: clientIds } },
    options: {
      agent: text('--agent <name>', 'the agent it acts as (default: the name of the client)'),
      http: flag('--http', 'over HTTP, the token by reference to a variable'),
      envVar: text('--env-var <name>', 'with --http: the variable that will hold the token'),
      inline: flag('--inline', "write the token itself into the client's file, in plain text"),
      results: choice('--results <form>', 'structured: for programs that read structuredContent', [
        'structured',
      ]),
      dryRun: flag('--dry-run', 'show the change and leave it at that'),
      configFile: configFile(),
      yes: yes(),
      ...toolOptions,
    },
    help: 'Claude Code searches tools itself: cowork connect claude-code --tools all',
    async act(call) {
      const { connect, listClients } = await import('./connect.ts')
      const [client] = call.args
      return client === undefined ? listClients(call) : connect(call, client, call.options)
    },
  }),
  localCommand({
    usage: 'disconnect <client>',
    summary: 'undo connect',
    args: { client: { about: 'which one', known: clientIds } },
    options: {
      keepAgent: flag('--keep-agent', 'do not revoke its agent'),
      configFile: configFile(),
      yes: yes(),
    },
    act: async (call) =>
      (await import('./disconnect.ts')).disconnect(call, call.args[0], call.options),
  }),
  {
    usage: 'service',
    summary: 'start the daemon at login',
    commands: [
      localCommand({
        usage: 'install',
        summary: 'by systemd, launchd or the Task Scheduler of this user',
        options: { print: flag('--print', 'print the text and leave it at that'), yes: yes() },
        act: async (call) => (await import('./service.ts')).installService(call, call.options),
      }),
      localCommand({
        usage: 'remove',
        summary: 'no longer start it at login',
        options: { yes: yes() },
        act: async (call) => (await import('./service.ts')).removeService(call, call.options),
      }),
    ],
  },
  localCommand({
    usage: 'uninstall',
    summary: 'undo connects and services; data stays',
    options: {
      purge: flag('--purge', 'delete the data too, the ledger included'),
      timeout: withDefault(number('--timeout <seconds>', 'how long to wait'), 30),
      yes: yes(),
    },
    act: async (call) => (await import('./disconnect.ts')).uninstall(call, call.options),
  }),
  localCommand({
    usage: 'inspect',
    summary: 'open the MCP Inspector on the daemon',
    options: { print: flag('--print', 'print the command and leave it at that') },
    act: async (call) => (await import('./inspect.ts')).inspect(call, call.options),
  }),
  localCommand({
    usage: 'run [command...]',
    summary: 'start a program with the secrets of --env-file',
    args: { command: { about: 'after two dashes, with its arguments' } },
    help: 'Example: cowork run --env-file .env -- claude',
    act: async (call) => (await import('./run-command.ts')).runWithEnv(call, call.args),
  }),
  localCommand({
    usage: 'completion <shell>',
    summary: 'print a completion script',
    args: { shell: { about: 'for which shell', choices: shells } },
    help: 'bash: source <(cowork completion bash)',
    async act({ command, out, args: [given] }) {
      const { completionScript } = await import('./completion.ts')
      const shell = shells.find((one) => one === given) ?? 'bash'
      const script = completionScript(command.parent ?? command, shell)
      out.data({ shell, script }, () => script.trimEnd().split('\n'))
    },
  }),
]
