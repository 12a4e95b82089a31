import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'

/** Toolsets of cowork itself; a server with such a name could imitate its tools (U4). */
const reservedNames: readonly string[] = ['cowork', 'files', 'jobs', 'work', 'core', 'all']

const namePattern = /^[a-z0-9](?:[a-z0-9.-]|_(?!_)){0,38}[a-z0-9]$|^[a-z0-9]$/i

const serverName = z
  .string()
  .regex(namePattern, 'must have 1 to 40 letters, digits, dots, dashes or single underscores')
  .refine((name) => !reservedNames.includes(name.toLowerCase()), 'is reserved for cowork itself')

const texts = z.record(z.string(), z.string())

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((url) => URL.canParse(url) && new URL(url).username === '', {
    error: 'must not contain a user name or password: use headers',
  })

const transport = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: texts.default({}),
    cwd: z.string().min(1).optional(),
  }),
  z.strictObject({ type: z.literal('sse'), url: httpUrl, headers: texts.default({}) }),
  z.strictObject({ type: z.literal('streamableHttp'), url: httpUrl, headers: texts.default({}) }),
])

const toolScopes = z.strictObject({
  defaultScopes: z.array(z.string().min(1)).default([]),
  toolScopes: z.record(z.string(), z.array(z.string().min(1))).default({}),
})

const tool = z.strictObject({
  effect: z.enum(['read', 'write', 'destructive']).optional(),
  name: z
    .string()
    .regex(
      /^[a-zA-Z0-9_.-]{1,64}$/,
      'must have 1 to 64 letters, digits, dots, dashes or underscores',
    )
    .optional(),
  description: z.string().max(2000).optional(),
})

const server = z.strictObject({
  name: serverName,
  description: z.string().max(500).default(''),
  transport,
  toolScopes: toolScopes.optional(),
  enabled: z.boolean().default(true),
  timeoutSeconds: z.number().positive().max(3600).default(60),
  tools: z.record(z.string(), tool).default({}),
})

const settings = z.strictObject({ servers: z.array(server).max(100).default([]) })

export type ServerSettings = z.output<typeof server>
export type ServerTransport = ServerSettings['transport']

/** Reads `mcp-settings.json` in the format of seed 002. Throws with every issue and its path (U1). */
export function parseSettings(text: string, file: string): readonly ServerSettings[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalidSettings(file, [error instanceof Error ? error.message : 'not JSON'])
  }
  const parsed = settings.safeParse(value)
  if (!parsed.success) throw invalidSettings(file, parsed.error.issues.map(formatIssue))
  const { servers } = parsed.data
  const names = servers.map(({ name }) => name.toLowerCase())
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined)
    throw invalidSettings(file, [`servers: the name ${duplicate} is used twice`])
  return servers
}

/** Checks one server that a person adds. */
export function parseServer(value: unknown): ServerSettings {
  const parsed = server.safeParse(value)
  if (!parsed.success) throw invalidSettings('server', parsed.error.issues.map(formatIssue))
  return parsed.data
}

const formatIssue = ({ path, message }: z.core.$ZodIssue): string => {
  const at = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return at === '' ? message : `${at.replace(/^\./, '')} ${message}`
}

const invalidSettings = (file: string, issues: readonly string[]): CoworkError =>
  new CoworkError('server_settings_invalid', `Invalid ${file}: ${issues.join('; ')}.`, {
    hint: 'Fix the file. Until then the last valid settings stay active.',
    details: { issues },
  })
