import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { parseYaml } from '#base/config/yaml.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { randomHex } from '#base/ids.ts'
import type { StatePaths } from '#base/state.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'
import { exitCode } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { createHttpClient, createLineClient, initialize, listTools } from '../mcp-client.ts'
import type { McpClient } from '../mcp-client.ts'
import { buildHello } from '../mcp.ts'
import { pluralize, sanitize } from '../output.ts'
import { loadSettings } from '../settings.ts'

export type WorkClient = McpClient & {
  readonly name: string
  /** Whether the endpoint has only the work tools (W1). */
  readonly isForWork: boolean
  close(): Promise<void> | void
}

/** The handshake that the bridge sends before the client's first byte. */
type Hello = { readonly cowork: number; readonly token?: string; readonly agent?: string }

const clientName = 'cowork-verify'
const revision = '2025-11-25'

async function connectStdio(paths: StatePaths, hello: Hello): Promise<WorkClient> {
  const socket = connect(paths.socket)
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.write(`${JSON.stringify({ ...hello, tools: ['work'] })}\n`)
  const client = createLineClient(socket, (line) => void socket.write(line))
  await initialize(client, clientName, revision)
  return { ...client, name: 'stdio', isForWork: false, close: () => void socket.destroy() }
}

/** Connects to the work endpoint over Streamable HTTP. */
async function connectHttp(url: string, token: string | undefined): Promise<WorkClient> {
  const { end: close, ...client } = createHttpClient(url, token, revision)
  await initialize(client, clientName, revision)
  return { ...client, name: url, isForWork: true, close }
}

/** The tools of WorkSync. */
export const worksyncTools = [
  'worksync_projects',
  'worksync_guidance',
  'worksync_add_backlog',
  'worksync_update_backlog',
  'worksync_create_sprint',
  'worksync_update_sprint',
  'worksync_add_story',
  'worksync_update_story',
  'worksync_status',
  'worksync_done',
  'worksync_history',
  'worksync_remove_backlog',
  'worksync_sync',
] as const
type WorksyncTool = (typeof worksyncTools)[number]

export type Check = { readonly name: string; readonly fault?: string }

type Answer = Readonly<Record<string, unknown>>
type Step = {
  readonly tool: WorksyncTool
  readonly args: object
  readonly expected: object
}

const item = 'check-item'
const sprint = 'check-sprint'
const story = 'STORY-1'

/** Calls each tool once on a new project; each step starts from the result of the previous one. */
export const steps: readonly Step[] = [
  { tool: 'worksync_projects', args: {}, expected: { projects: [{ stories: 0 }] } },
  { tool: 'worksync_guidance', args: {}, expected: { guidance: [], topics: [] } },
  {
    tool: 'worksync_add_backlog',
    args: { item_id: item, summary: 'Checks the backlog' },
    expected: { item: { id: item, status: 'todo', rev: 1 } },
  },
  {
    tool: 'worksync_update_backlog',
    args: { item_id: item, priority: 'high', expect_rev: 1 },
    expected: { item: { priority: 'high', summary: 'Checks the backlog', rev: 2 } },
  },
  {
    tool: 'worksync_create_sprint',
    args: { sprint_id: sprint, title: 'Checks', status: 'active' },
    expected: { sprint: { id: sprint, status: 'active' } },
  },
  {
    tool: 'worksync_update_sprint',
    args: { sprint_id: sprint, goal: 'Every tool answers' },
    expected: { sprint: { goal: 'Every tool answers', title: 'Checks' } },
  },
  {
    tool: 'worksync_add_story',
    args: { sprint_id: sprint, title: 'Checks a story' },
    expected: { story: { id: story, status: 'planned', sprint_id: sprint } },
  },
  {
    tool: 'worksync_update_story',
    args: { story_id: story, status: 'in_progress', append_notes: 'under way' },
    expected: { story: { status: 'in_progress', notes: 'under way' } },
  },
  {
    tool: 'worksync_status',
    args: {},
    expected: { projects: [{ active_sprints: [{ id: sprint }], in_progress: [{ id: story }] }] },
  },
  {
    tool: 'worksync_done',
    args: { story_id: story, summary: 'All of it answers' },
    expected: { story: { status: 'done' }, history: { summary: 'All of it answers' } },
  },
  { tool: 'worksync_history', args: {}, expected: { history: [{ summary: 'All of it answers' }] } },
  {
    tool: 'worksync_remove_backlog',
    args: { item_id: item },
    expected: { removed: { id: item } },
  },
  { tool: 'worksync_sync', args: {}, expected: {} },
]

