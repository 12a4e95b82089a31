// The floor of N3: the SDK's low-level Server with 60 tools on plain Hono.
import { serve } from '@hono/node-server'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { Hono } from 'hono'

export type BareServer = { readonly port: number }

const text = {
  type: 'object' as const,
  properties: { text: { type: 'string' as const } },
  required: ['text'],
}
const tools = Array.from({ length: 60 }, (_, i) => ({
  name: i === 0 ? 'echo' : `echo_${i}`,
  title: 'Echo',
  description: 'Returns its input.',
  inputSchema: text,
  outputSchema: text,
}))

const handler = createMcpHandler(
  () => {
    const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', async () => ({ tools }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      const output = { text: String(params.arguments?.['text']) }
      return {
        content: [{ type: 'text', text: JSON.stringify(output) }],
        structuredContent: output,
      }
    })
    return server
  },
  { legacy: 'reject' },
)
const app = new Hono()
app.all('/mcp', (c) => handler.fetch(c.req.raw))
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.send?.({ port } satisfies BareServer),
)

process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => {
  server.close()
  if ('closeAllConnections' in server) server.closeAllConnections()
})
