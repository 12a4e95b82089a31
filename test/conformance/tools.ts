// The tools the official suite calls by name, one for each thing a tool may answer or do.
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { rpcError } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import {
  ask,
  getCapabilities,
  elicit,
  parseForm,
  listRoots,
  oneField,
  openState,
  rawTool,
  getInputResponse,
  sample,
  sealState,
  text,
} from './tool.ts'
import type { McpContext } from '../../src/server/mcp/mcp-context.ts'

/** One red pixel, and two samples of silence. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=='

const image = { type: 'image', data: png, mimeType: 'image/png' }
const note = (uri: string, body: string, mimeType = 'text/plain') => ({
  type: 'resource',
  resource: { uri, mimeType, text: body },
})

const contentTools: Tool[] = [
  rawTool('test_simple_text', () => text('Plain text.')),
  rawTool('test_image_content', () => ({ content: [image] })),
  rawTool('test_audio_content', () => ({
    content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  })),
  rawTool('test_embedded_resource', () => ({
    content: [note('test://embedded-resource', 'A note.')],
  })),
  rawTool('test_multiple_content_types', () => ({
    content: [
      ...text('Three kinds:').content,
      image,
      note('test://mixed', '{"kinds":3}', 'application/json'),
    ],
  })),
  rawTool('test_error_handling', () => {
    throw new CoworkError('internal', 'This tool always fails.', { hint: 'That is its use.' })
  }),
  rawTool('test_mirrored_argument', (_, { region }) => text(String(region)), {
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
  }),
  rawTool('json_schema_2020_12_tool', (_, args) => text(JSON.stringify(args)), {
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  }),
]

const log = ({ context }: McpContext, message: string) => context.mcpReq.log('info', message)

const streamTools: Tool[] = [
  rawTool('test_tool_with_logging', async (exchange) => {
    await log(exchange, 'started')
    await delay(50)
    await log(exchange, 'half way')
    await delay(50)
    await log(exchange, 'finished')
    return text('Three messages were logged.')
  }),
  rawTool('test_logging_tool', async (exchange) => {
    await log(exchange, 'for those who asked')
    return text('One message was logged.')
  }),
  rawTool('test_tool_with_progress', async ({ context }, _, call) => {
    call.progress(0, 100)
    await delay(50)
    call.progress(50, 100)
    await delay(50)
    call.progress(100, 100)
    return text(String(context.mcpReq._meta?.progressToken))
  }),
  rawTool('test_streaming_elicitation', (exchange, _, call) => {
    call.progress(1, 2)
    const answer = parseForm(exchange, 'answer', { value: z.string() })
    return answer ? text(answer.value) : ask({ answer: elicit('A value?', oneField('value')) })
  }),
  rawTool('test_reconnection', async ({ context }) => {
    context.http?.closeSSE?.()
    await delay(100)
    return text('The client came back for this.')
  }),
]

const elicited = (exchange: McpContext, request: unknown) => {
  const response = getInputResponse(exchange, 'form')
  return response === undefined ? ask({ form: request }) : text(JSON.stringify(response))
}
const options = ['option1', 'option2', 'option3']
const titled = ['value1', 'value2', 'value3'].map((value, at) => ({
  const: value,
  title: `Option ${at + 1}`,
}))

/** Tools that ask the client. For the older protocol, the SDK turns each question into a request of the server. */
const askingTools: Tool[] = [
  rawTool('test_sampling', (exchange, { prompt }) => {
    const response = getInputResponse(exchange, 'reply')
    return response === undefined
      ? ask({ reply: sample(String(prompt)) })
      : text(JSON.stringify(response))
  }),
  rawTool('test_elicitation', (exchange, { message }) =>
    elicited(exchange, elicit(String(message), oneField('response'))),
  ),
  rawTool('test_elicitation_sep1034_defaults', (exchange) =>
    elicited(
      exchange,
      elicit('Change what is wrong.', {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        required: [],
      }),
    ),
  ),
  rawTool('test_elicitation_sep1330_enums', (exchange) =>
    elicited(
      exchange,
      elicit('Choose.', {
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled } },
        },
        required: [],
      }),
    ),
  ),
]