/** Calls every WorkSync tool on a temporary project and continues after failures. */
export async function checkClient(mcpClient: WorkClient, project: string): Promise<Check[]> {
  const checks: Check[] = [await runCheck('tools/list', () => checkListed(mcpClient))]
  for (const { tool, args, expected } of steps)
    checks.push(
      await runCheck(tool, async () => {
        const answer = await callTool(mcpClient, tool, { project, ...args })
        const fault = describeMismatch(expected, answer, '')
        if (fault !== undefined) throw new CoworkError('failed', fault)
      }),
    )
  checks.push(
    await runCheck('worksync_sync again', async () => {
      const { written } = await callTool(mcpClient, 'worksync_sync', { project })
      if (written !== 0)
        throw new CoworkError('failed', `wrote ${String(written)} notes without changes`)
    }),
  )
  return checks
}

async function runCheck(name: string, act: () => Promise<void> | void): Promise<Check> {
  try {
    await act()
    return { name }
  } catch (error) {
    return { name, fault: errorMessage(error) }
  }
}

async function checkListed(mcpClient: WorkClient): Promise<void> {
  const names = (await listTools(mcpClient)).map(({ name }) => name)
  const missing = worksyncTools.filter((tool) => !names.includes(tool))
  if (missing.length > 0) throw new CoworkError('failed', `does not list ${missing.join(', ')}`)
  const unexpected = names.filter((name) => !name.startsWith('worksync_'))
  if (mcpClient.isForWork && unexpected.length > 0)
    throw new CoworkError('failed', `also lists ${unexpected.join(', ')}`)
}

async function callTool(mcpClient: WorkClient, tool: string, args: object): Promise<Answer> {
  const result = (await mcpClient.request('tools/call', { name: tool, arguments: args })) as {
    isError?: boolean
    structuredContent?: Answer
    content?: { text?: string }[]
  }
  if (result.isError)
    throw new CoworkError('failed', result.content?.[0]?.text ?? 'failed without a message')
  return result.structuredContent ?? {}
}

/**
 * Describes the first expected value that is missing or different; additional values do not matter.
 */
