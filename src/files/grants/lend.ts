import { dirname } from 'node:path'
import { actorOf } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import type { Call } from '#base/tool.ts'
import { fileFault } from '../faults.ts'
import type { Grant, Need } from '../model.ts'
import type { GrantVerdict } from '../rules/grants.ts'
import { understandPath } from '../rules/paths.ts'
import { forNoAgent } from './changes.ts'
import type { GrantChanges } from './changes.ts'
import { grantable } from './grantable.ts'
import { pinOf } from './pin.ts'
import type { GrantsDeps } from './service.ts'

type Deps = Pick<GrantsDeps, 'db' | 'guard' | 'where' | 'now'> &
  Pick<GrantChanges, 'make' | 'end'> & {
    readonly decideNow: (caller: Caller, abs: string, need: Need) => Promise<GrantVerdict>
    readonly opens: (grant: Grant) => Promise<boolean>
    readonly refresh: () => Promise<void>
  }

/** Longer than any call: where its end is lost, time ends it. */
const longest = 60_000

export const isOwner = ({ kind, role }: Caller): boolean => kind === 'human' && role === 'owner'

/**
 * The owner takes back what agents did, whatever is granted by now (TR3). The worker still reaches only what is
 * granted: where nothing opens the file, it is for that person and that one call.
 */
export function createLending({ db, guard, where, now, ...deps }: Deps) {
  async function isOpen(caller: Caller, given: string, need: Need): Promise<boolean> {
    const { area, path } = understandPath(given, where)
    if (area === 'workspace') return true
    const { grant } = await deps.decideNow(caller, path, need)
    return grant !== undefined && (await deps.opens(grant))
  }

  /** `act` is given the path by which it finds the file. */
  async function lend<T>(
    { id, caller }: Pick<Call, 'id' | 'caller'>,
    given: string,
    need: 'read' | 'write',
    act: (path: string) => Promise<T>,
  ): Promise<T> {
    if (!isOwner(caller) || (await isOpen(caller, given, need))) return act(given)
    const permission = need === 'read' ? 'read' : 'read-write'
    const pin = await lendable(given, permission)
    if (pin.kind !== 'file') return act(given)
    const actor = actorOf(caller)
    const grant = await db.transact((tx) =>
      deps.make(tx, {
        ...pin,
        agent: forNoAgent,
        permission,
        // A restart ends it as well.
        scope: 'session',
        expiresAt: now() + longest,
        grantedBy: 'user_implicit',
        actor,
        call: id,
      }),
    )
    try {
      await deps.refresh()
      return await act(pin.path)
    } finally {
      await db.transact((tx) => deps.end(tx, grant, 'done', actor, id))
      await deps.refresh()
    }
  }

  async function lendable(given: string, permission: 'read' | 'read-write') {
    try {
      return await grantable(given, permission, { guard, where })
    } catch (error) {
      if (!(error instanceof CoworkError) || error.code !== 'not_found') throw error
      const { path } = understandPath(given, where)
      const folder = await pinOf(dirname(path))
      throw fileFault(
        'no_grant',
        path,
        `${plainText(path, 300)} is not there any more, and no grant opens its folder.`,
        folder
          ? `Open its folder for a while, then try again: \`cowork grants add ${folder.path} --permission ${permission} --until 10m\`.`
          : 'Its folder is gone as well: make it first.',
      )
    }
  }

  return lend
}
