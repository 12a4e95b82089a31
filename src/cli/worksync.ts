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
import type { Act } from './command.ts'
import { createContext } from './context.ts'
import type { Context } from './context.ts'
import { toDaemonJson, findRunningDaemon } from './daemon.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { wantsJson, reportAndExit, bufferOutput } from './usage.ts'
import { version } from './launcher.ts'

/** Seed 003's program: the daemon's own commands, with the address for work open (W1, W2). */
async function run(args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok
  const json = wantsJson(args)
  const program = createProgram(async (verb, command) => {
    code = (await verb(createContext(command.optsWithGlobals()), command)) ?? exitCode.ok
  })
  const said = json ? bufferOutput(program) : undefined
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return reportAndExit(error, createOutput({ json }), said)
  }
}

const auth = flag('--no-auth', 'ask for no WORKSYNC_API_KEY; on this machine only')
const timeout = () => withDefault(parsePositiveInt('--timeout <seconds>', 'how long to wait'), 30)

const commands = [
  localCommand({
    usage: 'run',
    summary: 'in the foreground; so does `worksync` alone',
    isDefault: true,
    options: { auth },
    act: async (call) => (await import('./up.ts')).up(listening(call), call.options),
  }),
  localCommand({
    usage: 'start',
    summary: 'in the background',
    options: { auth, timeout: timeout() },
    act: (call) => start(call, call.options),
  }),
  localCommand({
    usage: 'stop',
    summary: 'end it, and with it all of cowork',
    options: { timeout: timeout() },
    act: async (call) => (await import('./background.ts')).down(call, call.options),
  }),
  localCommand({
    usage: 'restart',
    summary: 'stop, then start',
    options: { auth, timeout: timeout() },
    act: async (call) => (await import('./background.ts')).restart(listening(call), call.options),
  }),
  localCommand({ usage: 'status', summary: 'whether it runs, and where', act: status }),
  localCommand({
    usage: 'logs',
    summary: 'its log',
    options: { lines: linesOption(100), follow: flag('-f, --follow', 'go on with what comes') },
    act: async (call) => (await import('./logs.ts')).logs(call, call.options),
  }),
]

function createProgram(act: (verb: Act, command: Command) => Promise<void>): Command {
  const program = new Command('worksync')
    .description('The plan of work at an address of its own. It is served by the cowork daemon.')
    .version(version())
    .exitOverride()
    .showHelpAfterError('`worksync --help` lists the commands.')
  for (const option of globalOptions) program.addOption(option)
  addCommands(program, commands, act)
  return program
}

/** To set the port is to ask for the address (W1), here as for whoever sets it by hand. */
function listening(context: Context): Context {
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
      `cowork runs on ${context.paths.dir} (process ${running.pid}), without an address for work.`,
      { hint: '`worksync restart` opens it; calls under way are finished first.' },
    )
  return (await import('./background.ts')).start(listening(context), options)
}

async function status(context: Context): Promise<ExitCode> {
  const { paths, out, env, configFile } = context
  const daemon = findRunningDaemon(paths)
  const { data_root: root } = loadConfig({ file: configFile, env }).config.work
  if (daemon?.workUrl === undefined) {
    const said = daemon
      ? `cowork runs (process ${daemon.pid}), without an address for work: \`worksync restart\` opens it.`
      : 'worksync does not run.'
    out.data({ running: false, data_root: root }, () => [said])
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
