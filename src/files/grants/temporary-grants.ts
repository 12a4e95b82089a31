import { dirname } from 'node:path'
import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Call } from '#base/tool.ts'
import { isSameInode } from '../confine/inode.ts'
import { fileError, hasCode } from '../error-text.ts'
import type { Grant, AccessKind, Permission } from '../model.ts'
import type { GrantVerdict } from '../rules/grants.ts'
import { parsePath } from '../rules/paths.ts'
import { noAgentId } from './grant-writer.ts'
import type { GrantWriter } from './grant-writer.ts'
import { pinPath } from './pin.ts'
import type { TimedPin } from './pin.ts'
import type { GrantsDeps } from './service.ts'

type TemporaryGrantCall = Pick<Call, 'id' | 'caller'>

type TemporaryGrant = {
  readonly pin: TimedPin
  readonly permission: 'read' | 'read-write'
  readonly expiresAt: number
  /** Count of calls that use the grant. The last one ends it. */
  users: number
  readonly made: Promise<Grant>
  readonly ended: PromiseWithResolvers<void>
}

type Deps = Pick<GrantsDeps, 'db' | 'pathContext' | 'now'> &
  Pick<GrantWriter, 'make' | 'end'> & {
    readonly decideNow: (caller: Caller, abs: string, need: AccessKind) => Promise<GrantVerdict>
    readonly isInPlace: (grant: Grant) => Promise<boolean>
    readonly resolveTarget: (requestedPath: string, permission: Permission) => Promise<TimedPin>
    readonly refresh: () => Promise<void>
  }

/** Longer than any two calls. If the end of a grant is lost, the grant expires. */
const maxLifetimeMs = 120_000
/** The remaining lifetime that another call needs to share a grant. */
const minRemainingMs = 60_000

export const isOwner = ({ kind, role }: Caller): boolean => kind === 'human' && role === 'owner'

/**
 * Gives the owner access to a file for one call, so that the owner can undo agent changes without a grant (TR3). The
 * worker reaches only granted files, so a temporary grant is made. It ends with the last call that uses it.
 */
export function createTemporaryGrants({ db, pathContext, now, ...deps }: Deps) {
  /** By path. An unused grant stays here until it has ended. */
  const temporaryGrants = new Map<string, TemporaryGrant>()

  /** A temporary grant of another call does not count: it ends with that call. */
  async function hasAccess(
    caller: Caller,
    requestedPath: string,
    need: AccessKind,
  ): Promise<boolean> {
    const { area, path } = parsePath(requestedPath, pathContext)
    if (area === 'workspace') return true
    const { grant } = await deps.decideNow(caller, path, need)
    return grant !== undefined && grant.agent !== noAgentId && (await deps.isInPlace(grant))
  }

  /** Runs `act` with the path at which the worker finds the file. */
  async function withTemporaryGrant<T>(
    call: TemporaryGrantCall,
    requestedPath: string,
    need: 'read' | 'write',
    act: (path: string) => Promise<T>,
  ): Promise<T> {
    const { caller } = call
    if (!isOwner(caller) || (await hasAccess(caller, requestedPath, need)))
      return act(requestedPath)
    const permission = need === 'read' ? 'read' : 'read-write'
    const pin = await resolveFile(requestedPath, permission)
    if (pin.kind !== 'file') return act(requestedPath)
    const temporary = await acquire(pin, permission, call)
    try {
      await temporary.made
      await deps.refresh()
      return await act(pin.path)
    } finally {
      temporary.users--
      if (temporary.users === 0) await release(temporary, call)
    }
  }

  /** Shares an existing temporary grant if it suffices; otherwise waits for its end and makes a new one. */
  async function acquire(
    pin: TimedPin,
    permission: TemporaryGrant['permission'],
    call: TemporaryGrantCall,
  ): Promise<TemporaryGrant> {
    for (;;) {
      const before = temporaryGrants.get(pin.path)
      if (!before) break
      if (canShare(before, pin, permission)) {
        before.users++
        return before
      }
      await before.ended.promise
    }
    const expiresAt = now() + maxLifetimeMs
    const ended = Promise.withResolvers<void>()
    const made = make(pin, permission, expiresAt, call)
    const temporary: TemporaryGrant = { pin, permission, expiresAt, users: 1, made, ended }
    temporaryGrants.set(pin.path, temporary)
    return temporary
  }

  const canShare = (
    { pin, users, expiresAt, ...temporary }: TemporaryGrant,
    wanted: TimedPin,
    permission: string,
  ) =>
    users > 0 &&
    (temporary.permission === permission || temporary.permission === 'read-write') &&
    isSameInode(pin, wanted) &&
    expiresAt - now() >= minRemainingMs

  const make = (
    pin: TimedPin,
    permission: TemporaryGrant['permission'],
    expiresAt: number,
    { id, caller }: TemporaryGrantCall,
  ): Promise<Grant> =>
    db.transact((tx) =>
      deps.make(tx, {
        ...pin,
        agent: noAgentId,
        permission,
        // A restart ends the grant.
        scope: 'session',
        // The owner may read a file with other hard links.
        hardLinks: true,
        expiresAt,
        grantedBy: 'user_implicit',
        actor: toActor(caller),
        call: id,
      }),
    )

  async function release({ pin, made, ended }: TemporaryGrant, { id, caller }: TemporaryGrantCall) {
    try {
      const grant = await made.catch(() => undefined)
      if (!grant) return
      await db.transact((tx) => deps.end(tx, grant, 'done', toActor(caller), id))
      await deps.refresh()
    } finally {
      temporaryGrants.delete(pin.path)
      ended.resolve()
    }
  }

  async function resolveFile(requestedPath: string, permission: 'read' | 'read-write') {
    try {
      return await deps.resolveTarget(requestedPath, permission)
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error
      const { path } = parsePath(requestedPath, pathContext)
      const folder = await pinPath(dirname(path))
      throw fileError(
        'no_grant',
        path,
        `${sanitizeText(path, 300)} no longer exists, and no grant covers its folder.`,
        folder
          ? `Grant the folder, then retry: \`cowork grants add ${folder.path} --permission ${permission} --until 10m\`.`
          : 'Create its folder first.',
      )
    }
  }

  return withTemporaryGrant
}
