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
import { timeOrNull } from './people-tools.ts'
import { choosingOf, grantDeclaration, getGrantRequest } from './request-content.ts'

/** For a waiting request the session that asked for the same last: it may outlive the first. */
export type JoinedSessions = Map<string, string>

type Deps = Pick<GrantsDeps, 'node' | 'now'> & {
  readonly ttlMs: number
  readonly make: GrantWriter['make']
  readonly end: GrantWriter['end']
  readonly replaced: Pick<ReplacedTargetCheck, 'check' | 'pinFor' | 'forget'>
  readonly store: Pick<GrantStore, 'find' | 'live'>
  readonly approvals: () => Pick<Approvals, 'pendingLike' | 'decide'>
  readonly agents: Pick<GrantsDeps['agents'], 'isRevoked'>
  readonly sessions: { has(session: string): boolean }
  readonly joined: JoinedSessions
}

/** A request for access: approving it chooses how far it goes (GR3). */
export function grantApprovalKind(deps: Deps): ApprovalKind {
  const { node, ttlMs, make, replaced, store, agents, sessions, joined, now } = deps
  const settling = createGrantOverlap({ ...deps, accessOf })

  function accessOf(approval: Approval): RequestedAccess {
    const { id, session: first } = approval
    const { permission, real, pin, folder_pin: folderPin } = getGrantRequest(approval)
    const isHere = first !== null && sessions.has(first)
    return { permission, real, pin, folderPin, session: isHere ? first : (joined.get(id) ?? first) }
  }

  /** The grant that the decision makes; undefined where another one answers it. */
  function chosenBy(approval: Approval, decision: Decision) {
    const asked = accessOf(approval)
    const choosing = choosingOf(decision) ?? { choice: narrowestChoice(asked) }
    if (choosing.choice === 'covered') return undefined
    return toGrant(choosing.choice, asked, {
      until: choosing.until,
      // Held back for a moment, it was in time when it was made.
      now: decision.at ?? now(),
    })
  }

  /** Else the nearest, which opens nothing any more, would still decide. */
  async function endDead(
    tx: Tx,
    approval: Approval,
    path: string,
    { by }: Decision,
    call: DecisionContext,
  ): Promise<void> {
    for (const id of getGrantRequest(approval).replaces ?? []) {
      const dead = await store.find(tx, id)
      if (dead && isWithin(dead.path, path))
        await deps.end(tx, dead, 'replaced', by, call.caller && call.id)
    }
  }

  function forget(approval: Approval): void {
    joined.delete(approval.id)
    replaced.forget(approval)
  }

  async function carryOut(tx: Tx, approval: Approval, decision: Decision, call: DecisionContext) {
    const choosing = choosingOf(decision)
    if (choosing?.choice === 'covered') {
      await endDead(tx, approval, choosing.grant.path, decision, call)
      return { grant_id: choosing.grant.id }
    }
    const isDenial = decision.verdict === 'reject'
    if (isDenial && choosing?.choice !== 'deny_always') return {}
    const chosen = chosenBy(approval, decision)
    if (!chosen) return {}
    if (!isDenial) {
      await endDead(tx, approval, chosen.path, decision, call)
      await settling.makeWay(tx, approval, chosen, decision, call)
    }
    const grant = await make(tx, {
      ...chosen,
      ...replaced.pinFor(approval, chosen),
      id: toGrantId(approval),
      node: getGrantRequest(approval).node,
      agent: approval.requester,
      grantedBy: 'user_explicit',
      approval: approval.id,
      actor: decision.by,
      call: call.caller && call.id,
    })
    const also = await settling.answerOthers(tx, approval, grant, decision, call)
    const choice = choosing?.choice ?? narrowestChoice(accessOf(approval))
    return { grant_id: grant.id, choice, ...(also.length > 0 && { also }) }
  }

  return {
    ...grantDeclaration,
    ttlMs,
    openedEntryType: 'grant.requested',
    async check(approval, decision, reader) {
      if (decision.change !== undefined)
        throw new CoworkError('invalid_input', 'A request for access is not edited.', {
          hint: 'Choose how far it goes with `grant`.',
        })
      const { choice } = choosingOf(decision) ?? {}
      const isNo = choice === 'deny' || choice === 'deny_always'
      if (choice !== undefined && isNo !== (decision.verdict === 'reject'))
        throw new CoworkError('invalid_input', `${choice} does not go with ${decision.verdict}.`, {
          hint: 'Approve with what you allow; reject with deny or deny_always.',
        })
      if (decision.verdict === 'reject') return
      const chosen = chosenBy(approval, decision)
      if (!chosen) return
      const { requester } = approval
      if (await agents.isRevoked(reader, requester))
        throw new CoworkError('agent_revoked', `The agent ${requester} was revoked.`, {
          hint: 'Deny it: whoever has that name later asks anew.',
        })
      const { node: theirs } = getGrantRequest(approval)
      const live = await store.live(reader, theirs)
      assertNotDenied(live, { ...chosen, agent: requester, by: decision.by.id })
      settling.checkWay(live, approval, chosen)
      const { session } = chosen
      if (session !== null && theirs === node && !sessions.has(session))
        throw new CoworkError('session_ended', 'The session that asked for it is over.', {
          hint: 'Allow it for longer, or let the agent ask again.',
        })
      replaced.check(approval, decision, chosen)
    },
    answer(decision, approval) {
      const choosing = choosingOf(decision)
      if (choosing?.choice === 'covered') return answerOf(choosing.grant)
      const chosen = chosenBy(approval, decision)
      if (!chosen) return undefined
      return {
        ...answerOf({ ...chosen, id: toGrantId(approval) }),
        scope: chosen.scope,
        expires_at: timeOrNull(chosen.expiresAt),
      }
    },
    async onClosedUndecided(_, approval) {
      forget(approval)
    },
    async onDecided(tx, approval, decision, call) {
      const told = await carryOut(tx, approval, decision, call)
      forget(approval)
      return told
    },
  }
}

