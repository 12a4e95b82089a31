import * as z from 'zod'

const time = z.iso.datetime()

const status = z.object({
  state: z.enum(['connecting', 'ready', 'failed', 'disabled']),
  transport: z.enum(['stdio', 'sse', 'streamableHttp']),
  lastError: z.string().optional(),
  authRequired: z.boolean().optional(),
})

const server = z.object({
  name: z.string(),
  description: z.string(),
  status,
  protocol_version: z.string().nullable(),
  tools: z.number().int(),
  quarantined: z.number().int(),
  calls: z.number().int(),
  errors: z.number().int(),
  restarts: z.number().int(),
  latency_ms: z.object({ p50: z.number(), p95: z.number() }).nullable(),
  retry_at: time.nullable(),
})
export type ServerResult = z.output<typeof server>

const definition = z.record(z.string(), z.unknown())

const tool = z.object({
  name: z.string().describe('Name for agents'),
  tool: z.string().describe('Name on its server'),
  title: z.string(),
  description: z.string(),
  effect: z.enum(['read', 'write', 'destructive']),
  listed: z.boolean().describe('False while the tool is quarantined'),
})

const quarantined = z.object({
  tool: z.string(),
  reason: z.enum(['new', 'changed', 'renamed', 'flagged']),
  before: definition.nullable(),
  after: definition,
})
export type QuarantineResult = z.output<typeof quarantined>

const flag = z.object({
  tool: z.string(),
  kind: z.enum(['invisible', 'instruction', 'look_alike', 'shadow', 'annotation']),
  message: z.string(),
})

export const gatewayResults = {
  cowork_servers: z.object({
    servers: z.array(server),
    settings_path: z.string(),
    settings_error: z.string().nullable(),
  }),
  cowork_server_tools: z.object({
    server: z.string(),
    tools: z.array(tool),
    quarantined: z.array(quarantined),
    flags: z.array(flag),
    raw: z.array(definition).describe('The tools as the server lists them'),
  }),
  cowork_server_logs: z.object({
    server: z.string(),
    lines: z.array(z.object({ at: time, line: z.string() })),
  }),
  cowork_server_resources: z.looseObject({}).describe('The answer of the server'),
  cowork_server_resource: z.looseObject({}).describe('The answer of the server'),
  cowork_add_server: z.object({ server, settings_path: z.string() }),
  cowork_remove_server: z.object({ server: z.string(), settings_path: z.string() }),
  cowork_restart_server: server,
  cowork_accept_tools: z.object({ server: z.string(), accepted: z.array(z.string()) }),
}

const ok = z.literal(true)
const answer = z.object({ ok, result: z.looseObject({}) })

/** The REST answers of seed 002, exactly (U3). */
export const gatewayAnswers = {
  'GET /api/mcp/servers': z.object({
    ok,
    servers: z.array(z.object({ name: z.string(), description: z.string(), status })),
  }),
  'GET /api/mcp/servers/{server}/tools': z.object({ ok, tools: z.array(definition) }),
  'POST /api/mcp/servers/{server}/tools/call': answer,
  'GET /api/mcp/servers/{server}/resources': answer,
  'GET /api/mcp/servers/{server}/resource-templates': answer,
  'GET /api/mcp/servers/{server}/resource': answer,
}
