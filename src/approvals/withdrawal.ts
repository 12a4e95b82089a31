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

/** Kinds about an agent, not requested by it. The agent must not withdraw its own review. */
const reviewKinds = ['finding']

/** Creates the operations that close approvals without a decision: withdrawn, erased or expired. */
export function createWithdrawal({ store, kinds, isClaimable, now }: Deps) {
  async function withdraw(tx: Tx, id: string, call: WithdrawalCall): Promise<Approval> {
    const approval = await store.lock(tx, id)
    const isTheirs = approval && isOwnRecord(call.caller, approval.requester, approval.createdAt)
    if (!isTheirs || !isVisibleTo(call.caller, approval)) throw approvalNotFoundError(id)
    if (call.caller.kind === 'agent' && reviewKinds.includes(approval.kind))
      throw reviewError(approval)
    if (approval.status !== 'pending') throw alreadyDecidedError(approval)
    // Otherwise an agent could avoid a rejection that it sees in the undo window.
    if (approval.deferred) throw decisionDeferredError(approval.deferred)
    await closeUndecided(tx, approval, 'withdrawn', toActor(call.caller), call)
    return { ...approval, status: 'withdrawn' }
  }

  /**
   * Withdraws a pending request whose client cancelled the call; a decided request stays unchanged
   * (RA12).
   */
  async function cancel(tx: Tx, id: string, caller: Caller): Promise<void> {
    const approval = await store.lock(tx, id)
    if (approval?.status !== 'pending' || approval.deferred) return
    if (isOwnRecord(caller, approval.requester, approval.createdAt))
      await closeUndecided(tx, approval, 'withdrawn', toActor(caller), {}, { why: 'cancelled' })
  }

  /** Withdraws a request that a person decided elsewhere, including its deferred decision. */
  async function withdrawDecidedElsewhere(tx: Tx, id: string, call: WithdrawalCall): Promise<void> {
    const approval = await store.lock(tx, id)
    if (approval?.status === 'pending')
      await closeUndecided(tx, approval, 'withdrawn', toActor(call.caller), call)
  }

  /**
   * Withdraws all pending requests of a removed agent, including deferred ones, so they cannot
   * affect a later agent with that id.
   */
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

  /** Withdraws the approved but unclaimed calls of a removed agent. */
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
   * Erases the contents of approvals (L8). Erased content cannot be judged or run, so erasing a
   * pending approval withdraws it. Expiry by age skips pending approvals until they are decided.
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
    const details = { why: erasedReason }
    if (approval.status === 'pending')
      await closeUndecided(tx, approval, 'withdrawn', by, {}, details)
    else if (approval.kind === 'call' && isClaimable(approval)) {
      await store.withdrawApproved(tx, approval.id, by.id, now())
      tx.append(buildApprovalEntry('approval.withdrawn', approval, by, {}, details))
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

const erasedReason = 'The content was erased.'

/**
 * Keeps data that the ledger entries also contain: the reason for the approval and the ids of
 * related records.
 */
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
    `Cannot withdraw a ${kind.replace('_', ' ')} about ${requester}: only people can close it.`,
    { hint: 'Withdraw only your own requests.' },
  )
