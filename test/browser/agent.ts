import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestApp } from '../app.ts'

export type Agent = {
  call(tool: string, args?: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

/** Connects an agent over MCP with this client name and version. */
export async function connectAgent(
  app: Pick<TestApp, 'mcpUrl'>,
  clientInfo: { readonly name: string; readonly version: string },
  token?: string,
): Promise<Agent> {
  const client = new Client(clientInfo)
  const requestInit = token ? { headers: { authorization: `Bearer ${token}` } } : {}
  await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl), { requestInit }))
  return {
    async call(name, args = {}) {
      await client.callTool({ name, arguments: args })
    },
    close: () => client.close(),
  }
}
