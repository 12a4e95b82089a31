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

/** The reply to an agent. It contains no facts about the disk, except a path in the workspace. */
export type AccessResult =
  | { readonly status: 'granted'; readonly grant: Grant }
  /** In the workspace; `path` is the real path if the request used a symbolic link. */
  | { readonly status: 'granted'; readonly grant?: never; readonly path?: string }
  | { readonly status: 'denied'; readonly reason?: string }
  | { readonly status: 'pending'; readonly approval: Approval }

type Deps = Pick<
  GrantsDeps,
  'db' | 'config' | 'guard' | 'pathContext' | 'node' | 'approvals' | 'policyVersion' | 'now'
> & {
  readonly decideNow: (caller: Caller, abs: string, need: AccessKind) => Promise<GrantVerdict>
  readonly isInPlace: (grant: Grant) => Promise<boolean>
  readonly refresh: () => Promise<void>
  readonly listFor: (caller: Caller) => Promise<readonly Grant[]>
  readonly joined: JoinedSessions
}

/** Pending requests per agent: more would hide those of other agents. */
const maxPending = 50

export function createRequest(deps: Deps) {
  const { db, config, guard, pathContext, node, approvals, policyVersion, now } = deps

  /** Opens an access request, or returns the decision on an earlier equal request (GR3). */
  async function request(input: AccessRequest, call: Call): Promise<AccessResult> {
    const { caller } = call
    const parsed = parsePath(input.path, pathContext)
    if (parsed.area === 'workspace') return { status: 'granted' }
    const { path } = parsed
    const need = input.permission === 'read' ? 'read' : 'write'
    assertNotProtected(path, need)
    const real = await resolveRealPath(path)
    const answer = await findAnswer(caller, path, need)
    if (answer && (real === path || !(await leavesGrant(answer, caller, real, need)))) return answer
    const digest = computeRequestDigest(caller, path, input.permission)
    const equal = { kind: 'grant', requester: caller.id, digest }
    const [latest] = await approvals().list({ ...equal, limit: 1 })
    // An earlier agent with the same id is another agent (I4).
    const isOwn = ({ requester, createdAt }: Approval) => isOwnRecord(caller, requester, createdAt)
    const before = latest && isOwn(latest) && (await getOutcome(latest, caller, real, need))
    if (before) return before

    const at = now()
    const target = withoutHomeFolder(
      await inspectPath(path, guard),
      await resolveRealPath(pathContext.home),
    )
    assertNotProtected(path, need, target.real)
    if (parsePath(target.real, pathContext).area === 'workspace')
      return { status: 'granted', path: target.real }
    const realAnswer =
      target.real === path ? undefined : await findAnswer(caller, target.real, need)
    if (realAnswer) return realAnswer
    const stale = await findStaleGrants(caller, [path, target.real])
    return db.transact(async (tx) => {
      // Another call of the same agent may have opened the request since.
      const other = (await approvals().pendingLike(tx, equal, maxPending)).find(isOwn)
      if (other) return joinRequest(caller, other)
      await assertBelowPendingLimit(tx, caller)
      const inspected = { ...target, at, stale }
      const approval = await openRequest(tx, { ...input, path }, inspected, digest, call)
      return { status: 'pending', approval }
    })
  }

  /** The error names the requested path: the target of a symbolic link must not be disclosed to the agent. */
  function assertNotProtected(path: string, need: AccessKind, real = path): void {
    if (guard.checkForbidden(real, need))
      throw fileError('forbidden_path', path, `Protected path: ${sanitizeText(path, 300)}.`)
  }

  async function findAnswer(
    caller: Caller,
    path: string,
    need: AccessKind,
  ): Promise<AccessResult | undefined> {
    const verdict = await deps.decideNow(caller, path, need)
    const { grant } = verdict
    if (grant) return (await deps.isInPlace(grant)) ? { status: 'granted', grant } : undefined
    return verdict.denied && { status: 'denied', ...(await getDenialReason(verdict.denied)) }
  }

  /** Symbolic links are followed only inside a grant (PV1); a link that leads outside needs an access request. */
  async function leavesGrant(answer: AccessResult, caller: Caller, real: string, need: AccessKind) {
    if (answer.status !== 'granted' || !answer.grant) return false
    return !covers(answer.grant, real) || !(await deps.decideNow(caller, real, need)).grant
  }

  async function getDenialReason({ approval: id }: Grant) {
    const approval = id === null ? undefined : await approvals().get(id)
    return approval ? toReason(approval) : {}
  }

  /** Lists grants whose file or folder was replaced (PV9): the new one needs a decision. */
  async function findStaleGrants(caller: Caller, paths: readonly string[]): Promise<string[]> {
    const theirs = await deps.listFor(caller)
    const over = theirs.filter((grant) => paths.some((path) => covers(grant, path)))
    const open = await Promise.all(over.map(deps.isInPlace))
    return over.filter((_, at) => !open[at]).map(({ id }) => id)
  }

  function joinRequest({ session }: Caller, approval: Approval): AccessResult {
    deps.joined.set(approval.id, session)
    return { status: 'pending', approval }
  }

  const isPending = ({ status, expiresAt, deferred }: Approval) =>
    status === 'pending' && (deferred !== undefined || expiresAt === null || expiresAt > now())

  /** Returns the state of an earlier equal request, or undefined if a new request is needed. */
  async function getOutcome(
    approval: Approval,
    caller: Caller,
    real: string,
    need: AccessKind,
  ): Promise<AccessResult | undefined> {
    if (isPending(approval)) return joinRequest(caller, approval)
    if ((approval.decidedAt ?? 0) <= now() - config.approvals.call_ttl) return undefined
    if (approval.status === 'rejected') return { status: 'denied', ...toReason(approval) }
    if (approval.status !== 'approved') return undefined
    // The decision may give less than requested, or another daemon may have just made it.
    await deps.refresh()
    const { grant_id: id = toGrantId(approval) } = (approval.answer ?? {}) as { grant_id?: string }
    const made = (await deps.listFor(caller)).find((grant) => grant.id === id)
    if (!made) return undefined
    const { grant } = await deps.decideNow(
      caller,
      real,
      allows(made.permission, need) ? need : 'read',
    )
    return grant && (await deps.isInPlace(grant)) ? { status: 'granted', grant } : undefined
  }

  async function assertBelowPendingLimit(tx: Tx, { id: requester }: Caller): Promise<void> {
    const pending = await approvals().pendingLike(tx, { kind: 'grant', requester }, maxPending)
    if (pending.length >= maxPending)
      throw new CoworkError(
        'too_many_requests',
        `Too many pending access requests: the limit is ${maxPending}.`,
        { hint: 'Wait for a decision, or withdraw requests with cowork_withdraw.' },
      )
  }

  function openRequest(
    tx: Tx,
    { path, permission, reason }: AccessRequest,
    target: InspectedPath & { readonly at: number; readonly stale: readonly string[] },
    digest: string,
    { caller, id }: Call,
  ): Promise<Approval> {
    const extra: GrantRequest = {
      path,
      real: target.real,
      permission,
      is_folder: target.pin?.kind === 'folder',
      missing: target.pin === null,
      folder: target.folderPin?.path ?? null,
      inside: target.inside,
      sensitive: target.sensitive,
      node,
      pin: target.pin,
      folder_pin: target.folderPin,
      pinned_at: target.at,
      ...(target.warning !== undefined && { warning: target.warning }),
      ...(target.stale.length > 0 && { replaces: target.stale }),
    }
    const verb = permission === 'read' ? 'read' : 'read and write'
    const what = describeBroadPath(path, pathContext.home) ?? 'files in'
    return approvals().open(tx, caller, id, {
      kind: 'grant',
      domain: 'files',
      action: 'request_grant',
      // The requested path: only people see the target of a symbolic link.
      target: path,
      summary: toSingleLine(`AI wants to ${verb} ${what}: ${sanitizeText(path)}`),
      mode: 'suggest',
      risk: target.warning === undefined ? 'normal' : 'high',
      digest,
      group: computeGroup(caller, permission),
      policyVersion: policyVersion(),
      trustLevel: null,
      confidence: null,
      content: {
        change: { path, permission, reason },
        reasoning: reason,
        why: buildApprovalReason(
          target.stale.length > 0
            ? 'Approval required: the granted file or folder was replaced.'
            : 'Approval required: the path is outside the workspace.',
          config,
        ),
        extra,
      },
      details: { permission },
    })
  }

  return request
}

