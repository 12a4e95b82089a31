import { computeDigest, toSingleLine } from '#approvals'
import type { Approval } from '#approvals'
import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Config } from '#base/config/index.ts'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Call } from '#base/tool.ts'
import { fileError } from '../error-text.ts'
import type { Grant, AccessKind } from '../model.ts'
import { allows, covers } from '../rules/grants.ts'
import type { GrantVerdict } from '../rules/grants.ts'
import { isWithin, parsePath } from '../rules/paths.ts'
import { toGrantId } from './kind.ts'
import type { JoinedSessions } from './kind.ts'
import type { GrantRequest } from './request-content.ts'
import { inspectPath, resolveRealPath } from './pin.ts'
import type { PathInspection } from './pin.ts'
import type { GrantsDeps } from './service.ts'

export type AccessRequest = {
  readonly path: string
  readonly permission: 'read' | 'read-write'
  readonly reason: string
}

/** What an agent is told: what a person decided, and of the disk only where a link leads that needs nobody's yes. */
export type AccessResult =
  | { readonly status: 'granted'; readonly grant: Grant }
  /** It lies in the workspace; at this path, where it was named over a link. */
  | { readonly status: 'granted'; readonly grant?: never; readonly path?: string }
  | { readonly status: 'denied'; readonly reason?: string }
  | { readonly status: 'pending'; readonly approval: Approval }

type Deps = Pick<
  GrantsDeps,
  'db' | 'config' | 'guard' | 'where' | 'node' | 'approvals' | 'policyVersion' | 'now'
> & {
  readonly decideNow: (caller: Caller, abs: string, need: AccessKind) => Promise<GrantVerdict>
  readonly opens: (grant: Grant) => Promise<boolean>
  readonly refresh: () => Promise<void>
  readonly of: (caller: Caller) => Promise<readonly Grant[]>
  readonly joined: JoinedSessions
}

/** So many of one agent wait at most: more would only bury the others. */
const mostWaiting = 50

export function createRequest(deps: Deps) {
  const { db, config, guard, where, node, approvals, policyVersion, now } = deps

  /** Asks a person, or says what became of the same question (GR3). */
  async function request(asked: AccessRequest, call: Call): Promise<AccessResult> {
    const { caller } = call
    const understood = parsePath(asked.path, where)
    if (understood.area === 'workspace') return { status: 'granted' }
    const { path } = understood
    const need = asked.permission === 'read' ? 'read' : 'write'
    checkOpen(path, need)
    const real = await resolveRealPath(path)
    const known = await answered(caller, path, need)
    if (known && (real === path || !(await leadsOut(known, caller, real, need)))) return known
    const digest = digestFor(caller, path, asked.permission)
    const equal = { kind: 'grant', requester: caller.id, digest }
    const [latest] = await approvals().list({ ...equal, limit: 1 })
    // Whoever asked before under its name was another (I4).
    const mine = ({ requester, createdAt }: Approval) => isOwnRecord(caller, requester, createdAt)
    const before = latest && mine(latest) && (await outcome(latest, caller, real, need))
    if (before) return before

    const at = now()
    const seen = withoutHomeFolder(
      await inspectPath(path, guard),
      await resolveRealPath(where.home),
    )
    checkOpen(path, need, seen.real)
    if (parsePath(seen.real, where).area === 'workspace')
      return { status: 'granted', path: seen.real }
    const really = seen.real === path ? undefined : await answered(caller, seen.real, need)
    if (really) return really
    const dead = await deadOnes(caller, [path, seen.real])
    return db.transact(async (tx) => {
      // Another call of the same agent may have asked in the meantime.
      const other = (await approvals().pendingLike(tx, equal, mostWaiting)).find(mine)
      if (other) return joinedBy(caller, other)
      await checkRoom(tx, caller)
      const approval = await open(tx, { ...asked, path }, { ...seen, at, dead }, digest, call)
      return { status: 'pending', approval }
    })
  }

  /** Where a link leads is not the agent's to know. */
  function checkOpen(path: string, need: AccessKind, real = path): void {
    if (guard.checkForbidden(real, need))
      throw fileError('forbidden_path', path, `${sanitizeText(path, 300)} is closed to agents.`)
  }

  async function answered(
    caller: Caller,
    path: string,
    need: AccessKind,
  ): Promise<AccessResult | undefined> {
    const verdict = await deps.decideNow(caller, path, need)
    const { grant } = verdict
    if (grant) return (await deps.opens(grant)) ? { status: 'granted', grant } : undefined
    return verdict.denied && { status: 'denied', ...(await reasonOf(verdict.denied)) }
  }

  /**
   * Links are followed inside a grant only (PV1): one that leads elsewhere is a matter for a person, as that place
   * itself would be.
   */
  async function leadsOut(known: AccessResult, caller: Caller, real: string, need: AccessKind) {
    if (known.status !== 'granted' || !known.grant) return false
    return !covers(known.grant, real) || !(await deps.decideNow(caller, real, need)).grant
  }

  async function reasonOf({ approval: id }: Grant) {
    const approval = id === null ? undefined : await approvals().get(id)
    return approval ? reasonIn(approval) : {}
  }

  /** What lies there now was never granted (PV9): a person has to see it. */
  async function deadOnes(caller: Caller, paths: readonly string[]): Promise<string[]> {
    const theirs = await deps.of(caller)
    const over = theirs.filter((grant) => paths.some((path) => covers(grant, path)))
    const open = await Promise.all(over.map(deps.opens))
    return over.filter((_, at) => !open[at]).map(({ id }) => id)
  }

  function joinedBy({ session }: Caller, approval: Approval): AccessResult {
    deps.joined.set(approval.id, session)
    return { status: 'pending', approval }
  }

  const isWaiting = ({ status, expiresAt, deferred }: Approval) =>
    status === 'pending' && (deferred !== undefined || expiresAt === null || expiresAt > now())

  /** What a person said to the same question; nothing where it is to be asked anew. */
  async function outcome(
    approval: Approval,
    caller: Caller,
    real: string,
    need: AccessKind,
  ): Promise<AccessResult | undefined> {
    if (isWaiting(approval)) return joinedBy(caller, approval)
    if ((approval.decidedAt ?? 0) <= now() - config.approvals.call_ttl) return undefined
    if (approval.status === 'rejected') return { status: 'denied', ...reasonIn(approval) }
    if (approval.status !== 'approved') return undefined
    // Perhaps less than was asked for, or decided in another daemon a moment ago.
    await deps.refresh()
    const { grant_id: id = toGrantId(approval) } = (approval.answer ?? {}) as { grant_id?: string }
    const made = (await deps.of(caller)).find((one) => one.id === id)
    if (!made) return undefined
    const { grant } = await deps.decideNow(
      caller,
      real,
      allows(made.permission, need) ? need : 'read',
    )
    return grant && (await deps.opens(grant)) ? { status: 'granted', grant } : undefined
  }

  async function checkRoom(tx: Tx, { id: requester }: Caller): Promise<void> {
    const waiting = await approvals().pendingLike(tx, { kind: 'grant', requester }, mostWaiting)
    if (waiting.length >= mostWaiting)
      throw new CoworkError(
        'too_many_requests',
        `${mostWaiting} of your requests for access wait already.`,
        { hint: 'Wait for a person to decide, or take some back with cowork_withdraw.' },
      )
  }

  function open(
    tx: Tx,
    { path, permission, reason }: AccessRequest,
    seen: InspectedPath & { readonly at: number; readonly dead: readonly string[] },
    digest: string,
    { caller, id }: Call,
  ): Promise<Approval> {
    const more: GrantRequest = {
      path,
      real: seen.real,
      permission,
      is_folder: seen.pin?.kind === 'folder',
      missing: seen.pin === null,
      folder: seen.folderPin?.path ?? null,
      inside: seen.inside,
      sensitive: seen.sensitive,
      node,
      pin: seen.pin,
      folder_pin: seen.folderPin,
      pinned_at: seen.at,
      ...(seen.warning !== undefined && { warning: seen.warning }),
      ...(seen.dead.length > 0 && { replaces: seen.dead }),
    }
    const verb = permission === 'read' ? 'read' : 'read and write'
    const what = describeBroadPath(path, where.home) ?? 'files in'
    return approvals().open(tx, caller, id, {
      kind: 'grant',
      domain: 'files',
      action: 'request_grant',
      // As it was asked for: where it leads is shown to people only.
      target: path,
      summary: toSingleLine(`AI wants to ${verb} ${what}: ${sanitizeText(path)}`),
      mode: 'suggest',
      risk: seen.warning === undefined ? 'normal' : 'high',
      digest,
      group: groupFor(caller, permission),
      policyVersion: policyVersion(),
      trustLevel: null,
      confidence: null,
      content: {
        change: { path, permission, reason },
        reasoning: reason,
        why: whyAsked(
          seen.dead.length > 0
            ? 'You are asked because what was granted there is not there any more; something else may be.'
            : 'You are asked because files outside the workspace are opened by a person only.',
          config,
        ),
        extra: more,
      },
      details: { permission },
    })
  }

  return request
}

