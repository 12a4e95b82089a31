import type * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import { toJsonSchema, toWireTool } from './mcp/wire.ts'
import type { Route } from './routes/route.ts'

type Json = Record<string, unknown>

/** Builds the OpenAPI 3.1 document (SV22) from the mounted routes and the listed tools. */
export function buildOpenApi(
  routes: readonly Route[],
  tools: readonly Tool[],
  version: string,
): Json {
  const components = createComponents()
  const paths: Record<string, Json> = {}
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const route of routes) add(route.path, route.method, routeOperation(route, components))
  for (const tool of tools)
    add(`/api/tools/${tool.name}/call`, 'POST', toolOperation(tool, components))
  return {
    openapi: '3.1.1',
    info: {
      title: 'cowork',
      version,
      description: 'The HTTP API of cowork. Every tool has its own path.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://localhost:8765' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: { Refused: refused },
      schemas: components.schemas,
    },
  }
}

const refused = {
  description: 'Error: what failed and what to do',
  content: json({
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          hint: { type: 'string' },
        },
      },
    },
  }),
}

function routeOperation(route: Route, components: Components): Json {
  const { method, path, summary, by, params, query, body, answer, status = 200 } = route
  const success = { description: 'media' in answer ? answer.description : summary }
  const content =
    'media' in answer
      ? { [answer.media]: { schema: { type: 'string' } } }
      : json(components.put(toJsonSchema(answer, 'output')))
  return {
    operationId: operationId(method, path),
    summary,
    tags: [path.split('/')[2] ?? 'server'],
    ...(by === 'all' && { security: [] }),
    ...(by === 'human' && { description: 'For people only.' }),
    ...((params ?? query) && {
      parameters: [
        ...buildParameters(params, 'path', components),
        ...buildParameters(query, 'query', components),
      ],
    }),
    ...(body && {
      requestBody: { required: true, content: json(components.put(toJsonSchema(body, 'input'))) },
    }),
    responses: { [status]: { ...success, content }, default: refusedRef },
  }
}

function toolOperation(tool: Tool, components: Components): Json {
  const { inputSchema, outputSchema = {} } = toWireTool(tool)
  const call = { type: 'object', properties: { arguments: components.put(inputSchema) } }
  const answer = {
    type: 'object',
    required: ['call', 'output'],
    properties: { call: { type: 'string' }, output: components.put(outputSchema) },
  }
  return {
    operationId: tool.name,
    summary: tool.title,
    description: tool.description,
    tags: [tool.toolset],
    'x-effect': tool.effect,
    'x-by': tool.by,
    requestBody: { required: true, content: json(call) },
    responses: { 200: { description: tool.title, content: json(answer) }, default: refusedRef },
  }
}

const refusedRef = { $ref: '#/components/responses/Refused' }

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}

const operationId = (method: string, path: string) =>
  [method.toLowerCase(), ...path.split(/\W+/).filter((word) => word !== '' && word !== 'api')]
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')

function buildParameters(
  fields: z.ZodObject | undefined,
  location: string,
  components: Components,
): Json[] {
  if (!fields) return []
  const { properties = {}, required = [] } = toJsonSchema(fields, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: components.put(schema),
  }))
}

type Components = { readonly schemas: Record<string, Json>; put(schema: Json): Json }

/** Collects the `$defs` of all schemas, because references resolve only within the document's components. */
function createComponents(): Components {
  const schemas: Record<string, Json> = {}
  const names = new Map<string, string>()

  function assignName(key: string, part: unknown): string {
    const content = JSON.stringify(part)
    const existing = names.get(content)
    if (existing !== undefined) return existing
    const name = key.startsWith('__') ? `Part${names.size + 1}` : key
    names.set(content, name)
    return name
  }

  const rewriteRefs = (value: unknown, names: Readonly<Record<string, string>>): unknown => {
    if (Array.isArray(value)) return value.map((item) => rewriteRefs(item, names))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        // Zod adds the bounds of safe integers to every integer.
        .filter(([, inner]) => Math.abs(Number(inner)) !== Number.MAX_SAFE_INTEGER)
        .map(([key, inner]) =>
          key === '$ref' && typeof inner === 'string'
            ? [key, `#/components/schemas/${names[inner.replace('#/$defs/', '')] ?? inner}`]
            : [key, rewriteRefs(inner, names)],
        ),
    )
  }

  return {
    schemas,
    put({ $defs, ...schema }) {
      const parts = Object.entries(($defs ?? {}) as Record<string, Json>)
      const names = Object.fromEntries(parts.map(([key, part]) => [key, assignName(key, part)]))
      for (const [key, part] of parts) schemas[names[key] ?? key] = rewriteRefs(part, names) as Json
      return rewriteRefs(schema, names) as Json
    },
  }
}
