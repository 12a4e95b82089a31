/** Words of the file domain. No code here, so that both the daemon and the worker may read it. */

import type { PathRequest } from '#base/tool.ts'
import type { filesErrors } from './errors.ts'

export type Permission = 'read' | 'read-write' | 'write'
type GrantScope = 'session' | 'permanent'
export type GrantedBy = 'user_explicit' | 'user_implicit' | 'system_setup'

/** What a person lets an agent do with a file or folder of theirs (GR1); or never (`deny`, GR3). */
export type Grant = {
  readonly id: string
  /** An agent's id, or `*` for all. */
  readonly agent: string
  /** The machine whose disk it is about; another daemon of the same database leaves it alone. */
  readonly node: string
  /** The real path: no link in it when it was made. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** Device, inode and birth as decimal text: a path that leads elsewhere by now is not what was granted (PV9). */
  readonly dev: string
  readonly ino: string
  /** Nothing where the disk does not say it, and of grants from before it was kept. */
  readonly born: string | null
  readonly permission: Permission | 'deny'
  readonly scope: GrantScope
  readonly session: string | null
  readonly hardLinks: boolean
  readonly grantedAt: number
  readonly grantedBy: GrantedBy
  /** Who did it: a person's id, `config`, `import`. */
  readonly by: string
  readonly approval: string | null
  readonly expiresAt: number | null
  readonly lastAccessed: number | null
  readonly accessCount: number
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

export type Area = 'workspace' | 'granted'

/** What a call wants to do with a path. `create` is a new file only; `delete` is for the workspace. */
export type AccessKind = PathRequest['need']

/** How well the disk is guarded here (PV6): kernel rules and walk; the walk alone; checks before and after. */
export type Containment = 'landlock' | 'walk' | 'checked'

/** The codes of FT10, and what else can go wrong with a file. */
export type FileErrorCode =
  | Exclude<
      keyof typeof filesErrors,
      | 'invalid_glob'
      | 'denied_above'
      | 'narrower_grant'
      | 'session_ended'
      | 'config_overruled'
      | 'workspace_missing'
      | 'workspace_unusable'
    >
  | 'too_large'
  | 'not_found'
  | 'stale'
  | 'timeout'
  | 'interrupted'
  | 'cancelled'