/** An approval makes one grant at most, so it names it. */
export const toGrantId = ({ id }: Approval): string => `grant_${id}`

const answerOf = ({ id, path, permission }: Pick<Grant, 'id' | 'path' | 'permission'>) => ({
  grant_id: id,
  path,
  permission,
})

type SettlingDeps = Pick<Deps, 'end' | 'store' | 'approvals' | 'now'> & {
  readonly accessOf: (approval: Approval) => RequestedAccess
}

type Settled = { readonly id: string; readonly summary: string }

type Chosen = Pick<Grant, 'path' | 'permission'>

/** What a choice means for what was granted and asked for before: what was chosen must open what was asked (GR3). */
function createGrantOverlap({ end, store, approvals, accessOf, now }: SettlingDeps) {
  function askedBy(approval: Approval): AccessQuery {
    const { real: path, permission, session } = accessOf(approval)
    const holder = { kind: 'agent', agent: approval.requester, session: session ?? '' } as const
    return { holder, path, need: permission === 'read' ? 'read' : 'write', now: now() }
  }

  /** Less than was asked for may be chosen; that much is to be open. */
  function blocking(live: readonly Grant[], approval: Approval, chosen: Chosen) {
    const asked = askedBy(approval)
    const need = allows(chosen.permission, asked.need) ? asked.need : 'read'
    return findBlockingGrants(withoutDead(live, approval), chosen, { ...asked, need })
  }

  /** Ends the agent's own grants that would keep what was chosen from opening what was asked. */
  async function makeWay(
    tx: Tx,
    approval: Approval,
    chosen: Chosen,
    { by }: Decision,
    call: DecisionContext,
  ): Promise<void> {
    const live = await store.live(tx, getGrantRequest(approval).node)
    for (const grant of blocking(live, approval, chosen))
      if (grant.agent === approval.requester)
        await end(tx, grant, 'replaced', by, call.caller && call.id)
  }

  /** What all agents have is not taken from them for one of them. */
  function checkWay(live: readonly Grant[], approval: Approval, chosen: Chosen): void {
    const grant = blocking(live, approval, chosen).find((one) => one.agent !== approval.requester)
    if (grant)
      throw new CoworkError(
        'narrower_grant',
        `${sanitizeText(grant.path, 300)} has a grant of its own for all agents, and that decides.`,
        { hint: `Revoke ${grant.id} first, or allow exactly what was asked for until a time.` },
      )
  }

  /** Other requests of that agent that this grant or denial answers: nobody should be asked about them. */
  async function answerOthers(
    tx: Tx,
    { requester }: Approval,
    grant: Grant,
    decision: Decision,
    call: DecisionContext,
  ): Promise<readonly Settled[]> {
    const settled: Settled[] = []
    const more = { grant: grant.permission === 'deny' ? { choice: 'deny' } : coveredBy(grant) }
    for (const other of await approvals().pendingLike(tx, { kind: 'grant', requester })) {
      if (getGrantRequest(other).node !== grant.node) continue
      const isAnswered =
        grant.permission === 'deny'
          ? covers(grant, accessOf(other).real)
          : await isCovered(tx, other, grant)
      if (!isAnswered) continue
      if (grant.permission !== 'deny') await makeWay(tx, other, grant, decision, call)
      await approvals().decide(tx, other.id, { ...decision, more }, call)
      settled.push({ id: other.id, summary: other.summary })
    }
    return settled
  }

  /** Whether it gives what that one asks for, and takes nothing that was given for more or for longer. */
  async function isCovered(tx: Tx, other: Approval, grant: Grant): Promise<boolean> {
    const asked = askedBy(other)
    if (other.requiredApprovals > 1 || !decideGrant([grant], asked).grant) return false
    const live = withoutDead(await store.live(tx, grant.node), other)
    const narrower = findBlockingGrants(live, grant, asked)
    if (narrower.some((one) => one.agent !== other.requester || !outlasts(grant, one))) return false
    return (
      'grant' in
      decideGrant(
        live.filter((one) => !narrower.includes(one)),
        asked,
      )
    )
  }

  return { makeWay, checkWay, answerOthers }
}

const coveredBy = ({ id, path, permission }: Grant) => ({
  choice: 'covered',
  grant: { id, path, permission },
})

/** What opened something else at that path is ended along with the request itself. */
function withoutDead(live: readonly Grant[], approval: Approval): readonly Grant[] {
  const dead = new Set(getGrantRequest(approval).replaces)
  return live.filter(({ id }) => !dead.has(id))
}