export function describeMismatch(
  expected: unknown,
  found: unknown,
  path: string,
): string | undefined {
  if (typeof expected !== 'object' || expected === null)
    return expected === found
      ? undefined
      : `${path} is ${JSON.stringify(found) ?? 'absent'}, not ${JSON.stringify(expected)}`
  if (typeof found !== 'object' || found === null) return `${path || 'the result'} is absent`
  const fields = found as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(expected)) {
    const fault = describeMismatch(value, fields[key], path === '' ? key : `${path}.${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

const agentName = 'work-verify'

/**
 * Runs the WorkSync client check against the running daemon: every tool over MCP, over stdio and
 * over the work endpoint if it is open (W42).
 */
export async function verifyWork(
  context: Context,
  { agent }: { readonly agent?: string },
): Promise<ExitCode> {
  const { paths, out } = context
  const client = createClient(context)
  const caller = await chooseCaller(context, client, agent)
  const results: { readonly over: string; readonly checks: readonly Check[] }[] = []
  try {
    const url = findRunningDaemon(paths)?.workUrl
    const connectors = [
      () => connectStdio(paths, caller.hello),
      ...(url === undefined ? [] : [() => connectHttp(url, caller.hello.token)]),
    ]
    for (const open of connectors) {
      const mcpClient = await open()
      try {
        results.push({
          over: mcpClient.name,
          checks: await checkOnTemporaryProject(client, mcpClient),
        })
      } finally {
        await mcpClient.close()
      }
    }
  } finally {
    await caller.end()
  }
  const failed = results.flatMap(({ checks }) => checks).filter(({ fault }) => fault !== undefined)
  out.data({ ok: failed.length === 0, over: results }, () =>
    results.flatMap(({ over, checks }) => [
      `over ${sanitize(over)}`,
      ...checks.map(({ name, fault }) =>
        fault === undefined ? `  ok    ${name}` : `  FAIL  ${name}: ${sanitize(fault)}`,
      ),
    ]),
  )
  if (failed.length === 0) return exitCode.ok
  out.note(`${pluralize(failed.length, 'check')} failed. See the daemon log: ${paths.log}.`)
  return exitCode.failed
}

type CheckCaller = { readonly hello: Hello; end(): Promise<void> }

/** Chooses the agent of the check: the given one, an unauthenticated one, or a temporary one. */
async function chooseCaller(
  context: Context,
  client: Client,
  agent: string | undefined,
): Promise<CheckCaller> {
  const { paths, env } = context
  const hello: Hello = { cowork: 1, ...buildHello({ paths, env, agent: agent ?? agentName }) }
  const { auth } = await client.call('cowork_status')
  const unchanged = { hello, end: async () => undefined }
  if (hello.token !== undefined) return unchanged
  if (auth === 'open') {
    const { api_key: token } = (await loadSettings(context)).config.work
    const { agents } = await client.call('cowork_list_agents')
    // With WORKSYNC_API_KEY set, the holder of the key is one of the agents (W2).
    if (token === undefined || !agents.some(({ id }) => id === 'worksync')) return unchanged
    return { ...unchanged, hello: { cowork: 1, token } }
  }
  if (agent !== undefined)
    throw new CoworkError('auth_error', `No stored token for ${sanitize(agent)}.`, {
      hint: 'Omit --agent to use a temporary agent.',
    })
  const created = await client.call('cowork_add_agent', {
    id: agentName,
    scopes: ['*:work'],
  })
  const end = async () => void (await client.call('cowork_revoke_agent', { id: agentName }))
  return { hello: { cowork: 1, token: created.token }, end }
}

/** Runs the check on a temporary project. */
async function checkOnTemporaryProject(client: Client, mcpClient: WorkClient): Promise<Check[]> {
  const project = `verify-${randomHex(4)}`
  await client.call('worksync_register_project', {
    project,
    description: 'cowork work verify',
  })
  let checks: Check[] = []
  try {
    checks = await checkClient(mcpClient, project)
  } finally {
    checks.push(...(await removeProject(client, project)))
  }
  return checks
}

/** Unregisters the project, checks its file, and deletes its files and vault notes. */
async function removeProject(client: Client, project: string): Promise<Check[]> {
  const { folder } = await client.call('worksync_unregister_project', {
    project,
  })
  const file = join(folder, 'work-index.yaml')
  const inFile = await runCheck('work-index.yaml', () => {
    const fault = describeMismatch(expectedFile, parseYaml(readFileSync(file, 'utf8')).value, '')
    if (fault !== undefined) throw new CoworkError('failed', `in the file: ${fault}`)
  })
  const { vault_path: vault } = await client.call('worksync_sync')
  const cleanup = await runCheck('cleanup', () => {
    for (const place of [folder, join(vault, 'projects', project)])
      if (basename(place) === project) rmSync(place, { recursive: true, force: true })
  })
  return [inFile, cleanup]
}

/** The expected content of the file after the calls. */
const expectedFile = {
  sprints: [
    {
      id: 'check-sprint',
      stories: [{ id: 'STORY-1', status: 'done', notes: 'under way' }],
    },
  ],
  history: [{ summary: 'All of it answers' }],
}
