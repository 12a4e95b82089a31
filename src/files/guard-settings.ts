import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '#base/config/index.ts'
import type { StatePaths } from '#base/state.ts'
import { isWithin } from './rules/paths.ts'
import type { GuardSettings } from './worker/protocol.ts'

type GuardInput = {
  readonly config: Pick<
    Config,
    'security' | 'work' | 'storage' | 'ledger' | 'audit' | 'grants' | 'server'
  >
  readonly paths: StatePaths
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  /** The configuration file, if outside the state directory. */
  readonly configFile?: string | undefined
}

/** Built-in protected paths (PV4). The configuration can add paths but not remove these. */
const builtInForbidden = [
  '~/.ssh',
  '~/.gnupg',
  '~/.aws',
  '~/.config',
  '~/.annabelle/data',
  '/etc',
  '/var',
  '/proc',
  '/sys',
  '/dev',
]

/** Builds the guard settings from the configuration and the real paths of cowork's files. */
export function toGuardSettings(input: GuardInput): GuardSettings {
  const { config, home, workspace } = input
  const { security, work } = config
  // The trash and rotated audit files are not for agents.
  const internalFolders = ['trash', 'aside'].map((name) => join(workspace, '.cowork', name))
  const closed = [
    ...builtInForbidden.map((path) => path.replace(/^~/, home)),
    ...listStateFiles(input),
    ...internalFolders,
  ]
  // Some systems have home folders below /var; the rule protects the program files there.
  const open = [tmpdir(), '/var/tmp', home].flatMap(withRealPath)
  const vault = work.vault_path ?? join(work.data_root, 'vault')
  return {
    home,
    forbidden: [...new Set([...closed, ...security.forbidden_paths].flatMap(withRealPath))],
    except: [...new Set(open)].filter((path) =>
      withRealPath('/var').some((root) => isWithin(path, root)),
    ),
    readOnly: [work.data_root, vault, join(workspace, '.cowork')].flatMap(withRealPath),
    sensitive: security.sensitive_patterns,
    forbiddenExtensions: security.forbidden_extensions_create,
    workspace,
  }
}

function listStateFiles({ config, paths, configFile }: GuardInput): string[] {
  const { storage, ledger, audit, grants, server } = config
  const store = storage.url === undefined ? storage.path : paths.store
  return [
    paths.dir,
    paths.socket,
    paths.apiSocket,
    ...['', '-wal', '-shm', '-journal'].map((end) => store + end),
    ledger.key_path,
    ...ledger.checkpoint_copies,
    audit.log_path,
    ...(grants.database === undefined ? [] : [grants.database]),
    ...(server.tls ? [server.tls.key] : []),
    ...(configFile === undefined ? [] : [configFile]),
  ]
}

/** Returns the path and its real path, so that a symbolic link cannot bypass the protection. */
function withRealPath(path: string): string[] {
  try {
    const real = realpathSync(path)
    return real === path ? [path] : [path, real]
  } catch {
    return [path]
  }
}
