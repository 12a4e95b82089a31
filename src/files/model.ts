/** Types shared by the daemon and the file worker. This file must not contain code. */

import type { PathRequest } from '#base/tool.ts'
import type { filesErrors } from './errors.ts'

export type Permission = 'read' | 'read-write' | 'write'
type GrantScope = 'session' | 'permanent'
export type GrantedBy = 'user_explicit' | 'user_implicit' | 'system_setup'

/** An agent's access to a file or folder (GR1); `deny` blocks it (GR3). */
export type Grant = {
  readonly id: string
  /** An agent id, or `*` for all agents. */
  readonly agent: string
  /** The machine whose disk is granted; daemons of other machines with the same database ignore the grant. */
  readonly node: string
  /** The real path, without symbolic links when the grant was made. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** Device, inode and birth time as decimal text: another file at the path is not granted (PV9). */
  readonly dev: string
  readonly ino: string
  /** Null if the disk has no birth times, and for grants of older versions. */
  readonly born: string | null
  readonly permission: Permission | 'deny'
  readonly scope: GrantScope
  readonly session: string | null
  readonly hardLinks: boolean
  readonly grantedAt: number
  readonly grantedBy: GrantedBy
  /** The id of a person, `config` or `import`. */
  readonly by: string
  readonly approval: string | null
  readonly expiresAt: number | null
  readonly lastAccessed: number | null
  readonly accessCount: number
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

export type Area = 'workspace' | 'granted'

/** The access that a call needs. `create` is for new files only; `delete` is for the workspace only. */
export type AccessKind = PathRequest['need']

/** The sandboxing of the worker (PV6): Landlock and path walk, path walk only, or checks before and after. */
export type Containment = 'landlock' | 'walk' | 'checked'

/** The error codes of FT10 and other file errors. */
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
