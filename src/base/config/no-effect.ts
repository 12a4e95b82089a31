import type { Environment, Override } from './env.ts'
import { formatConfigPath } from './schema-issues.ts'
import type { ConfigPath } from './schema-lookup.ts'

const noGateway = 'cowork does not start or call other MCP servers'
const noCleanup = 'files in temp/ stay until somebody deletes them'
const noJobs = 'plans and jobs are not served'
const noAutoSync = 'the vault is written by `worksync_sync` only'

/**
 * Settings that are accepted, mostly because a seed's sample has them, and change nothing in this version, with what
 * happens instead. no-effect.test.ts proves that every other setting is read (RM4).
 */
export const settingsWithoutEffect: Readonly<Record<string, string>> = {
  'server.sandbox_port': 'MCP Apps are not shown',
  'server.limits.file_body_bytes': 'the limit of a file write is always 72 MiB',
  'agents[].workspace_id': 'agents are not grouped by teams',
  'trust.autonomous_threshold': 'authority.thresholds.act decides',
  'feedback.override_requires_reason': 'an override always names its kind',
  'feedback.reason_types': 'all five kinds of override are offered',
  'feedback.override_trust_impact': 'the loss follows from the kind and severity of the override',
  'sentry.enabled': noGateway,
  'sentry.enforcement': noGateway,
  'sentry.sensitive_keys': `${noGateway}; audit.redact adds patterns to redact`,
  'sentry.db_path': 'traces are in the ledger',
  'approvals.token_ttl': noJobs,
  'cleanup.temp_retention_days': noCleanup,
  'cleanup.run_schedule': noCleanup,
  'cleanup.notify_before_delete': noCleanup,
  'work.auto_sync': noAutoSync,
  'work.sync_debounce': noAutoSync,
  'work.reserved_paths': 'agents are not told about the paths of claimed stories',
  'jobs.auto_approve': noJobs,
  'jobs.bulk_limit': noJobs,
  'jobs.lease_seconds': noJobs,
  'jobs.on_stale': noJobs,
}

/** Variables outside the configuration for which the same holds. */
export const variablesWithoutEffect: Readonly<Record<string, string>> = {
  COWORK_MCP_SETTINGS_PATH: noGateway,
}

type Given = {
  readonly env: Environment
  /** The settings of the file, and where each is. */
  readonly written: unknown
  readonly place: (path: ConfigPath) => string
  readonly overrides: readonly Override[]
  /** The default settings file of the gateway, if it exists. */
  readonly mcpSettings: string | undefined
}

/** One line for each setting that was given and has no effect; of a list of items, for the first. */
export function warningsFor({ env, written, place, overrides, mcpSettings }: Given): string[] {
  const sources = new Map<string, string>()
  for (const path of leavesOf(written)) {
    const key = keyOf(path)
    if (!sources.has(key)) sources.set(key, place(path))
  }
  for (const { path, origin } of overrides) sources.set(keyOf(path), origin)
  const settings = Object.entries(settingsWithoutEffect).flatMap(([key, instead]) => {
    const source = sources.get(key)
    return source === undefined ? [] : [line(key, source, instead)]
  })
  const variables = Object.entries(variablesWithoutEffect).flatMap(([name, instead]) =>
    env[name] ? [line(name, 'environment variable', instead)] : [],
  )
  const file = mcpSettings === undefined ? [] : [line('mcp-settings.json', mcpSettings, noGateway)]
  return [...settings, ...variables, ...file]
}

const line = (key: string, source: string, instead: string) =>
  `${key} (${source}) has no effect in this version: ${instead}`

/** `agents[0].id` and `agents[1].id` are one setting. */
const keyOf = (path: ConfigPath): string => formatConfigPath(path).replaceAll(/\[\d+\]/g, '[]')

/** Every path that holds a value, and every list. */
function* leavesOf(value: unknown, path: ConfigPath = []): Generator<ConfigPath> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value))
    yield* leavesOf(item, [...path, Array.isArray(value) ? Number(key) : key])
}
