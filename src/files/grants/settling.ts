import type { Approval, Approvals, Deciding, Decision } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant } from '../model.ts'
import type { AskedAccess } from '../rules/choices.ts'
import { allows, covers, decideGrant, inTheWay, outlasts } from '../rules/grants.ts'
import type { Asked } from '../rules/grants.ts'
import type { GrantChanges } from './changes.ts'
import { requestOf } from './request-content.ts'

type Deps = {
  readonly end: GrantChanges['end']
  readonly store: Pick<GrantStore, 'live'>
  readonly approvals: () => Pick<Approvals, 'pendingLike' | 'decide'>
  readonly accessOf: (approval: Approval) => AskedAccess
  readonly now: Clock
}

/** A request that was answered along with another. */
type Settled = { readonly id: string; readonly summary: string }

type Chosen = Pick<Grant, 'path' | 'permission'>

/** What a choice means for what was granted and asked for before: what was chosen must open what was asked (GR3). */
export function createSettling({ end, store, approvals, accessOf, now }: Deps) {
  /** The question as the rule over grants takes it. */
  function askedBy(approval: Approval): Asked {
    const { real: path, permission, session } = accessOf(approval)
    const holder = { kind: 'agent', agent: approval.requester, session: session ?? '' } as const
    return { holder, path, need: permission === 'read' ? 'read' : 'write', now: now() }
  }

  /** Less than was asked for may be chosen; that much is to be open. */
  function blocking(live: readonly Grant[], approval: Approval, chosen: Chosen) {
    const asked = askedBy(approval)
    const need = allows(chosen.permission, asked.need) ? asked.need : 'read'
    return inTheWay(withoutDead(live, approval), chosen, { ...asked, need })
  }

  /** Ends the agent's own grants that would keep what was chosen from opening what was asked. */
  async function makeWay(
    tx: Tx,
    approval: Approval,
    chosen: Chosen,
    { by }: Decision,
    call: Deciding,
  ): Promise<void> {
    const live = await store.live(tx, requestOf(approval).node)
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
        `${plainText(grant.path, 300)} has a grant of its own for all agents, and that decides.`,
        { hint: `Revoke ${grant.id} first, or allow exactly what was asked for until a time.` },
      )
  }

  /** Other requests of that agent that this grant or denial answers: nobody should be asked about them. */
  async function answerOthers(
    tx: Tx,
    { requester }: Approval,
    grant: Grant,
    decision: Decision,
    call: Deciding,
  ): Promise<readonly Settled[]> {
    const settled: Settled[] = []
    const more = { grant: grant.permission === 'deny' ? { choice: 'deny' } : coveredBy(grant) }
    for (const other of await approvals().pendingLike(tx, { kind: 'grant', requester })) {
      if (requestOf(other).node !== grant.node) continue
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
    if (other.needed > 1 || !decideGrant([grant], asked).grant) return false
    const live = withoutDead(await store.live(tx, grant.node), other)
    const narrower = inTheWay(live, grant, asked)
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
  const dead = new Set(requestOf(approval).replaces)
  return live.filter(({ id }) => !dead.has(id))
}
