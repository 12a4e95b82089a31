import type { Approval, ApprovalKind, Approvals, DecisionContext, Decision } from '#approvals'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import { toGrant, narrowestChoice } from '../rules/choices.ts'
import type { RequestedAccess } from '../rules/choices.ts'
import { isWithin } from '../rules/paths.ts'
import { allows, covers, decideGrant, findBlockingGrants, outlasts } from '../rules/grants.ts'
import type { AccessQuery } from '../rules/grants.ts'
import { assertNotDenied } from './grant-writer.ts'
import type { GrantWriter } from './grant-writer.ts'
import type { ReplacedTargetCheck } from './replaced-target.ts'
import type { GrantsDeps } from './service.ts'
import { formatTimeOrNull } from './people-tools.ts'
import { getDecisionChoice, grantDeclaration, getGrantRequest } from './request-content.ts'

export type JoinedSessions = Map<string, string>

type Deps = Pick<GrantsDeps, 'node' | 'now'> & {
  readonly ttlMs: number
  readonly make: GrantWriter['make']
  readonly end: GrantWriter['end']
  readonly replacedTarget: Pick<ReplacedTargetCheck, 'check' | 'pinFor' | 'forget'>
  readonly store: Pick<GrantStore, 'find' | 'listUnrevoked'>
  readonly approvals: () => Pick<Approvals, 'pendingLike' | 'decide'>
  readonly agents: Pick<GrantsDeps['agents'], 'isRevoked'>
  readonly sessions: { has(session: string): boolean }
  readonly joined: JoinedSessions
}

