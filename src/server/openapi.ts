import type * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import { toJsonSchema, toWireTool } from './mcp/wire.ts'
import type { Route } from './routes/route.ts'

type Json = Record<string, unknown>

/** The whole API as OpenAPI 3.1 (SV22), from the same values that are mounted and listed. */
export function buildOpenApi(
  routes: readonly Route[],
  tools: readonly Tool[],
  version: string,
): Json {
  const shelf = createShelf()
  const paths: Record<string, Json> = {}
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const route of routes) add(route.path, route.method, routeOperation(route, shelf))
  for (const tool of tools) add(`/api/tools/${tool.name}/call`, 'POST', toolOperation(tool, shelf))
  return {
    openapi: '3.1.1',
    info: {
      title: 'cowork',
      version,
      description: 'What people and programs use beside MCP. Every tool has an address of its own.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://localhost:8765' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: { Refused: refused },
      schemas: shelf.schemas,
    },
  }
}

const refused = {
  description: 'Refused or failed: what happened and what to do next',
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

function routeOperation(route: Route, shelf: Shelf): Json {
  const { method, path, summary, by, params, query, body, answer, status = 200 } = route
  const done = { description: 'media' in answer ? answer.description : summary }
  const content =
    'media' in answer
      ? { [answer.media]: { schema: { type: 'string' } } }
      : json(shelf.put(toJsonSchema(answer, 'output')))
  return {
    operationId: operationId(method, path),
    summary,
    tags: [path.split('/')[2] ?? 'server'],
    ...(by === 'all' && { security: [] }),
    ...(by === 'human' && { description: 'For people only.' }),
    ...((params ?? query) && {
      parameters: [...parametersOf(params, 'path', shelf), ...parametersOf(query, 'query', shelf)],
    }),
    ...(body && {
      requestBody: { required: true, content: json(shelf.put(toJsonSchema(body, 'input'))) },
    }),
    responses: { [status]: { ...done, content }, default: refusedRef },
  }
}

function toolOperation(tool: Tool, shelf: Shelf): Json {
  const { inputSchema, outputSchema = {} } = toWireTool(tool)
  const call = { type: 'object', properties: { arguments: shelf.put(inputSchema) } }
  const answer = {
    type: 'object',
    required: ['call', 'output'],
    properties: { call: { type: 'string' }, output: shelf.put(outputSchema) },
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

function parametersOf(fields: z.ZodObject | undefined, where: string, shelf: Shelf): Json[] {
  if (!fields) return []
  const { properties = {}, required = [] } = toJsonSchema(fields, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: shelf.put(schema),
  }))
}

type Shelf = { readonly schemas: Record<string, Json>; put(schema: Json): Json }

/** Parts that a schema names in itself must be named in the document, where alone references lead. */
function createShelf(): Shelf {
  const schemas: Record<string, Json> = {}
  const names = new Map<string, string>()

  function nameOf(key: string, part: unknown): string {
    const content = JSON.stringify(part)
    const known = names.get(content)
    if (known !== undefined) return known
    const name = key.startsWith('__') ? `Part${names.size + 1}` : key
    names.set(content, name)
    return name
  }

  const led = (value: unknown, to: Readonly<Record<string, string>>): unknown => {
    if (Array.isArray(value)) return value.map((item) => led(item, to))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        // Zod says of every whole number that JavaScript can hold it.
        .filter(([, inner]) => Math.abs(Number(inner)) !== Number.MAX_SAFE_INTEGER)
        .map(([key, inner]) =>
          key === '$ref' && typeof inner === 'string'
            ? [key, `#/components/schemas/${to[inner.replace('#/$defs/', '')] ?? inner}`]
            : [key, led(inner, to)],
        ),
    )
  }

  return {
    schemas,
    put({ $defs, ...schema }) {
      const parts = Object.entries(($defs ?? {}) as Record<string, Json>)
      const to = Object.fromEntries(parts.map(([key, part]) => [key, nameOf(key, part)]))
      for (const [key, part] of parts) schemas[to[key] ?? key] = led(part, to) as Json
      return led(schema, to) as Json
    },
  }
}