const rootsOf = (exchange: McpContext, key: string) =>
  z.object({ roots: z.array(z.unknown()) }).safeParse(getInputResponse(exchange, key)).data?.roots
const sampledOf = (exchange: McpContext, key: string) =>
  z.object({ content: z.object({ text: z.string() }) }).safeParse(getInputResponse(exchange, key))
    .data?.content.text

const nameForm = elicit('What is your name?', oneField('name'))
const confirmForm = elicit('Is that right?', oneField('ok', 'boolean'))
const rounds = z.object({ name: z.string().optional() })

const inputTools: Tool[] = [
  rawTool('test_missing_capability', (exchange) => {
    if (getCapabilities(exchange).sampling) return text('The client samples.')
    throw rpcError(-32021, 'This needs a client that samples.', {
      requiredCapabilities: { sampling: {} },
    })
  }),
  rawTool('test_input_required_result_elicitation', (exchange) => {
    const answer = parseForm(exchange, 'user_name', { name: z.string() })
    return answer ? text(`Hello, ${answer.name}!`) : ask({ user_name: nameForm })
  }),
  rawTool('test_input_required_result_sampling', (exchange) => {
    const sampled = sampledOf(exchange, 'sample_request')
    return sampled === undefined
      ? ask({ sample_request: sample('What is the capital of France?') })
      : text(sampled)
  }),
  rawTool('test_input_required_result_list_roots', (exchange) => {
    const roots = rootsOf(exchange, 'roots_request')
    return roots ? text(`${roots.length} roots`) : ask({ roots_request: listRoots })
  }),
  rawTool('test_input_required_result_request_state', (exchange) => {
    const state = openState(exchange, z.literal('asked'))
    const answer = parseForm(exchange, 'confirm', { ok: z.boolean() })
    return state && answer ? text('state-ok') : ask({ confirm: confirmForm }, sealState('asked'))
  }),
  rawTool('test_input_required_result_tampered_state', (exchange) => {
    const state = openState(exchange, z.literal('asked'))
    const answer = parseForm(exchange, 'confirm', { ok: z.boolean() })
    return state && answer
      ? text('integrity-ok')
      : ask({ confirm: confirmForm }, sealState('asked'))
  }),
  rawTool('test_input_required_result_multiple_inputs', (exchange) => {
    const state = openState(exchange, z.literal('asked'))
    const name = parseForm(exchange, 'user_name', { name: z.string() })?.name
    const greeting = sampledOf(exchange, 'greeting')
    const roots = rootsOf(exchange, 'client_roots')
    if (state && name !== undefined && greeting !== undefined && roots)
      return text(`${greeting}, ${name} with ${roots.length} roots`)
    return ask(
      { user_name: nameForm, greeting: sample('Greet someone.'), client_roots: listRoots },
      sealState('asked'),
    )
  }),
  rawTool('test_input_required_result_multi_round', (exchange) => {
    const state = openState(exchange, rounds)
    const color = parseForm(exchange, 'step2', { color: z.string() })?.color
    if (state?.name !== undefined && color !== undefined)
      return text(`${state.name} likes ${color}`)
    const name = state && parseForm(exchange, 'step1', { name: z.string() })?.name
    return name === undefined
      ? ask({ step1: nameForm }, sealState({}))
      : ask({ step2: elicit('Your colour?', oneField('color')) }, sealState({ name }))
  }),
  rawTool('test_input_required_result_capabilities', (exchange) => {
    const { elicitation, sampling } = getCapabilities(exchange)
    const requests = {
      ...(elicitation && { elicit_input: elicit('A value?', oneField('value')) }),
      ...(sampling && { sample_input: sample('Anything.') }),
    }
    const isAnswered = Object.keys(requests).some(
      (key) => getInputResponse(exchange, key) !== undefined,
    )
    const isDone = isAnswered || Object.keys(requests).length === 0
    return isDone ? text('capabilities-ok') : ask(requests, sealState('asked'))
  }),
]

export const suiteTools: Tool[] = [...contentTools, ...streamTools, ...askingTools, ...inputTools]
