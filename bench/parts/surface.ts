// Connections to MCP servers that record a task as the model of a client sees it.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Tool, Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ClientView } from './client-views.ts'
import type { Launch } from './stdio.ts'

/** Each client opens a separate connection. */
export type Connect = () => Transport

export const overHttp =
  (url: string, token?: string): Connect =>
  () =>
    new StreamableHTTPClientTransport(
      new URL(url),
      token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } },
    )

export const overStdio =
  ({ command, args }: Launch): Connect =>
  () =>
    new StdioClientTransport({ command, args: [...args], stderr: 'ignore' })

export async function openServer(connect: Connect, mode: ClientView['mode']) {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(connect())
  return {
    client,
    instructions: client.getInstructions() ?? '',
    async list(): Promise<readonly Tool[]> {
      const tools: Tool[] = []
      let cursor: string | undefined
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor })
        tools.push(...page.tools)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return tools
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** Four characters of JSON are about one token. */
export const tokens = (text: string): number => text.length / 4

/** The text of the results so far, from which a task reads ids. */
export type Call = (tool: string, input: object) => Promise<string>
export type Task = (call: Call) => Promise<void>

export type Cost = {
  /** Definitions and server instructions, which all four clients pass on. */
  readonly definitions: number
  readonly calls: number
  readonly results: number
  readonly total: number
}

/** Runs a task and counts what the client's model reads and writes. */
export async function measureCost(view: ClientView, connect: Connect, task: Task): Promise<Cost> {
  await using server = await openServer(connect, view.mode)
  const used = new Set<string>()
  let calls = 0
  let results = 0
  await task(async (name, input) => {
    const result = await server.client.callTool({
      name,
      arguments: { ...input },
    })
    const shown = view.show(result)
    if (result.isError) throw new Error(`${name} failed: ${shown}`)
    // Text that the client truncates would look cheap.
    if (shown.length > view.maxChars)
      throw new Error(`${view.name} truncates the ${shown.length} characters of ${name}`)
    used.add(name)
    calls += tokens(JSON.stringify({ name, arguments: input }))
    results += tokens(shown)
    return shown
  })
  const definitions = tokens(view.define(await server.list(), used) + server.instructions)
  return { definitions, calls, results, total: definitions + calls + results }
}
