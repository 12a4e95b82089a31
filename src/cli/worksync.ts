import { Command } from 'commander'
import { loadConfig } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { pluralize, createOutput, exitOnBrokenPipe, formatFields, sanitize } from './output.ts'
import type { StartOptions } from './background.ts'
import { createClient } from './client.ts'
import {
  addCommands,
  linesOption,
  flag,
  globalOptions,
  localCommand,
  parsePositiveInt,
  withDefault,
} from './command.ts'
import type { CommandAction } from './command.ts'
import { createContext } from './context.ts'
import type { Context } from './context.ts'
import { toDaemonJson, findRunningDaemon } from './daemon.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { wantsJson, reportAndExit, bufferOutput } from './usage.ts'
import { version } from './launcher.ts'

/** The program of seed 003: daemon commands with the work endpoint enabled (W1, W2). */
async function run(args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok
  const json = wantsJson(args)
  const program = createProgram(async (action, command) => {
    code = (await action(createContext(command.optsWithGlobals()), command)) ?? exitCode.ok
  })
  const getOutput = json ? bufferOutput(program) : undefined
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return reportAndExit(error, createOutput({ json }), getOutput)
  }
}

const auth = flag('--no-auth', 'do not require WORKSYNC_API_KEY (local connections only)')
const timeout = () => withDefault(parsePositiveInt('--timeout <seconds>', 'seconds to wait'), 30)

const commands = [
  localCommand({
    usage: 'run',
    summary: 'run in the foreground (default)',
    isDefault: true,
    options: { auth },
    act: async (call) => (await import('./up.ts')).up(withWorkPort(call), call.options),
  }),
  localCommand({
    usage: 'start',
    summary: 'start in the background',
    options: { auth, timeout: timeout() },
    act: (call) => start(call, call.options),
  }),
  localCommand({
    usage: 'stop',
    summary: 'stop the cowork daemon',
    options: { timeout: timeout() },
    act: async (call) => (await import('./background.ts')).down(call, call.options),
  }),
  localCommand({
    usage: 'restart',
    summary: 'restart in the background',
    options: { auth, timeout: timeout() },
    act: async (call) =>
      (await import('./background.ts')).restart(withWorkPort(call), call.options),
  }),
  localCommand({ usage: 'status', summary: 'show status', act: status }),
  localCommand({
    usage: 'logs',
    summary: 'show the log',
    options: { lines: linesOption(100), follow: flag('-f, --follow', 'follow new output') },
    act: async (call) => (await import('./logs.ts')).logs(call, call.options),
  }),
]

function createProgram(act: (action: CommandAction, command: Command) => Promise<void>): Command {
  const program = new Command('worksync')
    .description('Work items on a separate endpoint, served by the cowork daemon.')
    .version(version())
    .exitOverride()
    .showHelpAfterError('Run `worksync --help` for the list of commands.')
  for (const option of globalOptions) program.addOption(option)
  addCommands(program, commands, act)
  return program
}

/** Sets WORKSYNC_PORT, which enables the work endpoint (W1). */
function withWorkPort(context: Context): Context {
  const { config } = loadConfig({ file: context.configFile, env: context.env })
  const address = { WORKSYNC_PORT: String(config.work.port) }
  const { env, inherited } = context
  return { ...context, env: { ...env, ...address }, inherited: { ...inherited, ...address } }
}

async function start(context: Context, options: StartOptions): Promise<void> {
  const running = findRunningDaemon(context.paths)
  if (running && running.workUrl === undefined)
    throw new CoworkError(
      'not_listening',
      `The work endpoint is off: cowork runs on ${context.paths.dir} (process ${running.pid}) without it.`,
      { hint: 'Run `worksync restart` to enable it; running calls finish first.' },
    )
  return (await import('./background.ts')).start(withWorkPort(context), options)
}

async function status(context: Context): Promise<ExitCode> {
  const { paths, out, env, configFile } = context
  const daemon = findRunningDaemon(paths)
  const { data_root: root } = loadConfig({ file: configFile, env }).config.work
  if (daemon?.workUrl === undefined) {
    const message = daemon
      ? `The work endpoint is off: run \`worksync restart\` to enable it (process ${daemon.pid}).`
      : 'worksync is not running.'
    out.data({ running: false, data_root: root }, () => [message])
    return exitCode.notRunning
  }
  const { projects } = await createClient(context).call('worksync_projects')
  const names = projects.map(({ project }) => project)
  out.data({ running: true, ...toDaemonJson(daemon), data_root: root, projects: names }, () =>
    formatFields({
      worksync: `process ${daemon.pid}, since ${daemon.startedAt}`,
      mcp: daemon.workUrl,
      projects: [pluralize(names.length, 'project'), ...names.slice(0, 20).map(sanitize)].join(
        ', ',
      ),
      data: root,
      log: paths.log,
    }),
  )
  return exitCode.ok
}

exitOnBrokenPipe()
process.exitCode = await run(process.argv.slice(2))