/** Policies and trust do not apply to file access. */
export const buildApprovalReason = (text: string, { authority }: Pick<Config, 'authority'>) => ({
  text,
  rules: [],
  policy_id: null,
  policy_description: null,
  thresholds: authority.thresholds,
  evidence_level: null,
  gated: false,
  high_risk_fields: [],
})

const toReason = ({ reason }: Approval) => (reason ? { reason } : {})

/** Groups read and read-write requests separately. */
const computeGroup = ({ id: agent }: Caller, permission: AccessRequest['permission']) =>
  computeDigest({ agent, action: 'request_grant', target: '', content: { permission } }).slice(
    0,
    16,
  )

/** Identifies equal requests; the reason does not count. */
const computeRequestDigest = (
  { id: agent }: Caller,
  path: string,
  permission: AccessRequest['permission'],
) => computeDigest({ agent, action: 'request_grant', target: path, content: { path, permission } })

const broadPaths = new Map([
  ['~', 'your home folder'],
  ['/', 'the entire disk'],
])

const describeBroadPath = (path: string, home: string): string | undefined =>
  broadPaths.get(path === home ? '~' : path)

type InspectedPath = PathInspection & { readonly warning?: string }

/**
 * Adds a warning to a request for a broad path. Removes a broad folder from the choices if the request names something
 * inside it: otherwise a mistyped file name in the home folder would offer the whole home folder.
 */
function withoutHomeFolder(target: PathInspection, home: string): InspectedPath {
  const { pin, real, folderPin } = target
  const containsHome = (folder: string) => isWithin(home, folder)
  const warning = containsHome(real) && {
    warning: `${describeBroadFolder(real, home)}. Revoking the grant later does not undo what agents have read.`,
  }
  const isAround = pin?.kind !== 'folder' && folderPin !== null && containsHome(folderPin.path)
  return { ...target, ...(isAround && { folderPin: null }), ...warning }
}

function describeBroadFolder(real: string, home: string): string {
  if (real === home) return 'This is your home folder'
  return real === '/' ? 'This is the entire disk' : 'This contains your home folder'
}