/** Creates the approval kind of access requests; an approval includes the chosen scope (GR3). */
export function grantApprovalKind(deps: Deps): ApprovalKind {
  const { node, ttlMs, make, replacedTarget, store, agents, sessions, joined, now } = deps
  const overlap = createGrantOverlap({ ...deps, getRequestedAccess })

  function getRequestedAccess(approval: Approval): RequestedAccess {
    const { id, session: first } = approval
    const { permission, real, pin, folder_pin: folderPin } = getGrantRequest(approval)
    const isHere = first !== null && sessions.has(first)
    return { permission, real, pin, folderPin, session: isHere ? first : (joined.get(id) ?? first) }
  }

  /** Returns the grant that the decision makes, or undefined if another grant covers the request. */
  function toChosenGrant(approval: Approval, decision: Decision) {
    const requested = getRequestedAccess(approval)
    const selection = getDecisionChoice(decision) ?? { choice: narrowestChoice(requested) }
    if (selection.choice === 'covered') return undefined
    return toGrant(selection.choice, requested, {
      until: selection.until,
      // The time of a deferred decision is the time when the person decided.
      now: decision.at ?? now(),
    })
  }

  /** Ends the stale grants of the path: the most specific grant decides, even a stale one. */
  async function endStaleGrants(
    tx: Tx,
    approval: Approval,
    path: string,
    { by }: Decision,
    call: DecisionContext,
  ): Promise<void> {
    for (const id of getGrantRequest(approval).replaces ?? []) {
      const stale = await store.find(tx, id)
      if (stale && isWithin(stale.path, path))
        await deps.end(tx, stale, 'replaced', by, call.caller && call.id)
    }
  }

  function forget(approval: Approval): void {
    joined.delete(approval.id)
    replacedTarget.forget(approval)
  }

  async function executeDecision(
    tx: Tx,
    approval: Approval,
    decision: Decision,
    call: DecisionContext,
  ) {
    const selection = getDecisionChoice(decision)
    if (selection?.choice === 'covered') {
      await endStaleGrants(tx, approval, selection.grant.path, decision, call)
      return { grant_id: selection.grant.id }
    }
    const isDenial = decision.verdict === 'reject'
    if (isDenial && selection?.choice !== 'deny_always') return {}
    const chosen = toChosenGrant(approval, decision)
    if (!chosen) return {}
    if (!isDenial) {
      await endStaleGrants(tx, approval, chosen.path, decision, call)
      await overlap.endBlockingGrants(tx, approval, chosen, decision, call)
    }
    const grant = await make(tx, {
      ...chosen,
      ...replacedTarget.pinFor(approval, chosen),
      id: toGrantId(approval),
      node: getGrantRequest(approval).node,
      agent: approval.requester,
      grantedBy: 'user_explicit',
      approval: approval.id,
      actor: decision.by,
      call: call.caller && call.id,
    })
    const also = await overlap.answerCoveredRequests(tx, approval, grant, decision, call)
    const choice = selection?.choice ?? narrowestChoice(getRequestedAccess(approval))
    return { grant_id: grant.id, choice, ...(also.length > 0 && { also }) }
  }

  return {
    ...grantDeclaration,
    ttlMs,
    openedEntryType: 'grant.requested',
    async check(approval, decision, reader) {
      if (decision.change !== undefined)
        throw new CoworkError('invalid_input', 'An access request cannot be edited.', {
          hint: 'Choose the access with `grant`.',
        })
      const { choice } = getDecisionChoice(decision) ?? {}
      const isNo = choice === 'deny' || choice === 'deny_always'
      if (choice !== undefined && isNo !== (decision.verdict === 'reject'))
        throw new CoworkError(
          'invalid_input',
          `${choice} cannot be combined with ${decision.verdict}.`,
          {
            hint: 'Approve with an allow choice, or reject with deny or deny_always.',
          },
        )
      if (decision.verdict === 'reject') return
      const chosen = toChosenGrant(approval, decision)
      if (!chosen) return
      const { requester } = approval
      if (await agents.isRevoked(reader, requester))
        throw new CoworkError('agent_revoked', `The agent ${requester} was revoked.`, {
          hint: 'Reject the request.',
        })
      const { node: requestNode } = getGrantRequest(approval)
      const existing = await store.listUnrevoked(reader, requestNode)
      assertNotDenied(existing, { ...chosen, agent: requester, by: decision.by.id })
      overlap.assertNotBlocked(existing, approval, chosen)
      const { session } = chosen
      if (session !== null && requestNode === node && !sessions.has(session))
        throw new CoworkError('session_ended', 'The requesting session has ended.', {
          hint: 'Choose an access that outlasts the session, or wait for a new request.',
        })
      replacedTarget.check(approval, decision, chosen)
    },
    answer(decision, approval) {
      const selection = getDecisionChoice(decision)
      if (selection?.choice === 'covered') return toResult(selection.grant)
      const chosen = toChosenGrant(approval, decision)
      if (!chosen) return undefined
      return {
        ...toResult({ ...chosen, id: toGrantId(approval) }),
        scope: chosen.scope,
        expires_at: formatTimeOrNull(chosen.expiresAt),
      }
    },
    async onClosedUndecided(_, approval) {
      forget(approval)
    },
    async onDecided(tx, approval, decision, call) {
      const details = await executeDecision(tx, approval, decision, call)
      forget(approval)
      return details
    },
  }
}

/** An approval makes at most one grant, so the grant id derives from the approval id. */
export const toGrantId = ({ id }: Approval): string => `grant_${id}`

const toResult = ({ id, path, permission }: Pick<Grant, 'id' | 'path' | 'permission'>) => ({
  grant_id: id,
  path,
  permission,
})

type OverlapDeps = Pick<Deps, 'end' | 'store' | 'approvals' | 'now'> & {
  readonly getRequestedAccess: (approval: Approval) => RequestedAccess
}

type AnsweredRequest = { readonly id: string; readonly summary: string }

type ChosenGrant = Pick<Grant, 'path' | 'permission'>

