// Agents with real MCP clients, over HTTP and over separate `cowork mcp` processes, on one project.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { cowork } from './daemon.ts'
import { createClient } from './speakers.ts'
import type { Said } from './speakers.ts'
import { parsed } from './work.ts'

export type Door = 'http' | 'stdio'
export type WorkClient = Awaited<ReturnType<typeof connectTo>>

/** Connects over HTTP, with a token if given. */
export async function connectBy(url: string, token: string): Promise<Client> {
  const client = newClient('keyed')
  await client.connect(overHttp(url, token))
  return client
}

/** Connects over a separate `cowork mcp` process. */
export async function connectOverStdio(state: string, token: string): Promise<Client> {
  const client = newClient('piped')
  await client.connect(overStdio(state, token))
  return client
}

/** Creates an agent and connects it over the given transport. */
export async function connectTo(app: TestApp, id: string, door: Door, url = app.mcpUrl) {
  const added = await createClient(app, app.owner).call('cowork_add_agent', { id })
  const token = String(added['token'])
  const client = newClient(id)
  await client.connect(door === 'http' ? overHttp(url, token) : overStdio(app.state, token))
  /** Calls a tool; returns the output, or the error code with its details. */
  async function ask(tool: string, args: object = {}): Promise<Said & { code?: string }> {
    const answer = await client.callTool({ name: `worksync_${tool}`, arguments: { ...args } })
    const output = (answer.structuredContent ?? {}) as Said
    if (answer.isError !== true) return output
    const [block] = answer.content as { text?: string }[]
    return { text: block?.text, ...((output['error'] ?? output) as Said) }
  }
  return { id, token, client, ask, end: () => client.close() }
}

const newClient = (name: string) =>
  new Client({ name, version: '1' }, { versionNegotiation: { mode: 'auto' } })

const overHttp = (url: string, token: string) =>
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: token === '' ? {} : { headers: { authorization: `Bearer ${token}` } },
  })

function overStdio(state: string, token: string) {
  const { command, args, env } = cowork(state)
  const variables = { ...env, PATH: env.PATH ?? '', COWORK_TOKEN: token }
  return new StdioClientTransport({ command, args: [...args, 'mcp'], env: variables })
}

export const workFile = (app: TestApp, project: string) =>
  join(app.state, 'worksync', 'projects', project, 'work-index.yaml')

/** Returns the file once it has the last acknowledged change. */
export async function settled(app: TestApp, project: string, last: string): Promise<string> {
  const path = workFile(app, project)
  await expect.poll(() => readFileSync(path, 'utf8')).toContain(last)
  return readFileSync(path, 'utf8')
}

export const parseIndexFile = (app: TestApp, project: string) =>
  parsed(readFileSync(workFile(app, project), 'utf8'))
