import * as z from 'zod'
import { forPeople } from '#base/builtin-tools.ts'
import { toActor } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import type { ManagedServer, McpServerManager } from './manager.ts'
import { limitResult, maskResult } from './result.ts'
import type { SettingsFile } from './settings-file.ts'
import { gatewayResults } from './wire.ts'
import type { QuarantineResult, ServerResult } from './wire.ts'

type Deps = {
  readonly db: Db
  readonly manager: McpServerManager
  readonly file: SettingsFile
  /** The tools of one server as agents see them. */
  readonly listTools: (server: ManagedServer) => readonly Tool[]
  readonly maskSecrets: (text: string) => string
}

const serverField = z.string().min(1).max(100).describe('Name of the server')
const cursor = z.string().max(1000).optional()
const texts = z.record(z.string(), z.string())

/** Tools about the servers themselves. The tools that the servers offer are in `upstream-tool.ts`. */
export function gatewayTools({ db, manager, file, listTools, maskSecrets }: Deps): Tool[] {
  const requestResource = async (
    server: string,
    method: 'resources/list' | 'resources/templates/list' | 'resources/read',
    params: Readonly<Record<string, unknown>>,
    { signal }: Call,
  ) =>
    maskResult(limitResult(await manager.request(server, method, params, { signal })), maskSecrets)

  return [
    defineTool({
      ...forPeople.read,
      name: 'cowork_servers',
      title: 'Servers',
      description: 'List the MCP servers behind cowork with their state and number of tools.',
      input: z.strictObject({}),
      output: gatewayResults.cowork_servers,
      read: () =>
        Promise.resolve({
          servers: manager.list().map(toServerResult),
          settings_path: manager.settingsPath,
          settings_error: manager.settingsError() ?? null,
        }),
    }),
    defineTool({
      ...forPeople.read,
      name: 'cowork_server_tools',
      title: 'Tools of a server',
      description:
        'List the tools of one server, quarantined tools with what changed, and warnings.',
      input: z.strictObject({ server: serverField }),
      output: gatewayResults.cowork_server_tools,
      read({ server: name }) {
        const server = manager.get(name)
        const { remote, quarantined, flags } = server
        const governed = listTools(server)
        return Promise.resolve({
          server: name,
          tools: governed.map((tool, at) => ({
            name: tool.name,
            tool: server.accepted[at]?.name ?? tool.name,
            title: tool.title,
            description: tool.description,
            effect: tool.effect,
            listed: true,
          })),
          quarantined: quarantined.map(
            ({ tool, reason, before, definition }): QuarantineResult => ({
              tool,
              reason,
              before: before ?? null,
              after: definition,
            }),
          ),
          flags: [...flags],
          raw: remote.tools().map((tool) => ({ ...tool })),
        })
      },
    }),
    defineTool({
      ...forPeople.read,
      name: 'cowork_server_logs',
      title: 'Logs of a server',
      description: 'Return the last lines that a stdio server wrote to its standard error.',
      role: 'reviewer',
      input: z.strictObject({ server: serverField }),
      output: gatewayResults.cowork_server_logs,
      read: ({ server }) =>
        Promise.resolve({
          server,
          lines: manager
            .get(server)
            .remote.stderr()
            .map(({ at, line }) => ({ at: formatRfc3339(at), line: maskSecrets(line) })),
        }),
    }),
    defineTool({
      ...forPeople.read,
      name: 'cowork_server_resources',
      title: 'Resources of a server',
      description: 'List the resources, or the resource templates, of a server behind cowork.',
      input: z.strictObject({
        server: serverField,
        templates: z.boolean().default(false).describe('List templates instead'),
        cursor,
      }),
      output: gatewayResults.cowork_server_resources,
      describeTarget: ({ server }) => ({ domain: server, target: 'resources' }),
      read: ({ server, templates, cursor: from }, call) =>
        requestResource(
          server,
          templates ? 'resources/templates/list' : 'resources/list',
          from === undefined ? {} : { cursor: from },
          call,
        ),
    }),
    defineTool({
      ...forPeople.read,
      name: 'cowork_server_resource',
      title: 'Read a resource of a server',
      description: 'Read one resource of a server behind cowork by its URI.',
      input: z.strictObject({ server: serverField, uri: z.string().min(1).max(4000) }),
      output: gatewayResults.cowork_server_resource,
      describeTarget: ({ server, uri }) => ({ domain: server, target: uri }),
      read: ({ server, uri }, call) => requestResource(server, 'resources/read', { uri }, call),
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_add_server',
      title: 'Add a server',
      description: 'Add an MCP server behind cowork: a command, or a URL.',
      role: 'owner',
      requiresPasskey: true,
      input: z.strictObject({
        name: serverField,
        description: z.string().max(500).optional(),
        command: z.string().min(1).optional().describe('Program of a stdio server'),
        args: z.array(z.string()).optional(),
        env: texts.optional().describe('Variables; use keychain: or file: references for secrets'),
        cwd: z.string().optional(),
        url: z.string().optional().describe('URL of a remote server'),
        sse: z.boolean().default(false).describe('The URL speaks HTTP+SSE of 2024-11-05'),
        headers: texts.optional(),
      }),
      output: gatewayResults.cowork_add_server,
      example: { name: 'memory', command: 'npx', args: ['@modelcontextprotocol/server-memory'] },
      describeTarget: ({ name }) => ({ domain: 'cowork', target: name }),
      toPayload: ({ name, description, command, args, url }) => ({
        name,
        description,
        command,
        args,
        url,
      }),
      async run({ name, description, sse, ...transport }, call) {
        file.add({
          name,
          ...(description !== undefined && { description }),
          transport: toTransport(transport, sse),
        })
        await manager.reload()
        const { remote } = manager.get(name)
        await remote.settled()
        return {
          output: { server: toServerResult(manager.get(name)), settings_path: file.path },
          finalize: (tx) =>
            Promise.resolve(
              tx.append({
                type: 'server.added',
                actor: toActor(call.caller),
                subject: name,
                ids: { call: call.id },
              }),
            ),
        }
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_remove_server',
      title: 'Remove a server',
      description: 'Remove an MCP server from behind cowork. Its accepted tools stay on record.',
      role: 'owner',
      requiresPasskey: true,
      input: z.strictObject({ server: serverField }),
      output: gatewayResults.cowork_remove_server,
      describeTarget: ({ server }) => ({ domain: 'cowork', target: server }),
      async run({ server }, call) {
        manager.get(server)
        file.remove(server)
        await manager.reload()
        return {
          output: { server, settings_path: file.path },
          finalize: (tx) =>
            Promise.resolve(
              tx.append({
                type: 'server.removed',
                actor: toActor(call.caller),
                subject: server,
                ids: { call: call.id },
              }),
            ),
        }
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_restart_server',
      title: 'Restart a server',
      description: 'Connect to a server again now.',
      input: z.strictObject({ server: serverField }),
      output: gatewayResults.cowork_restart_server,
      describeTarget: ({ server }) => ({ domain: 'cowork', target: server }),
      async run({ server }) {
        await manager.get(server).remote.restart()
        return { output: toServerResult(manager.get(server)) }
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_accept_tools',
      title: 'Accept tools of a server',
      description: 'Accept quarantined tools as they are now, so that agents can use them.',
      role: 'owner',
      requiresPasskey: true,
      input: z.strictObject({
        server: serverField,
        tools: z.array(z.string()).min(1).optional().describe('Default: all quarantined tools'),
      }),
      output: gatewayResults.cowork_accept_tools,
      describeTarget: ({ server }) => ({ domain: 'cowork', target: server }),
      async run({ server, tools }, { caller }) {
        const accepted = await db.transact((tx) =>
          manager.accept(tx, server, { tools, actor: toActor(caller) }),
        )
        await manager.recheck(server)
        return { output: { server, accepted: [...accepted] } }
      },
    }),
  ]
}

function toTransport(
  { command, args, env, cwd, url, headers }: Readonly<Record<string, unknown>>,
  isSse: boolean,
): Record<string, unknown> {
  if ((command === undefined) === (url === undefined))
    throw new CoworkError('invalid_input', 'A server has either a command or a URL.', {
      hint: 'Set exactly one of command and url.',
    })
  const defined = (fields: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return command === undefined
    ? defined({ type: isSse ? 'sse' : 'streamableHttp', url, headers })
    : defined({ type: 'stdio', command, args, env, cwd })
}

function toServerResult({ remote, accepted, quarantined }: ManagedServer): ServerResult {
  const { state, transport, lastError, authRequired, ...status } = remote.status()
  return {
    name: remote.name,
    description: remote.settings.description,
    status: {
      state,
      transport,
      ...(lastError !== undefined && { lastError }),
      ...(authRequired && { authRequired }),
    },
    protocol_version: status.protocolVersion ?? null,
    tools: accepted.length,
    quarantined: quarantined.length,
    calls: status.callCount,
    errors: status.errorCount,
    restarts: status.restartCount,
    latency_ms: status.latency ?? null,
    retry_at: status.retryAt === undefined ? null : formatRfc3339(status.retryAt),
  }
}
