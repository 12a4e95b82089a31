// Resources, prompts, completions and logging of the suite, as features beside the tools.
import { inputRequired, ProtocolError, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { GetPromptResult, Server } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import type { Broadcaster, McpFeature } from '../../src/server/mcp/server.ts'
import { rawTool, text } from './tool.ts'
import { png } from './tools.ts'

const contents: Record<
  string,
  { mimeType: string; text: string } | { mimeType: string; blob: string }
> = {
  'test://static-text': { mimeType: 'text/plain', text: 'Static text.' },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched text.' },
}

function read(uri: string) {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  const found = id ? { mimeType: 'application/json', text: JSON.stringify({ id }) } : contents[uri]
  if (!found) throw new ResourceNotFoundError(uri)
  return { contents: [{ uri, ...found }] }
}

const public5s = { ttlMs: 5000, cacheScope: 'public' } as const

const resources: McpFeature = {
  capabilities: { resources: { subscribe: true, listChanged: true } },
  cacheHints: {
    'resources/list': public5s,
    'resources/templates/list': public5s,
    'resources/read': public5s,
  },
  attach(server) {
    server.setRequestHandler('resources/list', () => ({
      resources: Object.entries(contents).map(([uri, { mimeType }]) => ({
        uri,
        name: uri,
        mimeType,
      })),
    }))
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
    }))
    server.setRequestHandler('resources/read', ({ params }) => read(params.uri))
    server.setRequestHandler('resources/subscribe', () => ({}))
    server.setRequestHandler('resources/unsubscribe', () => ({}))
  },
}

type Args = Readonly<Record<string, string>>
type Said = GetPromptResult['messages'][number]['content']
const says = (...content: Said[]): GetPromptResult => ({
  messages: content.map((one) => ({ role: 'user', content: one })),
})
const textContent = (text: string): Said => ({ type: 'text', text })

const prompts: Record<string, { args: string[]; get: (args: Args) => GetPromptResult }> = {
  test_simple_prompt: { args: [], get: () => says(textContent('A simple prompt.')) },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => says(textContent(`arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri = '' }) =>
      says(
        {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'A note.' },
        },
        textContent('What does it say?'),
      ),
  },
  test_prompt_with_image: {
    args: [],
    get: () =>
      says({ type: 'image', data: png, mimeType: 'image/png' }, textContent('What is it?')),
  },
}

function attachPrompts(server: Server): void {
  const asking = 'test_input_required_result_prompt'
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...Object.entries(prompts), [asking, { args: [] }] as const].map(
      ([name, { args }]) => ({
        name,
        title: name,
        description: `${name} of the conformance suite`,
        arguments: args.map((arg) => ({ name: arg, required: true })),
      }),
    ),
  }))
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    if (params.name === asking) {
      const answer = z.object({ content: z.object({ context: z.string() }) })
      const given = answer.safeParse(mcpReq.inputResponses?.['user_context']).data?.content.context
      if (given !== undefined) return says(textContent(`The context is ${given}.`))
      const requestedSchema = z.object({ context: z.string() })
      const question = inputRequired.elicit({ message: 'Which context?', requestedSchema })
      return inputRequired({ inputRequests: { user_context: question } })
    }
    const found = prompts[params.name]
    if (!found) throw new ProtocolError(-32602, `There is no prompt ${params.name}.`)
    return found.get(params.arguments ?? {})
  })
}

const promptFeature: McpFeature = {
  capabilities: { prompts: { listChanged: true } },
  cacheHints: { 'prompts/list': public5s },
  attach: attachPrompts,
}

const completions: McpFeature = {
  capabilities: { completions: {} },
  attach(server) {
    server.setRequestHandler('completion/complete', ({ params }) => {
      const values = ['paris', 'park', 'party'].filter((word) =>
        word.startsWith(params.argument.value),
      )
      return { completion: { values, total: values.length, hasMore: false } }
    })
  },
}

/** The SDK serves logging once it is declared. */
const logging: McpFeature = { capabilities: { logging: {} }, attach: () => undefined }

/** The lists never change; the suite only wants to hear that they did. */
export function createTriggers(): { feature: McpFeature; tools: Tool[] } {
  let announce: Broadcaster | undefined
  return {
    feature: {
      capabilities: {},
      start: (given) => void (announce = given),
      attach: () => undefined,
    },
    tools: [
      rawTool('test_trigger_tool_change', () => {
        announce?.toolsChanged()
        return text('Told.')
      }),
      rawTool('test_trigger_prompt_change', () => {
        announce?.promptsChanged()
        return text('Told.')
      }),
    ],
  }
}

export const suiteFeatures: McpFeature[] = [resources, promptFeature, completions, logging]
