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

type LendingCall = Pick<Call, 'id' | 'caller'>

type Loan = {
  readonly pin: TimedPin
  readonly permission: 'read' | 'read-write'
  readonly expiresAt: number
  /** Calls that have it. The last of them ends it. */
  users: number
  readonly made: Promise<Grant>
  readonly ended: PromiseWithResolvers<void>
}

type Deps = Pick<GrantsDeps, 'db' | 'where' | 'now'> &
  Pick<GrantWriter, 'make' | 'end'> & {
    readonly decideNow: (caller: Caller, abs: string, need: AccessKind) => Promise<GrantVerdict>
    readonly opens: (grant: Grant) => Promise<boolean>
    readonly grantable: (given: string, permission: Permission) => Promise<TimedPin>
    readonly refresh: () => Promise<void>
  }

/** Longer than any two calls: where its end is lost, time ends it. */
const longest = 120_000
/** What is left of it for whoever comes to share it. */
const longEnough = 60_000

export const isOwner = ({ kind, role }: Caller): boolean => kind === 'human' && role === 'owner'

/**
 * The owner takes back what agents did, whatever is granted by now (TR3). The worker still reaches only what is
 * granted: where nothing opens the file, it is for that person, and ends with the last call that uses it.
 */
export function createTemporaryGrants({ db, where, now, ...deps }: Deps) {
  /** By path. One that nobody uses any more stays here until it has ended. */
  const loans = new Map<string, Loan>()

  /** What is lent to another call is not open to this one: it ends with that. */
  async function isOpen(caller: Caller, given: string, need: AccessKind): Promise<boolean> {
    const { area, path } = parsePath(given, where)
    if (area === 'workspace') return true
    const { grant } = await deps.decideNow(caller, path, need)
    return grant !== undefined && grant.agent !== noAgentId && (await deps.opens(grant))
  }

  /** `act` is given the path by which it finds the file. */
  async function lend<T>(
    call: LendingCall,
    given: string,
    need: 'read' | 'write',
    act: (path: string) => Promise<T>,
  ): Promise<T> {
    const { caller } = call
    if (!isOwner(caller) || (await isOpen(caller, given, need))) return act(given)
    const permission = need === 'read' ? 'read' : 'read-write'
    const pin = await lendable(given, permission)
    if (pin.kind !== 'file') return act(given)
    const loan = await borrow(pin, permission, call)
    try {
      await loan.made
      await deps.refresh()
      return await act(pin.path)
    } finally {
      loan.users--
      if (loan.users === 0) await giveBack(loan, call)
    }
  }

  /** Shared with whoever has the file for as much now; otherwise after that has ended. */
  async function borrow(
    pin: TimedPin,
    permission: Loan['permission'],
    call: LendingCall,
  ): Promise<Loan> {
    for (;;) {
      const before = loans.get(pin.path)
      if (!before) break
      if (isShared(before, pin, permission)) {
        before.users++
        return before
      }
      await before.ended.promise
    }
    const expiresAt = now() + longest
    const ended = Promise.withResolvers<void>()
    const made = make(pin, permission, expiresAt, call)
    const loan: Loan = { pin, permission, expiresAt, users: 1, made, ended }
    loans.set(pin.path, loan)
    return loan
  }

  const isShared = (
    { pin, users, expiresAt, ...loan }: Loan,
    wanted: TimedPin,
    permission: string,
  ) =>
    users > 0 &&
    (loan.permission === permission || loan.permission === 'read-write') &&
    isSameInode(pin, wanted) &&
    expiresAt - now() >= longEnough

  const make = (
    pin: TimedPin,
    permission: Loan['permission'],
    expiresAt: number,
    { id, caller }: LendingCall,
  ): Promise<Grant> =>
    db.transact((tx) =>
      deps.make(tx, {
        ...pin,
        agent: noAgentId,
        permission,
        // A restart ends it as well.
        scope: 'session',
        // It is one file, and a second name of it is no reason to keep it from its owner.
        hardLinks: true,
        expiresAt,
        grantedBy: 'user_implicit',
        actor: toActor(caller),
        call: id,
      }),
    )

  async function giveBack({ pin, made, ended }: Loan, { id, caller }: LendingCall) {
    try {
      const grant = await made.catch(() => undefined)
      if (!grant) return
      await db.transact((tx) => deps.end(tx, grant, 'done', toActor(caller), id))
      await deps.refresh()
    } finally {
      loans.delete(pin.path)
      ended.resolve()
    }
  }

  async function lendable(given: string, permission: 'read' | 'read-write') {
    try {
      return await deps.grantable(given, permission)
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error
      const { path } = parsePath(given, where)
      const folder = await pinPath(dirname(path))
      throw fileError(
        'no_grant',
        path,
        `${sanitizeText(path, 300)} is not there any more, and no grant opens its folder.`,
        folder
          ? `Open its folder for a while, then try again: \`cowork grants add ${folder.path} --permission ${permission} --until 10m\`.`
          : 'Its folder is gone as well: make it first.',
      )
    }
  }

  return lend
}
