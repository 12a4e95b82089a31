// A stand-in for the models behind Claude Code and Codex, on this machine: of the tools it is offered
// it asks for one and then says that it is done. So the real clients can be watched without an account.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

/** Resolves to its address and a way to end it. */
export async function startModel(tool) {
  async function serve(request, response) {
    const raw = await buffer(request)
    const decode = decoders[request.headers['content-encoding']] ?? ((bytes) => bytes)
    const text = decode(raw).toString()
    const answer = request.url.startsWith('/v1/messages')
      ? messages(text, tool)
      : request.url.startsWith('/v1/responses')
        ? responses(text, tool)
        : undefined
    if (!answer) return response.writeHead(404).end('{}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of answer) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.closeAllConnections() ?? server.close(),
  }
}

const callId = 'stand-in-call'

/** Anthropic's Messages, streamed. */
function messages(text, tool) {
  // Claude Code may name a tool in its text first and describe it when asked.
  const name = text.includes(callId) ? undefined : new RegExp(`mcp__\\w*${tool}\\b`).exec(text)?.[0]
  const block = name
    ? { type: 'tool_use', id: callId, name, input: {} }
    : { type: 'text', text: '' }
  const delta = name
    ? { type: 'input_json_delta', partial_json: '{}' }
    : { type: 'text_delta', text: 'Done.' }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'stand-in', content: [] }
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: name ? 'tool_use' : 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
}

/** OpenAI's Responses, streamed. */
function responses(text, tool) {
  const { tools = [] } = JSON.parse(text)
  const space = tools.find((one) => one.tools?.some(({ name }) => name === tool))
  const item =
    space && !text.includes(callId)
      ? {
          type: 'function_call',
          call_id: callId,
          namespace: space.name,
          name: tool,
          arguments: '{}',
        }
      : {
          type: 'message',
          id: 'm',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Done.' }],
        }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: 'response.created', response: { id: 'r' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'r', usage } },
  ]
}
