import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '#base/config/index.ts'
import type { StatePaths } from '#base/state.ts'
import { isWithin } from './rules/paths.ts'
import type { GuardSettings } from './worker/protocol.ts'

type Given = {
  readonly config: Pick<
    Config,
    'security' | 'work' | 'storage' | 'ledger' | 'audit' | 'grants' | 'server'
  >
  readonly paths: StatePaths
  readonly home: string
  /** Its real path. */
  readonly workspace: string
  /** Where the configuration was read from, if not from the state folder. */
  readonly configFile?: string | undefined
}

/** The built-in core of PV4, which config may add to and not take from. */
const core = [
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

/** What is closed, read-only, sensitive and never made, from config and from where things really lie. */
export function toGuardSettings(given: Given): GuardSettings {
  const { config, home, workspace } = given
  const { security, work } = config
  // What was deleted is not there any more, for whoever reads; and what was set aside is not for agents.
  const apart = ['trash', 'aside'].map((name) => join(workspace, '.cowork', name))
  const closed = [...core.map((path) => path.replace(/^~/, home)), ...ownState(given), ...apart]
  // On some systems homes lie below /var, and what is meant there are the files of programs.
  const open = [tmpdir(), '/var/tmp', home].flatMap(spellings)
  const vault = work.vault_path ?? join(work.data_root, 'vault')
  return {
    home,
    forbidden: [...new Set([...closed, ...security.forbidden_paths].flatMap(spellings))],
    except: [...new Set(open)].filter((path) =>
      spellings('/var').some((one) => isWithin(path, one)),
    ),
    readOnly: [work.data_root, vault, join(workspace, '.cowork')].flatMap(spellings),
    sensitive: security.sensitive_patterns,
    forbiddenExtensions: security.forbidden_extensions_create,
    workspace,
  }
}

function ownState({ config, paths, configFile }: Given): string[] {
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

/** As it is written, and where that leads: a link is no way around. */
function spellings(path: string): string[] {
  try {
    const real = realpathSync(path)
    return real === path ? [path] : [path, real]
  } catch {
    return [path]
  }
}
