// Stands in for the models of Claude Code, Codex, Gemini CLI and opencode on this machine. It plays a scene: an async
// generator that yields a tool call and receives what the client showed of the result. No account is needed.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

/**
 * Resolves to the address of the model and three functions. `play(scene)` sets the scene for the next session of a
 * client: it yields `{tool, input}` and receives `{text, images, isError}`. `offered()` returns the tools of the
 * client's last request, and its whole text, which contains the instructions of the servers.
 */
export async function startModel() {
  let session
  let offered

  async function serve(request, response) {
    const raw = await buffer(request)
    const decode = decoders[request.headers['content-encoding']] ?? ((bytes) => bytes)
    const path = request.url.split('?')[0]
    const api = apis.find(({ route }) => route.test(path))
    if (!api) return response.writeHead(404).end('{}')
    const text = decode(raw).toString()
    const body = JSON.parse(text)
    const tools = api.tools(body, text)
    // Clients also request titles and summaries, without tools; those requests are not part of the scene.
    const isScene = session && tools.length > 0
    if (isScene) offered = { tools, text }
    const call = isScene ? await session.next(api.results(body)) : undefined
    const offer = call && tools.find((tool) => isOfCowork(tool, call.tool))
    const events = api.answer(call && { ...call, name: call.tool, ...offer })
    send(response, api, path, events)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    play(scene) {
      session = createSession(scene)
    },
    offered: () => offered,
    close: () => server.closeAllConnections() ?? server.close(),
  }
}

/** Clients name a tool differently: mcp__cowork__x, mcp_cowork_x, cowork_x, or x in the namespace mcp__cowork. */
const isOfCowork = ({ name, space }, tool) =>
  new RegExp(`cowork_+${tool}$`).test(space ? `${space}__${name}` : name)

/** Passes each result to the scene once, in order; a repeated request gets the pending call again. */
function createSession(scene) {
  let pending
  let count = 0
  let turn = Promise.resolve()

  async function advance(results) {
    const result = pending && results.get(pending.id)
    if (pending && !result) return pending
    const { done, value } = await scene.next(result)
    pending = done ? undefined : { ...value, id: `call_${++count}` }
    return pending
  }
  return { next: (results) => (turn = turn.then(() => advance(results))) }
}

function send(response, { isPlain }, path, events) {
  if (isPlain?.(path)) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(events[0]))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const name = event.type ? `event: ${event.type}\n` : ''
    response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  response.end()
}

const done = 'Done.'

/** Converts content blocks of any of the four APIs to text and images. */
function toResult(content, isError = false) {
  const blocks = typeof content === 'string' ? [{ text: content }] : (content ?? [])
  const images = blocks.flatMap((block) => {
    const data =
      block.source?.data ?? block.inlineData?.data ?? block.image_url?.url ?? block.image_url
    return data ? [data.replace(/^data:[^,]*,/, '')] : []
  })
  const text = blocks.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []))
  return { text: text.join('\n'), images, isError }
}

/** The wire APIs of the models: where a request has tools and results, and how a call is returned. */
const apis = [
  {
    name: 'Anthropic Messages',
    route: /^\/v1\/messages$/,
    // Claude Code may name a tool only in its text, and describe it on request.
    tools({ tools = [] }, text) {
      const named = text.matchAll(/mcp__\w+/g)
      return [...tools, ...[...named].map(([name]) => ({ name }))]
    },
    results({ messages }) {
      const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      return new Map(
        blocks
          .filter(({ type }) => type === 'tool_result')
          .map((block) => [block.tool_use_id, toResult(block.content, block.is_error)]),
      )
    },
    answer(call) {
      const block = call
        ? { type: 'tool_use', id: call.id, name: call.name, input: {} }
        : { type: 'text', text: '' }
      const delta = call
        ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
        : { type: 'text_delta', text: done }
      const usage = { input_tokens: 1, output_tokens: 1 }
      const message = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'stand-in',
        content: [],
      }
      return [
        { type: 'message_start', message: { ...message, stop_reason: null, usage } },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage },
        { type: 'message_stop' },
      ]
    },
  },
  {
    name: 'OpenAI Responses',
    route: /^\/v1\/responses$/,
    tools: ({ tools = [] }) =>
      tools.flatMap(
        (group) => group.tools?.map((tool) => ({ ...tool, space: group.name })) ?? [group],
      ),
    results: ({ input }) =>
      new Map(
        input
          .filter(({ type }) => type === 'function_call_output')
          .map((item) => [item.call_id, toResult(item.output)]),
      ),
    answer(call) {
      const item = call
        ? {
            type: 'function_call',
            call_id: call.id,
            namespace: call.space,
            name: call.name,
            arguments: JSON.stringify(call.input),
          }
        : {
            type: 'message',
            id: 'm',
            role: 'assistant',
            content: [{ type: 'output_text', text: done }],
          }
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      return [
        { type: 'response.created', response: { id: 'r' } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'r', usage } },
      ]
    },
  },
  {
    name: 'Gemini generateContent',
    route: /:(stream)?[gG]enerateContent$/,
    isPlain: (path) => path.endsWith(':generateContent'),
    tools: ({ tools = [] }) =>
      tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    results({ contents }) {
      const results = new Map()
      for (const { parts = [] } of contents) {
        const answers = parts.filter((part) => part.functionResponse)
        // Images are parts of the response, or beside it in the same turn.
        const beside = parts.filter((part) => part.inlineData)
        for (const { functionResponse } of answers) {
          const { id, response, parts: inside = [] } = functionResponse
          const { output, error } = response
          const reply = error ?? output
          const text = typeof reply === 'string' ? reply : JSON.stringify(reply ?? response)
          results.set(id, toResult([{ text }, ...inside, ...beside], error !== undefined))
        }
      }
      return results
    },
    answer(call) {
      const part = call
        ? { functionCall: { id: call.id, name: call.name, args: call.input } }
        : { text: done }
      const candidate = {
        index: 0,
        content: { role: 'model', parts: [part] },
        finishReason: 'STOP',
      }
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      return [{ candidates: [candidate], usageMetadata }]
    },
  },
  {
    name: 'OpenAI Chat Completions',
    route: /^\/v1\/chat\/completions$/,
    tools: ({ tools = [] }) => tools.map(({ function: tool }) => tool),
    results({ messages }) {
      const results = new Map()
      for (const [at, { role, tool_call_id: id, content }] of messages.entries()) {
        if (role !== 'tool') continue
        // This API has no images in results; the client adds them to the following user message.
        const next = messages[at + 1]
        const beside = next?.role === 'user' && Array.isArray(next.content) ? next.content : []
        const images = beside.filter(({ type }) => type === 'image_url')
        const { text } = toResult(content)
        results.set(id, { ...toResult(images), text })
      }
      return results
    },
    answer(call) {
      const delta = call
        ? {
            tool_calls: [
              {
                index: 0,
                id: call.id,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          }
        : { content: done }
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'stand-in' }
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      const finish_reason = call ? 'tool_calls' : 'stop'
      return [
        {
          ...chunk,
          choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }],
        },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
        '[DONE]',
      ]
    },
  },
]
