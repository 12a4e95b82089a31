import { unifiedDiff } from '#base/unified-diff.ts'
import type { ToolResults } from '#wire'
import { choice, flag, repeated, text, toolCommand } from './command.ts'
import type { CommandSpec } from './command.ts'
import { usageError } from './exit.ts'
import { formatMinute, pluralize, sanitize, sanitizeLines, formatRows } from './output.ts'

type Server = ToolResults['cowork_servers']['servers'][number]
type Quarantined = ToolResults['cowork_server_tools']['quarantined'][number]

export const serversCommand: CommandSpec = {
  usage: 'servers',
  summary: 'manage the MCP servers behind cowork',
  commands: [
    toolCommand({
      usage: 'list',
      alias: 'ls',
      isDefault: true,
      summary: 'list servers and their state',
      tool: 'cowork_servers',
      show: ({ servers }) =>
        formatRows(servers, 'No servers. Add one with `cowork servers add`.', {
          SERVER: ({ name }) => name,
          STATE: ({ status }) => status.state,
          TRANSPORT: ({ status }) => status.transport,
          TOOLS: formatToolCount,
          CALLS: ({ calls, errors }) => (errors === 0 ? `${calls}` : `${calls} (${errors} failed)`),
          LATENCY: ({ latency_ms: ms }) => (ms === null ? '-' : `${Math.round(ms.p50)} ms`),
          ERROR: ({ status }) => status.lastError ?? '-',
        }),
      notes: ({ settings_path: path, settings_error: error }) =>
        error === null ? [] : [sanitize(error), `The last valid settings stay active: ${path}`],
    }),
    toolCommand({
      usage: 'add <name> [target...]',
      summary: 'add a server: a URL, or -- and a command',
      help: 'Examples:\n  cowork servers add memory -- npx -y @modelcontextprotocol/server-memory\n  cowork servers add acme https://mcp.example.com',
      options: {
        description: text('--description <text>', 'what agents read about the server'),
        env: repeated('--env <name=value>', 'variable of the process; may repeat'),
        header: repeated('--header <name=value>', 'HTTP header; may repeat'),
        sse: flag('--sse', 'the URL speaks HTTP+SSE of 2024-11-05'),
      },
      person: 'Add a server',
      tool: 'cowork_add_server',
      input: ({ args: [name, ...target], options: { description, env, header, sse } }) => ({
        name,
        description,
        ...parseTarget(target),
        ...(env && { env: parsePairs(env, '--env') }),
        ...(header && { headers: parsePairs(header, '--header') }),
        ...(sse && { sse }),
      }),
      show: ({ server, settings_path: path }) =>
        server.status.state === 'ready'
          ? `Added ${server.name}: ${pluralize(server.tools, 'tool')} (${path}).`
          : `Added ${server.name}, not connected yet: ${server.status.lastError ?? server.status.state}.`,
    }),
    toolCommand({
      usage: 'tools <server>',
      summary: 'list the tools of a server, and what is quarantined',
      options: {
        effect: choice('--effect <effect>', 'only tools with this effect', [
          'read',
          'write',
          'destructive',
        ]),
      },
      tool: 'cowork_server_tools',
      input: ({ args: [server] }) => ({ server }),
      show: ({ tools, quarantined, flags }, { options: { effect } }) => [
        ...formatRows(
          tools.filter((tool) => effect === undefined || tool.effect === effect),
          'No tools.',
          { TOOL: ({ name }) => name, EFFECT: (tool) => tool.effect, TITLE: ({ title }) => title },
        ),
        ...quarantined.flatMap(formatQuarantined),
        ...flags.map(({ tool, message }) => sanitize(`Warning: ${tool}: ${message}`)),
      ],
      notes: ({ server, quarantined }) =>
        quarantined.length === 0
          ? []
          : [`Accept them with \`cowork servers accept ${server} [tool...]\`.`],
    }),
    toolCommand({
      usage: 'test <server>',
      summary: 'connect to a server again and show the result',
      tool: 'cowork_restart_server',
      input: ({ args: [server] }) => ({ server }),
      show: (server) =>
        server.status.state === 'ready'
          ? `${server.name} is connected: ${formatToolCount(server)} tools (protocol ${server.protocol_version ?? 'unknown'}).`
          : `${server.name} is not connected: ${server.status.lastError ?? server.status.state}.`,
      exit: ({ status }) => (status.state === 'ready' ? 0 : 1),
    }),
    toolCommand({
      usage: 'logs <server>',
      summary: 'show what a server wrote to its standard error',
      tool: 'cowork_server_logs',
      input: ({ args: [server] }) => ({ server }),
      show: ({ lines }) =>
        lines.length === 0
          ? ['No output.']
          : lines.map(({ at, line }) => `${formatMinute(at)} ${sanitize(line)}`),
    }),
    toolCommand({
      usage: 'accept <server> [tools...]',
      summary: 'accept quarantined tools as they are now',
      person: 'Accept tools',
      tool: 'cowork_accept_tools',
      input: ({ args: [server, ...tools] }) => ({
        server,
        ...(tools.length > 0 && { tools }),
      }),
      show: ({ accepted }) =>
        accepted.length === 0
          ? 'Nothing is quarantined.'
          : `Accepted ${pluralize(accepted.length, 'tool')}: ${accepted.join(', ')}.`,
    }),
    toolCommand({
      usage: 'remove <server>',
      alias: 'rm',
      summary: 'remove a server',
      person: 'Remove a server',
      tool: 'cowork_remove_server',
      input: ({ args: [server] }) => ({ server }),
      show: ({ server, settings_path: path }) => `Removed ${server} (${path}).`,
    }),
  ],
}

const formatToolCount = ({ tools, quarantined }: Server): string =>
  quarantined === 0 ? `${tools}` : `${tools} (${quarantined} quarantined)`

function parseTarget(target: readonly string[]): object {
  const [first, ...rest] = target
  if (first === undefined)
    throw usageError('A server needs a URL or a command.', 'Write a URL, or -- and the command.')
  if (rest.length === 0 && /^https?:\/\//.test(first)) return { url: first }
  return { command: first, args: rest }
}

function parsePairs(pairs: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usageError(`Invalid ${option}: ${pair}.`, 'Write it as name=value.')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

function formatQuarantined({ tool, reason, before, after }: Quarantined): string[] {
  const toText = (definition: object | null) =>
    definition === null ? '' : `${JSON.stringify(definition, undefined, 2)}\n`
  return [
    '',
    sanitize(`Quarantined (${reason}): ${tool}`),
    ...sanitizeLines(
      unifiedDiff({ name: 'accepted', text: toText(before) }, { name: 'now', text: toText(after) }),
    ),
  ]
}
