import { follow, lines } from './audit.ts'
import { localCommand } from './command.ts'
import { choice, flag, seconds, text } from './option-kinds.ts'
import { haltCommands } from './halt.ts'

const starting = {
  port: text('--port <number>', 'port to listen on; 0 takes a free one'),
  auth: flag('--no-auth', 'the address for work asks for no WORKSYNC_API_KEY'),
  timeout: seconds(),
}

/** The daemon itself: start, stop, look, halt. */
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
