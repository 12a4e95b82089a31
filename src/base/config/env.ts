import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import type { ConfigPath } from './schema-lookup.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A value that overrides the file, with the variable or flag that set it. */
export type Override = { path: ConfigPath; value: unknown; origin: string }

/** The base folders of `~` paths and of relative paths. */
export type Folders = { home: string; cwd: string }

/** Returns `process.env`. No other code reads it; functions take an Environment. */
export const currentEnvironment = (): Environment => process.env

export const currentFolders = (): Folders => ({ home: homedir(), cwd: process.cwd() })

type Variable = { name: string; path: ConfigPath; upOnly?: true; read?: (value: string) => unknown }

const logLevels: Record<string, string> = {
  warning: 'warn',
  critical: 'error',
  fatal: 'error',
  trace: 'debug',
}
const lowerCase = (value: string) => value.toLowerCase()
const logLevel = (value: string) => logLevels[lowerCase(value)] ?? lowerCase(value)

/** The environment variables of the source projects and their settings (SV6). */
export const variables: readonly Variable[] = [
  // Other programs use these three names too: a bridge could inherit them from its client by accident (SV6).
  { name: 'TRANSPORT', path: ['server', 'transport'], upOnly: true, read: lowerCase },
  { name: 'PORT', path: ['server', 'port'], upOnly: true },
  { name: 'LOG_LEVEL', path: ['server', 'log_level'], upOnly: true, read: logLevel },
  { name: 'WORKSPACE_PATH', path: ['workspace', 'path'] },
  { name: 'GRANTS_DB_PATH', path: ['grants', 'database'] },
  { name: 'AUDIT_LOG_PATH', path: ['audit', 'log_path'] },
  { name: 'TEMP_CLEANUP_DAYS', path: ['cleanup', 'temp_retention_days'] },
  { name: 'WORKSYNC_DATA_ROOT', path: ['work', 'data_root'] },
  { name: 'WORKSYNC_HOST', path: ['work', 'host'] },
  { name: 'WORKSYNC_PORT', path: ['work', 'port'] },
  { name: 'WORKSYNC_PORT', path: ['work', 'listen'], read: () => true },
  { name: 'WORKSYNC_AUTO_SYNC', path: ['work', 'auto_sync'] },
  { name: 'WORKSYNC_SYNC_DEBOUNCE', path: ['work', 'sync_debounce'] },
  { name: 'WORKSYNC_API_KEY', path: ['work', 'api_key'] },
]

/** Reads `variables` as overrides. `forUp` is true only for `cowork up` and `npm start`. */
export function readEnvironmentOverrides(
  env: Environment,
  { forUp }: { forUp: boolean },
): Override[] {
  return variables
    .filter(({ upOnly }) => forUp || !upOnly)
    .flatMap(({ name, path, read }) => {
      const value = env[name]
      return value
        ? [{ path, value: read ? read(value) : value, origin: `environment variable ${name}` }]
        : []
    })
}

/** Reads the identity that a manually started client claims (I5, I7, I13). It is never part of the configuration. */
export function readCallerEnvironment(env: Environment) {
  return {
    agentId: env['AGENT_ID'] || undefined,
    sessionId: env['SESSION_ID'] || undefined,
    token: env['COWORK_TOKEN'] || undefined,
  }
}

export const stateDirectory = (env: Environment, folders: Folders): string =>
  expandPath(env['COWORK_STATE_DIR'] || '~/.cowork', folders.home, folders.cwd)

export const mcpSettingsFile = (env: Environment, folders: Folders): string => {
  const named = env['COWORK_MCP_SETTINGS_PATH']
  if (named) return expandPath(named, folders.home, folders.cwd)
  return join(stateDirectory(env, folders), 'mcp-settings.json')
}

export function expandPath(path: string, home: string, base: string): string {
  if (/^~[^/\\]/.test(path))
    throw new CoworkError('config_invalid', `Unsupported path: ${path}. Only ~/ is expanded.`, {
      hint: 'Use an absolute path.',
    })
  return path.startsWith('~') ? resolve(home, `.${path.slice(1)}`) : resolve(base, path)
}
