import { CoworkError } from '#base/errors.ts'
import { followOption, linesOption } from './audit.ts'
import { choice, flag, localCommand, timeoutOption, text, toolCommand } from './command.ts'
import { resolvePrefix } from './lookup.ts'
import { sanitizeForTerminal } from './output.ts'

const haltCommands = [
  toolCommand({
    usage: 'halt [scope]',
    summary: 'refuse new calls of agents',
    options: {
      reason: text('--reason <text>', 'reason, shown to people and agents'),
      force: flag('--force', 'halt an unknown name'),
    },
    help: 'A scope is all (default), agent:<id>, domain:<name> or server:<name>.',
    tool: 'cowork_halt',
    input: ({ args: [scope = 'all'], options: { reason = '', force = false } }) => ({
      scope,
      reason,
      force,
    }),
    show: ({ scope }) => [
      `Halted ${sanitizeForTerminal(scope)}. Resume with: cowork resume ${quoteForShell(scope)}`,
    ],
  }),
  toolCommand({
    usage: 'resume [scope]',
    summary: 'lift a halt',
    tool: 'cowork_resume',
    async input({ client, args: [given = 'all'] }) {
      const { halts } = await client.call('cowork_status')
      if (halts.length === 0) throw new CoworkError('not_found', 'No halt is active.')
      const scopes = halts.map(({ scope }) => scope)
      return { scope: resolvePrefix(given, scopes, 'halt') }
    },
    show: ({ scope }) => [`Resumed ${sanitizeForTerminal(scope)}.`],
  }),
]

/** Quotes a word for a POSIX shell, so that the printed command can be pasted. */
const quoteForShell = (word: string): string =>
  /^[\w:.@/-]+$/.test(word)
    ? word
    : `'${sanitizeForTerminal(word).replaceAll("'", String.raw`'\''`)}'`

const startOptions = {
  port: text('--port <number>', 'port to listen on (0: any free port)'),
  auth: flag('--no-auth', 'do not require WORKSYNC_API_KEY on the work endpoint'),
  timeout: timeoutOption(),
}

export const lifecycleCommands = [
  localCommand({
    usage: 'up',
    summary: 'run the daemon in the foreground',
    options: {
      detach: flag('-d, --detach', 'run in the background'),
      detached: flag('--detached').hideHelp(),
      freePort: flag('--free-port').hideHelp(),
      ...startOptions,
    },
    act: async (call) =>
      call.options.detach
        ? (await import('./background.ts')).start(call, call.options)
        : (await import('./up.ts')).up(call, call.options),
  }),
  localCommand({
    usage: 'start',
    summary: 'start the daemon in the background (up -d)',
    options: startOptions,
    act: async (call) => (await import('./background.ts')).start(call, call.options),
  }),
  localCommand({
    usage: 'down',
    summary: 'stop the daemon after running calls finish',
    alias: 'stop',
    options: { timeout: timeoutOption() },
    act: async (call) => (await import('./background.ts')).down(call, call.options),
  }),
  localCommand({
    usage: 'restart',
    summary: 'restart the daemon in the background',
    options: startOptions,
    act: async (call) => (await import('./background.ts')).restart(call, call.options),
  }),
  localCommand({
    usage: 'status',
    summary: 'show daemon status',
    act: async (call) => (await import('./status.ts')).status(call),
  }),
  localCommand({
    usage: 'logs',
    summary: 'show the daemon log',
    options: { lines: linesOption(100), follow: followOption() },
    act: async (call) => (await import('./logs.ts')).logs(call, call.options),
  }),
  ...haltCommands,
  localCommand({
    usage: 'mcp',
    summary: 'serve MCP over stdio; start the daemon if needed',
    options: {
      agent: text('--agent <name>', 'use the stored token of this agent'),
      tools: text('--tools <names>', 'list these toolsets or tools (comma-separated), core or all'),
      exclude: text('--exclude <names>', 'block these toolsets and tools'),
      readOnly: flag('--read-only', 'list only tools that read, request access or report'),
      results: choice('--results <form>', 'also send results as structured data', ['structured']),
    },
    act: async (call) => (await import('./mcp.ts')).mcp(call, call.options),
  }),
]
