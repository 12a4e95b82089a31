import type { Override } from './env.ts'
import { formatConfigPath } from './schema-issues.ts'
import type { ConfigPath } from './schema-lookup.ts'

const noCleanup = 'files in temp/ are never deleted automatically'
const noJobs = 'plans and jobs are not available'
const noAutoSync = 'only `worksync_sync` writes the vault'

/**
 * Settings that are accepted but have no effect in this version, with the actual behavior. Most are in a sample
 * configuration of a source project. no-effect.test.ts proves that every other setting is read (RM4).
 */
export const settingsWithoutEffect: Readonly<Record<string, string>> = {
  'server.sandbox_port': 'MCP Apps are not available',
  'server.limits.file_body_bytes': 'the limit of a file write is always 72 MiB',
  'agents[].workspace_id': 'agents are not grouped',
  'trust.autonomous_threshold': 'authority.thresholds.act decides',
  'feedback.override_requires_reason': 'an override always has a type',
  'feedback.reason_types': 'all five override types are available',
  'feedback.override_trust_impact':
    'the type and severity of the override determine the loss of trust',
  'sentry.sensitive_keys': 'use audit.redact to add redaction patterns',
  'sentry.db_path': 'traces are in the ledger',
  'approvals.token_ttl': noJobs,
  'cleanup.temp_retention_days': noCleanup,
  'cleanup.run_schedule': noCleanup,
  'cleanup.notify_before_delete': noCleanup,
  'work.auto_sync': noAutoSync,
  'work.sync_debounce': noAutoSync,
  'work.reserved_paths': 'agents do not see the paths of claimed stories',
  'jobs.auto_approve': noJobs,
  'jobs.bulk_limit': noJobs,
  'jobs.lease_seconds': noJobs,
  'jobs.on_stale': noJobs,
}

type WarningInput = {
  /** The settings of the file. */
  readonly settings: unknown
  readonly locate: (path: ConfigPath) => string
  readonly overrides: readonly Override[]
}

/** Returns one line for each setting without effect; for a list, only for the first item. */
export function listWarnings({ settings, locate, overrides }: WarningInput): string[] {
  const sources = new Map<string, string>()
  for (const path of listPaths(settings)) {
    const key = toSettingKey(path)
    if (!sources.has(key)) sources.set(key, locate(path))
  }
  for (const { path, origin } of overrides) sources.set(toSettingKey(path), origin)
  return Object.entries(settingsWithoutEffect).flatMap(([key, instead]) => {
    const source = sources.get(key)
    return source === undefined ? [] : [formatWarning(key, source, instead)]
  })
}

const formatWarning = (key: string, source: string, instead: string) =>
  `${key} (${source}) has no effect in this version: ${instead}`

/** `agents[0].id` and `agents[1].id` are the same setting. */
const toSettingKey = (path: ConfigPath): string =>
  formatConfigPath(path).replaceAll(/\[\d+\]/g, '[]')

/** Lists the path of every value and of every list. */
function* listPaths(value: unknown, path: ConfigPath = []): Generator<ConfigPath> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value))
    yield* listPaths(item, [...path, Array.isArray(value) ? Number(key) : key])
}
