import * as z from 'zod'
import { compileObjectSchema } from '#base/config/json-schema.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { defineTool, McpResult } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import type { McpServerManager } from './manager.ts'
import type { RawTool } from './model.ts'
import { limitResult, maskResult } from './result.ts'
import { getEffect } from './rules/effect.ts'
import { readIntent } from './rules/intent.ts'
import { qualifyName } from './rules/name.ts'
import type { ServerSettings } from './settings.ts'

type Deps = {
  readonly request: McpServerManager['request']
  readonly maskSecrets: (text: string) => string
}

type Arguments = Readonly<Record<string, unknown>>

/** Arguments that say who calls and why. They end at the gateway, unless the upstream tool has one of this name. */
const callerFields = ['_meta', '_cowork_metadata', 'agent', 'agent_id', 'agent_token']

/** Arguments that name what a call is about, for the inbox and for rules on targets. */
const targetFields = ['path', 'uri', 'url', 'file', 'filename', 'repo', 'repository', 'id', 'name']

/** Makes a governed tool of an upstream tool: same schemas and metadata, a qualified name, our dispatch path (U4, U5). */
export function toUpstreamTool(settings: ServerSettings, raw: RawTool, deps: Deps): Tool {
  const { name: server, toolScopes } = settings
  const override = settings.tools[raw.name]
  const effect = getEffect(raw, override?.effect)
  const title = raw.title ?? raw.annotations?.title ?? raw.name
  const properties = listProperties(raw)
  const inheritedFields = callerFields.filter((field) => !properties.includes(field))
  const toArguments = (input: Arguments): Arguments =>
    Object.fromEntries(Object.entries(input).filter(([key]) => !inheritedFields.includes(key)))

  const callUpstream = async (input: Arguments, call: Call): Promise<McpResult> => {
    const result = await deps.request(
      server,
      'tools/call',
      { name: raw.name, arguments: toArguments(input) },
      {
        signal: call.signal,
        onProgress: ({ progress, total, message }) => call.progress(progress, total, message),
      },
    )
    return new McpResult(maskResult(limitResult(result), deps.maskSecrets))
  }

  const common = {
    name: qualifyName(server, override?.name ?? raw.name),
    title: sanitizeText(title, 100),
    description: override?.description ?? raw.description ?? title,
    toolset: server,
    upstream: raw.name,
    by: 'anyone',
    role: 'reviewer',
    input: toInput(raw, properties),
    output: z.unknown(),
    speaksMcp: true,
    openWorld: raw.annotations?.openWorldHint ?? true,
    listing: toListing(raw),
    ...(raw.annotations?.idempotentHint === true && { idempotent: true }),
    ...(toolScopes && { scopes: toolScopes.toolScopes[raw.name] ?? toolScopes.defaultScopes }),
    describeTarget: (input: Arguments) => {
      const intent = readIntent(input)
      return {
        domain: server,
        target: findTarget(input) ?? raw.name,
        data: { upstream: raw.name, ...(intent !== undefined && { intent }) },
      }
    },
    canonicalInput: toArguments,
  } as const
  return effect === 'read'
    ? defineTool({ ...common, effect, read: callUpstream })
    : defineTool({
        ...common,
        effect,
        run: async (input, call) => ({ output: await callUpstream(input, call) }),
      })
}

function listProperties({ inputSchema }: RawTool): readonly string[] {
  const { properties } = inputSchema
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

/**
 * Validates arguments before a person is asked about them. A schema that cannot be checked safely here, such as one
 * with regular expressions, is left to the server.
 */
function toInput({ inputSchema }: RawTool, properties: readonly string[]): z.ZodObject {
  const shape = Object.fromEntries(properties.map((name) => [name, z.unknown().optional()]))
  const isClosed = inputSchema['additionalProperties'] === false
  const input = isClosed
    ? z.strictObject({
        ...shape,
        ...Object.fromEntries(callerFields.map((name) => [name, z.unknown().optional()])),
      })
    : z.looseObject(shape)
  const schema = compile(inputSchema)
  if (!schema) return input
  return input.check((context) => {
    const args = Object.fromEntries(
      Object.entries(context.value).filter(
        ([key, value]) =>
          value !== undefined && (properties.includes(key) || !callerFields.includes(key)),
      ),
    )
    const parsed = schema.safeParse(args)
    for (const { path, message } of parsed.error?.issues ?? [])
      context.issues.push({ code: 'custom', path: [...path], message, input: context.value })
  })
}

function compile(schema: RawTool['inputSchema']): z.ZodType | undefined {
  try {
    return compileObjectSchema(schema)
  } catch {
    return undefined
  }
}

function toListing({ title, inputSchema, outputSchema, annotations, icons, _meta }: RawTool) {
  return {
    inputSchema,
    ...(title !== undefined && { title }),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(icons !== undefined && { icons }),
    ...(_meta && { _meta }),
  }
}

function findTarget(input: Arguments): string | undefined {
  for (const field of targetFields) {
    const value = input[field]
    if (typeof value === 'string' && value !== '') return value.slice(0, 500)
  }
  return undefined
}
