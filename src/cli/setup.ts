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
  yesOption,
} from './command.ts'
import type { CommandSpec } from './command.ts'

const configFileOption = () =>
  text('--config-file <file>', "path of the client's config file, if not the default")

export const storeCommands: readonly CommandSpec[] = [
  localCommand({
    usage: 'backup [file]',
    summary: 'back up all state to one file',
    act: async (call) => (await import('./backup.ts')).backup(call, call.args[0]),
  }),
  localCommand({
    usage: 'restore <file>',
    summary: 'restore a backup (daemon stopped)',
    options: { force: flag('--force', 'move existing state aside') },
    act: async (call) => (await import('./backup.ts')).restore(call, call.args[0], call.options),
  }),
  {
    usage: 'storage',
    summary: 'manage the store',
    commands: [
      localCommand({
        usage: 'migrate',
        summary: 'copy the store to another engine (daemon stopped)',
        options: {
          to: required(
            text(
              '--to <place>',
              'target: postgres://…, a reference such as env:NAME, or sqlite:<path>',
            ),
          ),
          write: flag('--write', 'write the new location to the configuration'),
        },
        act: async (call) => (await import('./storage.ts')).migrateStorage(call, call.options),
      }),
    ],
  },
]

export const setupCommands: readonly CommandSpec[] = [
  localCommand({
    usage: 'init',
    summary: 'set up the state directory, configuration and clients',
    options: {
      import: list('--import <files...>', 'import settings from these files too'),
      workspace: text(
        '--workspace <folder>',
        'folder for agents (default: ~/Downloads/AI-Workspace)',
      ),
      grant: list(
        '--grant <folders...>',
        'grant read access to these folders; <folder>:rw also writes',
      ),
      connect: list('--connect <clients...>', 'connect these clients without asking'),
      notify: text('--notify <how>', 'notify through: none, desktop, ntfy or ntfy:<topic>'),
      practice: flag('--practice', 'run the demo at the end'),
      yes: yesOption(),
    },
    help: 'Imports cowork.config.yaml, fileops-mcp.yaml and grants-config.yaml here and in\nyour home folder.',
    act: async (call) => (await import('./init/init.ts')).init(call, call.options),
  }),
  localCommand({
    usage: 'demo',
    summary: 'run simulated agents of different quality',
    options: {
      proposals: withDefault(number('--proposals <count>', 'proposals of each agent'), 45),
      pace: withDefault(number('--pace <ms>', 'pause between proposals'), 40),
      clean: flag('--clean', 'remove everything the demo created'),
    },
    act: async (call) => (await import('./demo/demo.ts')).demo(call, call.options),
  }),
  localCommand({
    usage: 'open [screen]',
    summary: 'open the console in the browser',
    args: { screen: { about: 'console screen', known: screens } },
    options: { print: flag('--print', 'print the sign-in link instead') },
    act: async (call) => (await import('./open.ts')).open(call, call.args[0], call.options),
  }),
  localCommand({
    usage: 'doctor',
    summary: 'diagnose problems and suggest fixes',
    options: { deep: flag('--deep', 'verify the full ledger') },
    act: async (call) => (await import('./doctor/doctor.ts')).doctor(call, call.options),
  }),
  localCommand({
    usage: 'connect [client]',
    summary: 'connect an MCP client, or list clients',
    args: { client: { about: 'client to connect', known: clientIds } },
    options: {
      agent: text('--agent <name>', 'agent id (default: the name of the client)'),
      http: flag('--http', 'connect over HTTP; the token comes from a variable'),
      envVar: text('--env-var <name>', 'with --http: variable that holds the token'),
      inline: flag('--inline', "store the token in the client's file, in plain text"),
      results: choice('--results <form>', 'structured: also send structuredContent', [
        'structured',
      ]),
      dryRun: flag('--dry-run', 'show the change without making it'),
      configFile: configFileOption(),
      yes: yesOption(),
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
    summary: 'disconnect an MCP client',
    args: { client: { about: 'client to disconnect', known: clientIds } },
    options: {
      keepAgent: flag('--keep-agent', 'keep the agent of the client'),
      configFile: configFileOption(),
      yes: yesOption(),
    },
    act: async (call) =>
      (await import('./disconnect.ts')).disconnect(call, call.args[0], call.options),
  }),
  {
    usage: 'service',
    summary: 'manage the login service',
    commands: [
      localCommand({
        usage: 'install',
        summary: 'start the daemon at login (systemd, launchd or Task Scheduler)',
        options: {
          print: flag('--print', 'print the service file without installing it'),
          yes: yesOption(),
        },
        act: async (call) => (await import('./service.ts')).installService(call, call.options),
      }),
      localCommand({
        usage: 'remove',
        summary: 'stop starting the daemon at login',
        options: { yes: yesOption() },
        act: async (call) => (await import('./service.ts')).removeService(call, call.options),
      }),
    ],
  },
  localCommand({
    usage: 'uninstall',
    summary: 'remove connections and the service; keep data',
    options: {
      purge: flag('--purge', 'also delete the data, including the ledger'),
      timeout: withDefault(number('--timeout <seconds>', 'seconds to wait'), 30),
      yes: yesOption(),
    },
    act: async (call) => (await import('./disconnect.ts')).uninstall(call, call.options),
  }),
  localCommand({
    usage: 'inspect',
    summary: 'open the MCP Inspector on the daemon',
    options: { print: flag('--print', 'print the command without running it') },
    act: async (call) => (await import('./inspect.ts')).inspect(call, call.options),
  }),
  localCommand({
    usage: 'run [command...]',
    summary: 'start a program with the secrets of --env-file',
    args: { command: { about: 'program and arguments, after two dashes' } },
    help: 'Example: cowork run --env-file .env -- claude',
    act: async (call) => (await import('./run-command.ts')).runWithEnv(call, call.args),
  }),
  localCommand({
    usage: 'completion <shell>',
    summary: 'print a completion script',
    args: { shell: { about: 'shell', choices: shells } },
    help: 'bash: source <(cowork completion bash)',
    async act({ command, out, args: [name] }) {
      const { completionScript } = await import('./completion.ts')
      const shell = shells.find((shell) => shell === name) ?? 'bash'
      const script = completionScript(command.parent ?? command, shell)
      out.data({ shell, script }, () => script.trimEnd().split('\n'))
    },
  }),
]
