import { toActor, isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { EraseCopies } from '#ledger'
import {
  buildApprovalEntry,
  alreadyDecidedError,
  decisionDeferredError,
  isVisibleTo,
  approvalNotFoundError,
} from './rules.ts'
import type { ApprovalKinds, DecisionContext, DecisionDetails } from './kinds.ts'
import type { Approval, ApprovalContent } from './model.ts'
import type { ProtectedStore } from './protected-store.ts'
import type { ApprovalStore, ApprovalQuery } from './store.ts'

type Deps = {
  readonly store: ApprovalStore & ProtectedStore
  readonly kinds: ApprovalKinds
  readonly isClaimable: (approval: Approval) => boolean
  readonly now: Clock
}
type WithdrawalCall = DecisionContext & { readonly caller: Caller }

const batchSize = 500

/** Asked about an agent, and not by it: else whoever is looked at could look away for people. */
const reviewKinds = ['finding']

/** What ends without a decision: taken back by whoever asked, or with it, or left alone for too long. */
export function createWithdrawal({ store, kinds, isClaimable, now }: Deps) {
  async function withdraw(tx: Tx, id: string, call: WithdrawalCall): Promise<Approval> {
    const approval = await store.lock(tx, id)
    const isTheirs = approval && isOwnRecord(call.caller, approval.requester, approval.createdAt)
    if (!isTheirs || !isVisibleTo(call.caller, approval)) throw approvalNotFoundError(id)
    if (call.caller.kind === 'agent' && reviewKinds.includes(approval.kind))
      throw reviewError(approval)
    if (approval.status !== 'pending') throw alreadyDecidedError(approval)
    // Else whoever sees that it is refused could get out of it.
    if (approval.deferred) throw decisionDeferredError(approval.deferred)
    await closeUndecided(tx, approval, 'withdrawn', toActor(call.caller), call)
    return { ...approval, status: 'withdrawn' }
  }

  /** Withdraws a pending request whose call the client took back; a decided one stays as it is (RA12). */
  async function cancel(tx: Tx, id: string, caller: Caller): Promise<void> {
    const approval = await store.lock(tx, id)
    if (approval?.status !== 'pending' || approval.deferred) return
    if (isOwnRecord(caller, approval.requester, approval.createdAt))
      await closeUndecided(tx, approval, 'withdrawn', toActor(caller), {}, { why: 'cancelled' })
  }

  /** A person has answered elsewhere what this one asks; held decisions go, too. */
  async function withdrawDecidedElsewhere(tx: Tx, id: string, call: WithdrawalCall): Promise<void> {
    const approval = await store.lock(tx, id)
    if (approval?.status === 'pending')
      await closeUndecided(tx, approval, 'withdrawn', toActor(call.caller), call)
  }

  /** Those of one who is gone, held ones too: nobody is to be asked for whoever has that name later. */
  async function withdrawAll(
    tx: Tx,
    wanted: { readonly kind: string; readonly requester: string },
    call: WithdrawalCall,
  ): Promise<void> {
    for await (const { id } of listAll(tx, { ...wanted, statuses: ['pending'] })) {
      const approval = await store.lock(tx, id)
      if (approval?.status === 'pending')
        await closeUndecided(tx, approval, 'withdrawn', toActor(call.caller), call)
    }
  }

  /** Calls of one who is gone that were approved, and that nobody has claimed yet: nobody will. */
  async function withdrawApprovedCalls(
    tx: Tx,
    requester: string,
    call: WithdrawalCall,
  ): Promise<void> {
    const by = toActor(call.caller)
    for await (const approval of listAll(tx, { kind: 'call', requester, statuses: ['approved'] }))
      if (isClaimable(approval) && (await store.withdrawApproved(tx, approval.id, by.id, now())))
        tx.append(buildApprovalEntry('approval.withdrawn', approval, by, call))
  }

  async function* listAll(
    tx: Tx,
    wanted: Omit<ApprovalQuery, 'limit' | 'before'>,
  ): AsyncGenerator<Approval> {
    for (let before: string | undefined; ;) {
      const page = await store.list(tx, { ...wanted, before, limit: batchSize })
      yield* page
      if (page.length < batchSize) return
      before = page.at(-1)?.id
    }
  }

  async function closeUndecided(
    tx: Tx,
    approval: Approval,
    status: 'expired' | 'withdrawn',
    by: Actor,
    call: DecisionContext,
    details: DecisionDetails = {},
    reason: string | null = null,
  ): Promise<void> {
    await store.decide(tx, {
      id: approval.id,
      status,
      risk: approval.risk,
      at: now(),
      by: by.id,
      channel: 'none',
      reason,
      approved: null,
      digest: approval.digest,
      askedDigest: null,
      token: null,
      tokenExpiresAt: null,
      sealed: null,
    })
    await kinds.get(approval.kind).onClosedUndecided?.(tx, approval)
    tx.append(buildApprovalEntry(`approval.${status}`, approval, by, call, details))
  }

  /**
   * Erases the copies that approvals keep of what a call said (L8). Nobody can judge or run what is erased: a person
   * who erases a pending approval withdraws it. Expiry by age leaves pending approvals until they are decided.
   */
  const eraseCopies: EraseCopies = async (tx, erased) => {
    if ('before' in erased) {
      const old = await store.listDecidedBefore(tx, erased.before, batchSize)
      for (const approval of old) await erase(tx, approval)
      return old.length
    }
    let count = 0
    for (const id of erased.approvals) {
      const approval = await store.lock(tx, id)
      if (!approval || approval.content.erased) continue
      await closeErased(tx, approval, erased.by)
      await erase(tx, approval)
      count++
    }
    return count
  }

  async function closeErased(tx: Tx, approval: Approval, by: Actor): Promise<void> {
    const said = { why: erasedReason }
    if (approval.status === 'pending') await closeUndecided(tx, approval, 'withdrawn', by, {}, said)
    else if (approval.kind === 'call' && isClaimable(approval)) {
      await store.withdrawApproved(tx, approval.id, by.id, now())
      tx.append(buildApprovalEntry('approval.withdrawn', approval, by, {}, said))
    }
  }

  const erase = (tx: Tx, approval: Approval) =>
    store.erase(tx, approval.id, { summary: '', content: erasedContent(approval) }, now())

  return {
    withdraw,
    cancel,
    withdrawDecidedElsewhere,
    withdrawAll,
    withdrawApprovedCalls,
    closeUndecided,
    eraseCopies,
  }
}

const erasedReason = 'Its content was erased.'

/** Keeps what the entries of the ledger say as well: why a person was asked, and which records belong together. */
function erasedContent({
  content: { why: reasons, client, extra = {} },
}: Approval): ApprovalContent {
  const { reasoning_schema: _, ...ids } = extra
  const { reasoning: __, ...facts } = reasons.more ?? {}
  return {
    change: null,
    erased: true,
    why: { ...reasons, text: erasedReason, more: facts },
    ...(client && { client }),
    extra: ids,
  }
}

const reviewError = ({ kind, requester }: Approval) =>
  new CoworkError(
    'human_required',
    `A ${kind.replace('_', ' ')} is about what ${requester} did: it is for people to end it.`,
    { hint: 'Take back what you asked for yourself.' },
  )