/** No policy and no trust have a say about access to files. */
export const whyAsked = (text: string, { authority }: Pick<Config, 'authority'>) => ({
  text,
  rules: [],
  policy_id: null,
  policy_description: null,
  thresholds: authority.thresholds,
  evidence_level: null,
  gated: false,
  high_risk_fields: [],
})

const reasonIn = ({ reason }: Approval) => (reason ? { reason } : {})

/** Those to read and those to write are not shown as one line. */
const groupFor = ({ id: agent }: Caller, permission: AccessRequest['permission']) =>
  computeDigest({ agent, action: 'request_grant', target: '', content: { permission } }).slice(
    0,
    16,
  )

/** The same question, whatever reason is given for it. */
const digestFor = ({ id: agent }: Caller, path: string, permission: AccessRequest['permission']) =>
  computeDigest({ agent, action: 'request_grant', target: path, content: { path, permission } })

const wholes = new Map([
  ['~', 'your whole home'],
  ['/', 'the whole disk'],
])

const describeBroadPath = (path: string, home: string): string | undefined =>
  wholes.get(path === home ? '~' : path)

type InspectedPath = PathInspection & { readonly warning?: string }

/**
 * The home is opened by whoever asks for it, and not as the folder around something: a name that is mistyped would
 * offer all of it.
 */
function withoutHomeFolder(seen: PathInspection, home: string): InspectedPath {
  const { pin, real, folderPin } = seen
  const isWide = (folder: string) => isWithin(home, folder)
  const warning = isWide(real) && {
    warning: `${wideText(real, home)}: what agents read there they know, whatever is closed later.`,
  }
  const isAround = pin?.kind !== 'folder' && folderPin !== null && isWide(folderPin.path)
  return { ...seen, ...(isAround && { folderPin: null }), ...warning }
}

function wideText(real: string, home: string): string {
  if (real === home) return 'This is your whole home'
  return real === '/' ? 'This is the whole disk, your home with it' : 'This holds your whole home'
}