/** Resolves conflicts between a chosen grant and earlier grants and requests: the choice must give access (GR3). */
function createGrantOverlap({ end, store, approvals, getRequestedAccess, now }: OverlapDeps) {
  function toAccessQuery(approval: Approval): AccessQuery {
    const { real: path, permission, session } = getRequestedAccess(approval)
    const holder = { kind: 'agent', agent: approval.requester, session: session ?? '' } as const
    return { holder, path, need: permission === 'read' ? 'read' : 'write', now: now() }
  }

  /** Lists grants that block the chosen access; a person may choose less than requested. */
  function findBlocking(existing: readonly Grant[], approval: Approval, chosen: ChosenGrant) {
    const requested = toAccessQuery(approval)
    const need = allows(chosen.permission, requested.need) ? requested.need : 'read'
    return findBlockingGrants(withoutStale(existing, approval), chosen, { ...requested, need })
  }

  /** Ends the agent's own grants that would block the chosen access. */
  async function endBlockingGrants(
    tx: Tx,
    approval: Approval,
    chosen: ChosenGrant,
    { by }: Decision,
    call: DecisionContext,
  ): Promise<void> {
    const existing = await store.listUnrevoked(tx, getGrantRequest(approval).node)
    for (const grant of findBlocking(existing, approval, chosen))
      if (grant.agent === approval.requester)
        await end(tx, grant, 'replaced', by, call.caller && call.id)
  }

  /** Refuses a choice that would need the end of a grant for all agents. */
  function assertNotBlocked(
    existing: readonly Grant[],
    approval: Approval,
    chosen: ChosenGrant,
  ): void {
    const grant = findBlocking(existing, approval, chosen).find(
      (one) => one.agent !== approval.requester,
    )
    if (grant)
      throw new CoworkError(
        'narrower_grant',
        `${sanitizeText(grant.path, 300)} has a narrower grant for all agents, which takes precedence.`,
        { hint: `Revoke ${grant.id} first, or allow exactly the requested access until a time.` },
      )
  }

  /** Decides the agent's other requests that this grant or denial covers. */
  async function answerCoveredRequests(
    tx: Tx,
    { requester }: Approval,
    grant: Grant,
    decision: Decision,
    call: DecisionContext,
  ): Promise<readonly AnsweredRequest[]> {
    const answered: AnsweredRequest[] = []
    const more = {
      grant: grant.permission === 'deny' ? { choice: 'deny' } : toCoveredChoice(grant),
    }
    for (const other of await approvals().pendingLike(tx, { kind: 'grant', requester })) {
      if (getGrantRequest(other).node !== grant.node) continue
      const isAnswered =
        grant.permission === 'deny'
          ? covers(grant, getRequestedAccess(other).real)
          : await isCovered(tx, other, grant)
      if (!isAnswered) continue
      if (grant.permission !== 'deny') await endBlockingGrants(tx, other, grant, decision, call)
      await approvals().decide(tx, other.id, { ...decision, more }, call)
      answered.push({ id: other.id, summary: other.summary })
    }
    return answered
  }

  /** Whether the grant covers the request without ending a grant that gives more or lasts longer. */
  async function isCovered(tx: Tx, other: Approval, grant: Grant): Promise<boolean> {
    const requested = toAccessQuery(other)
    if (other.requiredApprovals > 1 || !decideGrant([grant], requested).grant) return false
    const existing = withoutStale(await store.listUnrevoked(tx, grant.node), other)
    const narrower = findBlockingGrants(existing, grant, requested)
    if (narrower.some((one) => one.agent !== other.requester || !outlasts(grant, one))) return false
    return (
      'grant' in
      decideGrant(
        existing.filter((one) => !narrower.includes(one)),
        requested,
      )
    )
  }

  return { endBlockingGrants, assertNotBlocked, answerCoveredRequests }
}

const toCoveredChoice = ({ id, path, permission }: Grant) => ({
  choice: 'covered',
  grant: { id, path, permission },
})

/** Omits stale grants: the decision of the request ends them. */
function withoutStale(existing: readonly Grant[], approval: Approval): readonly Grant[] {
  const stale = new Set(getGrantRequest(approval).replaces)
  return existing.filter(({ id }) => !stale.has(id))
}
