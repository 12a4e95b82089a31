import { CoworkError } from '#base/errors.ts'
import { follow, lines } from './audit.ts'
import { choice, flag, localCommand, seconds, text, toolCommand } from './command.ts'
import { resolvePrefix } from './lookup.ts'
import { sanitizeForTerminal } from './output.ts'

const haltCommands = [
  toolCommand({
    usage: 'halt [scope]',
    summary: 'refuse new calls of agents',
    options: {
      reason: text('--reason <text>', 'why, for the people and agents who ask'),
      force: flag('--force', 'halt a name that is not known yet'),
    },
    help: 'A scope is all (default), agent:<id>, domain:<name> or server:<name>.',
    tool: 'cowork_halt',
    input: ({ args: [scope = 'all'], options: { reason = '', force = false } }) => ({
      scope,
      reason,
      force,
    }),
    show: ({ scope }) => [
      `Halted: ${sanitizeForTerminal(scope)}. Resume with: cowork resume ${shellWord(scope)}`,
    ],
  }),
  toolCommand({
    usage: 'resume [scope]',
    summary: 'lift a halt',
    tool: 'cowork_resume',
    async input({ client, args: [given = 'all'] }) {
      const { halts } = await client.call('cowork_status')
      if (halts.length === 0) throw new CoworkError('not_found', 'Nothing is halted.')
      const scopes = halts.map(({ scope }) => scope)
      return { scope: resolvePrefix(given, scopes, 'halt') }
    },
    show: ({ scope }) => [`Resumed: ${sanitizeForTerminal(scope)}.`],
  }),
]

/** One word for a POSIX shell, so that the printed command works as it is. */
const shellWord = (word: string): string =>
  /^[\w:.@/-]+$/.test(word)
    ? word
    : `'${sanitizeForTerminal(word).replaceAll("'", String.raw`'\''`)}'`

const starting = {
  port: text('--port <number>', 'port to listen on; 0 takes a free one'),
  auth: flag('--no-auth', 'the address for work asks for no WORKSYNC_API_KEY'),
  timeout: seconds(),
}

export const lifeCommands = [
  localCommand({
    usage: 'up',
    summary: 'run the daemon, in the foreground',
    options: {
      detach: flag('-d, --detach', 'in the background'),
      detached: flag('--detached').hideHelp(),
      freePort: flag('--free-port').hideHelp(),
      ...starting,
    },
    act: async (call) =>
      call.options.detach
        ? (await import('./background.ts')).start(call, call.options)
        : (await import('./up.ts')).up(call, call.options),
  }),
  localCommand({
    usage: 'start',
    summary: 'the same as up -d',
    options: starting,
    act: async (call) => (await import('./background.ts')).start(call, call.options),
  }),
  localCommand({
    usage: 'down',
    summary: 'end the daemon after the calls under way',
    alias: 'stop',
    options: { timeout: seconds() },
    act: async (call) => (await import('./background.ts')).down(call, call.options),
  }),
  localCommand({
    usage: 'restart',
    summary: 'down, then up -d',
    options: starting,
    act: async (call) => (await import('./background.ts')).restart(call, call.options),
  }),
  localCommand({
    usage: 'status',
    summary: 'whether it runs and how it stands',
    act: async (call) => (await import('./status.ts')).status(call),
  }),
  localCommand({
    usage: 'logs',
    summary: "the daemon's log",
    options: { lines: lines(100), follow: follow() },
    act: async (call) => (await import('./logs.ts')).logs(call, call.options),
  }),
  ...haltCommands,
  localCommand({
    usage: 'mcp',
    summary: 'serve MCP over stdio, starting the daemon if none runs',
    options: {
      agent: text('--agent <name>', 'act with the token kept for this agent'),
      tools: text(
        '--tools <names>',
        'list these tools and toolsets, separated by commas; or core, or all',
      ),
      exclude: text('--exclude <names>', 'neither list nor call these tools and toolsets'),
      readOnly: flag('--read-only', 'list and call only tools that read, ask and report'),
      results: choice('--results <form>', 'send every result as structured data too', [
        'structured',
      ]),
    },
    act: async (call) => (await import('./mcp.ts')).mcp(call, call.options),
  }),
]
