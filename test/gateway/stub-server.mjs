// A stdio MCP server whose behavior is chosen by its first argument. It speaks raw JSON-RPC, so that it can break it.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [mode = 'ok', file = ''] = process.argv.slice(2)
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })

const tool = (name, fields = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { value: { type: 'string' } } },
  ...fields,
})

function listTools() {
  // A test changes the list while the server runs.
  if (file !== '') return JSON.parse(readFileSync(file, 'utf8'))
  if (mode === 'duplicate') return [tool('a'), tool('a')]
  if (mode === 'many') return Array.from({ length: 3000 }, (_, at) => tool(`t${at}`))
  return [
    tool('echo', { annotations: { readOnlyHint: true } }),
    tool('write_note'),
    tool('delete_note', { annotations: { destructiveHint: true } }),
  ]
}

function call({ id, params: { name, arguments: args = {} } }) {
  if (mode === 'die') process.exit(3)
  if (mode === 'hang') return process.stderr.write('called\n')
  if (mode === 'large') return send({ id, result: text('x'.repeat(3 * 1024 * 1024)) })
  if (mode === 'huge')
    return process.stdout.write(
      `{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(20 * 1024 * 1024)}"}\n`,
    )
  if (mode === 'broken') return process.stdout.write('{"jsonrpc":"2.0","id":\n')
  if (mode === 'twice') {
    send({ id, result: text('first') })
    return send({ id, result: text('second') })
  }
  if (mode === 'env') return send({ id, result: text(JSON.stringify(process.env)) })
  if (mode === 'flood')
    for (let count = 0; count < 20_000; count++)
      send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } })
  send({ id, result: text(`${name} ${JSON.stringify(args)}`) })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'stub', version: '1' },
      },
    })
  else if (method === 'tools/list') send({ id, result: { tools: listTools() } })
  else if (method === 'tools/call') call(message)
  else if (method === 'notifications/cancelled') process.stderr.write('cancelled\n')
  else if (method === 'ping') send({ id, result: {} })
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
})
process.stderr.write('stub server started\n')
process.on('SIGUSR1', () => send({ method: 'notifications/tools/list_changed' }))
