import { toActor, isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Reader, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId, randomHex } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Call } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import { convertApprovals } from './convert.ts'
import {
  buildApprovalEntry,
  toEntryIds,
  isSameState,
  alreadyDecidedError,
  checkDecision,
  computeDigest,
  groupKey,
  isExpired,
  approvalNotFoundError,
} from './rules.ts'
import type { ApprovalKinds, DecisionContext, EditedChange, DecisionDetails } from './kinds.ts'
import { staleReason } from './model.ts'
import type { Approval, Decision, NewApproval, Risk } from './model.ts'
import { createProtectedStore } from './protected-store.ts'
import { createProtection } from './protection.ts'
import type { ExecutableCall, ProtectionDeps } from './protection.ts'
import { restoreEdit } from './restore.ts'
import { createRunningCalls } from './running-calls.ts'
import { createApprovalStore } from './store.ts'
import type { ApprovalQuery } from './store.ts'
import { startSweeper } from './sweeper.ts'
import { createDecisionWaiters } from './decision-waiters.ts'
import { createWithdrawal } from './withdrawal.ts'

export type ApprovalSettings = {
  readonly tokenTtlMs: number
  readonly callTtlMs: number
  readonly undoHoldMs: number
}

export type ApprovalsDeps = {
  readonly db: Db
  readonly kinds: ApprovalKinds
  readonly settings: ApprovalSettings
  readonly agents: Pick<Identity, 'isSameAgent'>
  readonly people: Pick<Identity['people'], 'canStillDecide'>
  readonly reviewUrl: (id: string) => string
  readonly protection: ProtectionDeps
  readonly onErase: Ledger['onErase']
  /** The id of this daemon's state directory in a store that several daemons share. */
  readonly node?: string | undefined
  readonly now: Clock
  readonly log: Log
}

/**
 * The result of a decision: final, counted as one of several votes, or deferred for the undo
 * window.
 */
export type DecisionOutcome = {
  readonly status: 'approved' | 'rejected' | 'voted' | 'held'
  readonly approval: Approval
  readonly details: DecisionDetails
  readonly until?: number
}

type Requester = Pick<Caller, 'id' | 'since' | 'client'> & { readonly session?: string | null }

/**
 * The state of a call that needs an approval: it may run, or the reason why it does not run now.
 */
export type ClaimResult =
  | { readonly as: 'claimed'; readonly approval: Approval }
  /**
   * No decision yet. `isNew`: this call opened the request. `stale`: the earlier approval that no
   * longer applies.
   */
  | {
      readonly as: 'waiting'
      readonly approval: Approval
      readonly isNew?: true
      readonly stale?: Approval
    }
  /** `approved`: the runner will start the call. `used`: the call has started, once (A15). */
  | { readonly as: 'approved' | 'used'; readonly approval: Approval }
  | { readonly as: 'denied' | 'lapsed'; readonly approval: Approval }
  /** The requesting agent was revoked (I4). */
  | { readonly as: 'gone'; readonly approval: Approval }

/** The current state of a call, compared with the approved one (A1, A15). */
export type Binding = {
  readonly digest?: string | undefined
  readonly fingerprint?: string | undefined
  /** The number of approvals that the active rules require (A4). */
  readonly requiredApprovals?: number | undefined
}

const dayMs = 24 * 60 * 60 * 1000
/** A larger result is not stored; the approval only records that the call ran. */
const maxResultLength = 10_000_000
/** A repeated call receives a stored failure for this long; afterwards it needs a new approval. */
const failureTtlMs = 60_000
/** Failures are short, so longer results are not decrypted for the check. */
const maxFailureLength = 100_000
const maxDelivered = 10_000
const maxRunnable = 2000

export type Approvals = ReturnType<typeof createApprovals>

/** The single mechanism for pending decisions: opened, decided once, claimed once (A1, A2). */
export function createApprovals(deps: ApprovalsDeps) {
  const { db, kinds, settings, agents, people, reviewUrl, now, log } = deps
  const store = { ...createApprovalStore(db.dialect), ...createProtectedStore(db.dialect) }
  const protection = createProtection(deps.protection)
  const { redactForDisplay, toShown, sealCall, openCall } = protection
  const { closeUndecided, cancel, eraseCopies, ...withdrawal } = createWithdrawal({
    store,
    kinds,
    isClaimable,
    now,
  })
  const waiters = createDecisionWaiters(db, log)
  const claimableSince = () => now() - settings.callTtlMs
  const running = createRunningCalls({ db, store, endLost, now, log })
  const sweeper = startSweeper({
    db,
    store,
    processDue,
    releaseDeferred,
    endLost: running.endLost,
    claimableSince,
    now,
    log,
  })
  const stopErasing = deps.onErase(eraseCopies)

  async function open(
    tx: Tx,
    caller: Caller,
    callId: string,
    opening: NewApproval,
  ): Promise<Approval> {
    const { kind, auto, content, confidence, action, mode, risk, digest } = opening
    const { openedEntryType = 'approval.requested', content: schema } = kinds.get(kind)
    schema?.parse(content.extra)
    const approval = await insert(tx, caller, opening)
    tx.append({
      type: openedEntryType,
      actor: toActor(caller),
      domain: opening.domain,
      subject: opening.target,
      ids: { ...toEntryIds(approval), call: callId },
      outcome: mode,
      data: {
        kind,
        action,
        mode,
        risk,
        digest,
        trust_level: opening.trustLevel,
        policy_version: opening.policyVersion,
        policy_id: content.why.policy_id,
        ...(confidence !== null && { confidence }),
        ...(auto && { auto }),
        ...opening.details,
      },
      ...(opening.isCall && { isCall: true }),
    })
    return approval
  }

  async function insert(tx: Tx, asker: Requester, opening: NewApproval): Promise<Approval> {
    const at = now()
    const { kind, key, auto, content } = opening
    const { ttlMs, keepsArguments } = kinds.get(kind)
    const { action, mode, risk, confidence } = opening
    const shown = toShown({
      ...opening,
      content: { ...content, ...(asker.client && { client: asker.client }) },
    })
    const { change, field } = content
    const id = opening.id ?? newId()
    const { digest, target } = opening
    const act = { action, target, change, field }
    const approval: Approval = {
      id,
      kind,
      status: auto ? 'approved' : 'pending',
      requester: asker.id,
      session: asker.session ?? null,
      domain: opening.domain,
      ...shown,
      mode,
      risk,
      digest,
      policyVersion: opening.policyVersion,
      trustLevel: opening.trustLevel,
      confidence,
      group: opening.group ?? groupKey(asker.id, opening),
      requiredApprovals: opening.requiredApprovals ?? 1,
      // A request is never older than its agent, even if the clock of the daemon that added the
      // agent is ahead (I4).
      createdAt: Math.max(at, asker.since ?? 0),
      expiresAt: auto || ttlMs === undefined ? null : at + ttlMs,
      decidedAt: auto ? at : null,
      decidedBy: auto ? 'trust' : null,
      channel: auto ? 'trust' : null,
      reason: null,
      ...(keepsArguments && !auto && { sealed: sealCall({ id, digest, ...shown }, act) }),
      ...(kind === 'call' && deps.node !== undefined && { node: deps.node }),
      ...(opening.fingerprint !== undefined && { fingerprint: opening.fingerprint }),
    }
    await store.insert(tx, approval, key)
    return approval
  }

  /** Returns the people who approved and who can still decide (A4). */
  async function countedVotes(reader: Reader, id: string): Promise<string[]> {
    const counted: string[] = []
    for (const person of await store.votes(reader, id))
      if (await people.canStillDecide(reader, person)) counted.push(person)
    return counted
  }

  /** Returns a person's edit, if any. Throws if the edit is not allowed (B3). */
  async function parseEdit(
    reader: Reader,
    approval: Approval,
    { verdict, change }: Pick<Decision, 'verdict' | 'change'>,
  ): Promise<EditedChange | undefined> {
    if (verdict === 'reject' || change === undefined) return undefined
    const kind = kinds.get(approval.kind)
    const act = kind.keepsArguments ? openCall(approval) : undefined
    const real = act ? withAction(approval, act) : approval
    const wanted = act
      ? restoreEdit(act.change, approval.content.change, change, (name) =>
          deps.protection.redact(name),
        )
      : change
    return kind.edited ? kind.edited(real, wanted, reader) : { change: wanted, target: real.target }
  }

  /** Throws if the arguments cannot be decrypted or differ from the displayed copy (A14). */
  function checkArguments(approval: Approval, { verdict }: Decision): void {
    if (verdict === 'approve' && kinds.get(approval.kind).keepsArguments) openCall(approval)
  }

  /**
   * Returns the encrypted arguments that an approved request still needs; an edit replaces them.
   */
  function sealedAfter(approval: Approval, digest: string, edited: EditedChange | undefined) {
    const { keepsArguments } = kinds.get(approval.kind)
    if (!keepsArguments) return null
    if (!edited) return keepsArguments === 'until used' ? (approval.sealed ?? null) : null
    const { change, target } = edited
    return sealCall({ ...approval, digest }, { ...openCall(approval), change, target })
  }

  /** Applies a person's decision, or counts it as one of several required approvals (A4). */
  async function decide(
    tx: Tx,
    id: string,
    decision: Decision,
    call: DecisionContext = {},
  ): Promise<DecisionOutcome> {
    const at = now()
    const approval = await store.lock(tx, id)
    const votes = approval && approval.requiredApprovals > 1 ? await countedVotes(tx, id) : []
    checkDecision(approval, votes, decision, at)
    const kind = kinds.get(approval.kind)
    const checked = (await kind.check?.(approval, decision, tx)) ?? {}
    checkArguments(approval, decision)
    const edited = await parseEdit(tx, approval, decision)
    const batch = decision.batch !== undefined && { batch: decision.batch }
    if (decision.verdict === 'approve' && votes.length + 1 < approval.requiredApprovals) {
      await store.vote(tx, id, decision.by.id, at)
      if (approval.deferred) await store.clearDeferred(tx, id)
      const details = { votes: votes.length + 1, needed: approval.requiredApprovals }
      tx.append(
        buildApprovalEntry('approval.voted', approval, decision.by, call, {
          ...details,
          ...batch,
          ...checked,
        }),
      )
      return { status: 'voted', approval, details }
    }
    const status = decision.verdict === 'approve' ? 'approved' : 'rejected'
    const risk = edited?.risk ?? approval.risk
    const digest = edited
      ? redigest(
          approval,
          edited,
          kind.keepsArguments ? openCall(approval).action : approval.action,
        )
      : approval.digest
    const rawAnswer = status === 'approved' ? kind.answer?.(decision, approval) : undefined
    const answer = rawAnswer === undefined ? undefined : redactForDisplay(rawAnswer)
    const reason = decision.reason === undefined ? null : deps.protection.redact(decision.reason)
    const approved = edited && redactForDisplay(edited.change)
    const sealed = status === 'approved' ? sealedAfter(approval, digest, edited) : null
    const minted = status === 'approved' && kind.token ? `cwa_${id}_${randomHex(24)}` : null
    const token = minted && { value: minted, expiresAt: at + settings.tokenTtlMs }
    await store.decide(tx, {
      id,
      status,
      risk,
      at,
      by: decision.by.id,
      channel: decision.channel,
      reason,
      approved: toJson(edited ? approved : answer),
      digest,
      askedDigest: edited ? approval.digest : null,
      token: minted,
      tokenExpiresAt: token ? token.expiresAt : null,
      sealed,
    })
    const { deferred: _, sealed: __, ...rest } = approval
    const decided: Approval = {
      ...rest,
      status,
      risk,
      digest,
      decidedAt: at,
      decidedBy: decision.by.id,
      channel: decision.channel,
      reason,
      ...(edited && { approved }),
      ...(sealed !== null && { sealed }),
      ...(answer !== undefined && { answer }),
      ...(token && { token }),
    }
    const details = (await kind.onDecided(tx, decided, decision, call)) ?? {}
    tx.append(
      buildApprovalEntry(
        (status === 'approved' && kind.decidedEntryType) || `approval.${status}`,
        decided,
        decision.by,
        call,
        {
          decided_by: decision.by.id,
          channel: decision.channel,
          digest,
          ...(edited && { collaborative: true, asked_digest: approval.digest }),
          ...(risk !== approval.risk && { risk }),
          ...(votes.length > 0 && { votes: [...votes, decision.by.id] }),
          ...(decision.reason !== undefined && { reason: decision.reason }),
          ...batch,
          ...checked,
          ...details,
        },
      ),
    )
    return { status, approval: decided, details }
  }

  /** Defers the decision for the undo window (C2). */
  async function deferDecision(
    tx: Tx,
    id: string,
    decision: Decision,
    call: DecisionContext,
  ): Promise<DecisionOutcome> {
    const at = now()
    const approval = await store.lock(tx, id)
    const votes = approval && approval.requiredApprovals > 1 ? await countedVotes(tx, id) : []
    checkDecision(approval, votes, decision, at)
    await kinds.get(approval.kind).check?.(approval, decision, tx)
    checkArguments(approval, decision)
    await parseEdit(tx, approval, decision)
    const until = at + settings.undoHoldMs
    const { change, reason } = decision
    await store.defer(tx, id, {
      until,
      decision: {
        ...decision,
        at,
        ...(reason !== undefined && { reason: deps.protection.redact(reason) }),
      },
      ...(change !== undefined && { sealedChange: protection.sealChange(approval, change) }),
    })
    const details = { verdict: decision.verdict, until }
    tx.append(buildApprovalEntry('approval.held', approval, decision.by, call, details))
    sweeper.expect(id, until)
    return { status: 'held', approval, details: {}, until }
  }

  async function undo(tx: Tx, id: string, call: Call): Promise<void> {
    const approval = await store.lock(tx, id)
    if (approval?.status !== 'pending') throw alreadyDecidedError(approval)
    if (!approval.deferred)
      throw new CoworkError(
        'nothing_to_undo',
        'Nothing to undo: no decision is in its undo window.',
        {
          hint: 'Run `cowork inbox` to list pending approvals.',
        },
      )
    await store.clearDeferred(tx, id)
    tx.append(buildApprovalEntry('approval.undone', approval, toActor(call.caller), call))
  }

  /** Applies a due deferred decision, or expires a request that nobody decided (P7). */
  async function processDue(tx: Tx, id: string): Promise<void> {
    const at = now()
    const approval = await store.lock(tx, id)
    if (approval?.status !== 'pending') return
    if (approval.deferred && approval.deferred.until <= at) {
      const { id: by } = approval.deferred.decision.by
      if (await people.canStillDecide(tx, by)) await decide(tx, id, deferredDecision(approval))
      else await releaseDeferred(tx, id, `${by} can no longer decide.`)
    } else if (isExpired(approval, at))
      await closeUndecided(tx, approval, 'expired', systemActor, {})
  }

  function deferredDecision({ deferred, ...approval }: Approval): Decision {
    if (!deferred) throw alreadyDecidedError(approval)
    const { decision, sealedChange } = deferred
    if (sealedChange === undefined) return decision
    return { ...decision, change: protection.openChange(approval, sealedChange) }
  }

  /** Returns a request to the inbox when its deferred decision cannot be applied. */
  async function releaseDeferred(tx: Tx, id: string, why: string): Promise<boolean> {
    const approval = await store.lock(tx, id)
    if (approval?.status !== 'pending' || !approval.deferred) return false
    await store.clearDeferred(tx, id)
    tx.append(buildApprovalEntry('approval.undone', approval, systemActor, {}, { why }))
    return true
  }

  /**
   * Handles a repeated call that needs an approval; the call never runs here. A decided request
   * answers for `callTtlMs` after its decision, an executed one for `callTtlMs` after its run
   * (A15).
   */
  async function claimOrOpen(
    tx: Tx,
    caller: Caller,
    binding: Binding & { readonly digest: string },
    openOne: () => Promise<Approval>,
  ): Promise<ClaimResult> {
    const at = now()
    const { digest, requiredApprovals = 1 } = binding
    const known = await findLatestCall(tx, caller, digest)
    const isFresh = (known?.decidedAt ?? 0) > at - settings.callTtlMs
    if (known?.status === 'pending' && !isExpired(known, at)) {
      if (!isOutdated(known, binding)) return { as: 'waiting', approval: known }
      await closeUndecided(
        tx,
        known,
        'withdrawn',
        systemActor,
        {},
        { why: staleReason },
        staleReason,
      )
      return { as: 'waiting', approval: await openOne(), isNew: true, stale: known }
    }
    if (known?.status === 'rejected' && isFresh) return { as: 'denied', approval: known }
    if (known?.status === 'approved' && isFresh && known.requiredApprovals < requiredApprovals) {
      await expireApproved(tx, known, quorumReason(requiredApprovals))
      // Another pending request may exist.
      return claimOrOpen(tx, caller, binding, openOne)
    }
    if (known?.status === 'approved' && isFresh) return { as: 'approved', approval: known }
    if (known?.status === 'consumed' && ranRecently(known, at))
      return { as: 'used', approval: known }
    const approval = await openOne()
    const isStale = known?.status === 'withdrawn' && known.reason === staleReason && isFresh
    return { as: 'waiting', approval, isNew: true, ...(isStale && { stale: known }) }
  }

  /** True while the call runs, and while a repeated call receives its result. */
  function ranRecently(approval: Approval, at: number): boolean {
    const { runUntil, resultUntil = 0 } = approval
    if (runUntil !== undefined) return true
    const answersFor = hasFailed(approval) ? failureTtlMs : settings.callTtlMs
    return resultUntil - dayMs > at - answersFor
  }

  /** True if the tool reported a failure. An unknown outcome is not a reported failure. */
  function hasFailed(approval: Approval): boolean {
    const { result } = approval
    if (typeof result !== 'string' || result.length > maxFailureLength) return false
    const { status, code } = withResult(approval).result as { status?: string; code?: string }
    return status !== 'done' && code !== 'outcome_unknown'
  }

  /**
   * Reveals the approved edit to the verified agent that must execute it. Unverified callers get
   * the redacted edit.
   */
  function revealTo(caller: Caller, approval: Approval): Approval {
    const isTheirs =
      caller.kind === 'agent' &&
      caller.verified &&
      isOwnRecord(caller, approval.requester, approval.createdAt)
    if (!isTheirs || approval.approved === undefined || approval.sealed === undefined)
      return approval
    return { ...approval, approved: openCall(approval).change }
  }

  /**
   * Consumes an existing approval of exactly this call when trust or a permission allows the call
   * (Y8). If that approval ran and the agent has not received its result, the call is most likely
   * a repetition and gets that result (A15).
   */
  async function claim(tx: Tx, caller: Caller, digest: string): Promise<ClaimResult | undefined> {
    const known = await findLatestCall(tx, caller, digest)
    if (
      known?.status === 'approved' &&
      known.digest === digest &&
      (await claimApproved(tx, known.id))
    )
      return { as: 'claimed', approval: { ...known, status: 'consumed' } }
    // A person edited the request, so the edit runs instead of the original (B3).
    if (known && known.digest !== digest && isClaimable(known))
      return { as: 'approved', approval: known }
    const isUnread = known?.status === 'consumed' && !delivered.has(known.id)
    return isUnread && ranRecently(known, now()) ? { as: 'used', approval: known } : undefined
  }

  /** Approvals whose result the agent has received. A forgotten id only repeats a result. */
  const delivered = new Set<string>()
  function noteDelivered(id: string): void {
    const [oldest] = delivered
    if (delivered.size >= maxDelivered && oldest !== undefined) delivered.delete(oldest)
    delivered.add(id)
  }

  /** True while an approved call can be claimed (A2). */
  function isClaimable({ status, decidedAt }: Approval): boolean {
    return status === 'approved' && (decidedAt ?? 0) > now() - settings.callTtlMs
  }

  async function findLatestCall(tx: Tx, caller: Caller, digest: string) {
    const known = await store.latestCall(tx, caller.id, digest)
    return known && isOwnRecord(caller, known.requester, known.createdAt) ? known : undefined
  }

  async function expireApproved(tx: Tx, approval: Approval, reason: string): Promise<Approval> {
    if (await store.withdrawApproved(tx, approval.id, systemActor.id, now(), reason))
      tx.append(
        buildApprovalEntry('approval.withdrawn', approval, systemActor, {}, { why: reason }),
      )
    return { ...approval, status: 'withdrawn', reason }
  }

  /** Claims the approval in the transaction that starts the call; only one claim succeeds (A15). */
  async function claimApproved(tx: Tx, id: string): Promise<boolean> {
    let isTaken = false
    try {
      isTaken = await store.consume(tx, id, claimableSince(), running.start(id))
    } finally {
      if (!isTaken) running.end(id)
    }
    return isTaken
  }

  /**
   * Claims an approved call for the runner, or returns the reason why it cannot run. Agent,
   * digest, target and quorum are compared with the approved state again (A15).
   */
  async function claimApprovedCall(
    tx: Tx,
    caller: Caller,
    id: string,
    { digest, fingerprint, requiredApprovals = 1 }: Binding = {},
  ): Promise<ClaimResult> {
    const at = now()
    const known = await store.lock(tx, id)
    if (known?.kind !== 'call' || !isOwnRecord(caller, known.requester, known.createdAt))
      throw approvalNotFoundError(id)
    // The caller was checked before the wait. Revocation updates this approval too, so the two
    // transactions serialize.
    if (!(await agents.isSameAgent(tx, caller.id, caller.since ?? 0)))
      return { as: 'gone', approval: known }
    if (known.status === 'consumed') return { as: 'used', approval: known }
    if (known.status === 'rejected') return { as: 'denied', approval: known }
    if (known.status === 'pending' && !isExpired(known, at))
      return { as: 'waiting', approval: known }
    if (!isClaimable(known)) return { as: 'lapsed', approval: known }
    const obstacle = findObstacle(known, { digest, fingerprint, requiredApprovals })
    if (obstacle !== undefined)
      return { as: 'lapsed', approval: await expireApproved(tx, known, obstacle) }
    return (await claimApproved(tx, id))
      ? { as: 'claimed', approval: { ...known, status: 'consumed' } }
      : { as: 'lapsed', approval: known }
  }

  /**
   * Withdraws an approved call that cannot run: a rule now forbids it, or its agent was revoked
   * (A15).
   */
  const endApproved = (id: string, reason: string): Promise<void> =>
    db.transact(async (tx) => {
      const approval = await store.lock(tx, id)
      if (approval && approval.kind === 'call' && isClaimable(approval))
        await expireApproved(tx, approval, deps.protection.redact(reason))
    })

  /** Records an unknown outcome: the daemon ended before it stored the result (A15). */
  async function endLost(tx: Tx, id: string): Promise<void> {
    const approval = await store.lock(tx, id)
    if (!approval || !running.isLost(approval)) return
    await writeResult(tx, id, outcomeUnknown(approval))
    tx.append(buildApprovalEntry('approval.unknown', approval, systemActor, {}))
  }

  /** Consumes a token in the transaction that starts the approved action (A2, A11). */
  async function redeem(
    tx: Tx,
    token: string,
    { agent, digest }: { agent: string; digest: string },
  ): Promise<Approval> {
    const [, id = ''] = /^cwa_([\w-]{1,64})_[0-9a-f]{48}$/.exec(token) ?? []
    const approval = await store.lock(tx, id)
    const at = now()
    if (approval?.token?.value !== token || approval.status !== 'approved')
      throw tokenError('unknown or already used', 'Request a new approval.')
    if (approval.requester !== agent)
      throw tokenError(
        `for ${approval.requester}, not for ${agent}`,
        'Request an approval for this agent.',
      )
    if (approval.token.expiresAt <= at) throw tokenError('expired', 'Request a new approval.')
    if (approval.digest !== digest)
      throw tokenError('for a different request', 'Request a new approval.')
    await store.consume(tx, id, 0)
    return { ...approval, status: 'consumed' }
  }

  /** Stores the result of the claimed call (A2). A failure never replaces a result. */
  async function storeResult(
    tx: Tx,
    id: string,
    result: { readonly status: string },
  ): Promise<void> {
    // The claim may have been rolled back with the failed change, so the approval is consumed
    // here.
    const isTaken = await store.consume(tx, id, 0)
    if (result.status === 'failed' && !isTaken && !(await isWithoutResult(tx, id))) return
    await writeResult(tx, id, result)
  }

  async function isWithoutResult(tx: Tx, id: string): Promise<boolean> {
    const approval = await store.lock(tx, id)
    return approval?.status === 'consumed' && approval.result === undefined
  }

  async function writeResult(tx: Tx, id: string, result: { readonly status: string }) {
    const text = JSON.stringify(result)
    const stored =
      text.length <= maxResultLength
        ? text
        : JSON.stringify({ status: result.status, too_large: true })
    await store.storeResult(tx, id, protection.sealResult(id, stored), now() + dayMs)
  }

  /**
   * Decrypts the result. A call whose daemon ended without a result has an unknown outcome (A15).
   */
  function withResult(approval: Approval): Approval {
    const { id, result } = approval
    if (typeof result === 'string')
      return { ...approval, result: protection.openResult(id, result) }
    return running.isLost(approval) ? { ...approval, result: outcomeUnknown(approval) } : approval
  }

  /**
   * Reports a pending approval as expired once its time is over, even before the sweeper runs
   * (A11).
   */
  async function get(id: string): Promise<Approval | undefined> {
    const found = await store.find(db, id)
    if (!found) return undefined
    return {
      ...withResult(found),
      ...(isExpired(found, now()) && { status: 'expired' as const }),
    }
  }

  return {
    open,
    /**
     * Opens an approval about an agent that must not learn of it. The ledger records it only when
     * it is decided: an earlier entry would show as a gap in the agent's entry numbers (T14).
     */
    openHidden: insert,
    decide,
    deferDecision,
    undo,
    ...withdrawal,
    /** Withdraws the request of a call that the client cancelled (RA12). */
    cancel: (id: string, caller: Caller) => db.transact((tx) => cancel(tx, id, caller)),
    claimOrOpen,
    claim,
    claimApprovedCall,
    redeem,
    endApproved,
    listRunnable: () => store.listRunnable(db, claimableSince(), maxRunnable),
    /** Marks the call that claimed this approval as ended, with any outcome. */
    ended: running.end,
    isRunning: running.isRunning,
    noteDelivered,
    /** Marks an approval as used by its requester. */
    consume: (tx: Tx, id: string) => store.consume(tx, id, 0),
    storeResult,
    get,
    /**
     * Returns the arguments to execute. Throws if they were deleted or the store was modified
     * (A14).
     */
    openCall: (approval: Approval): ExecutableCall => openCall(approval),
    revealTo,
    redactForDisplay,
    fingerprint: protection.fingerprint,
    /** Redacts and encrypts the plain arguments of earlier versions, at the first start (A14). */
    convert: () =>
      convertApprovals({ db, store, kinds, protection, redact: deps.protection.redact }),
    reviewUrl,
    find: (reader: Reader, id: string) => store.find(reader, id),
    /** Returns the notification data of each approval; `clean` sanitizes texts of agents. */
    async describe(reader: Reader, ids: readonly string[], clean: (text: string) => string) {
      const approvals = await store.list(reader, { ids, limit: ids.length })
      return new Map(
        approvals.map(
          ({ id, kind, requester, domain, mode, risk, status, decidedBy, ...texts }) => {
            const cleaned = {
              action: clean(texts.action),
              target: clean(texts.target),
              summary: clean(texts.summary),
            }
            const decided = decidedBy !== null && { decidedBy }
            return [id, { kind, requester, domain, mode, risk, status, ...cleaned, ...decided }]
          },
        ),
      )
    },
    byKey: store.byKey,
    /** Frees an idempotency key for a new agent with the id of an earlier agent (P6). */
    releaseKey: store.releaseKey,
    isClaimable,
    list: (wanted: ApprovalQuery) => store.list(db, wanted),
    listBriefs: (wanted: ApprovalQuery) => store.listBriefs(db, wanted),
    countPending: () => store.countPending(db),
    /** Returns the counted votes of a pending approval, and every vote of a decided one. */
    async votes(id: string): Promise<string[]> {
      const found = await store.find(db, id)
      return found?.status === 'pending' ? countedVotes(db, id) : store.votes(db, id)
    },
    /** Returns the risk after the decision: of the request, or of a person's edit (B3). */
    async riskAfter(
      reader: Reader,
      id: string,
      decision: Pick<Decision, 'verdict' | 'change'>,
    ): Promise<Risk | undefined> {
      const approval = await store.find(reader, id)
      if (approval?.status !== 'pending') return undefined
      return (await parseEdit(reader, approval, decision))?.risk ?? approval.risk
    },
    listDecidedOnTarget: (approval: Approval, limit: number) =>
      store.listDecidedOnTarget(db, approval, limit),
    /** Returns the approvals that can still be decided, newest first. */
    async pendingLike(
      tx: Tx,
      wanted: Omit<ApprovalQuery, 'limit' | 'statuses' | 'before'>,
      max = 1000,
    ) {
      const isOpen = (approval: Approval) => !approval.deferred && !isExpired(approval, now())
      const matches: Approval[] = []
      for (let before: string | undefined; matches.length < max;) {
        const page = await store.list(tx, { ...wanted, before, statuses: ['pending'], limit: max })
        matches.push(...page.filter(isOpen))
        if (page.length < max) break
        before = page.at(-1)?.id
      }
      return matches.slice(0, max)
    },
    /**
     * Resolves when the approval is decided and, for an approved call, has run (A15), after `ms`,
     * or when the caller disconnects (A6).
     */
    async waitUntilFinished(
      id: string,
      ms: number,
      signal: AbortSignal,
    ): Promise<Approval | undefined> {
      await waiters.waitUntilFinished(id, ms, signal)
      return get(id)
    },
    isAwaited: waiters.isAwaited,
    /** Ends all current and future waits; callers receive the pending state. */
    stopWaiting: waiters.close,
    async close() {
      stopErasing()
      waiters.close()
      await running.close()
      await sweeper.close()
    },
  }
}

const withAction = (
  approval: Approval,
  { action, target, change, field }: ExecutableCall,
): Approval => ({
  ...approval,
  action,
  target,
  content: { ...approval.content, change, ...(field !== undefined && { field }) },
})

const quorumReason = (needed: number) => `${needed} people must approve this request now.`

/** Returns the reason why the approved call cannot run as approved, if any. */
function findObstacle(approval: Approval, { digest, fingerprint, requiredApprovals = 1 }: Binding) {
  if (approval.requiredApprovals < requiredApprovals) return quorumReason(requiredApprovals)
  // A changed tool is a different tool (A1).
  if (digest !== undefined && approval.digest !== digest)
    return `${approval.action} changed after the approval.`
  const isEdited = approval.approved !== undefined
  return isSameState(approval.fingerprint, fingerprint, isEdited) ? undefined : staleReason
}

/** True if approving this pending call would end as stale. A deferred decision stays valid. */
const isOutdated = ({ deferred, fingerprint }: Approval, current: Binding): boolean =>
  !deferred &&
  current.fingerprint !== undefined &&
  !isSameState(fingerprint, current.fingerprint, false)

const outcomeUnknown = ({ action }: Approval) => ({
  status: 'failed',
  code: 'outcome_unknown',
  message: `${action} was approved and started, but cowork stopped before it stored the result.`,
  hint: 'Check its effects before you ask again.',
})

/** An edited approval is bound to the edit, not to the original request (B3). */
const redigest = (
  { requester, content: { extra } }: Approval,
  { change, target, canonical = change }: EditedChange,
  action: string,
) =>
  computeDigest({
    agent: requester,
    action,
    target,
    content: canonical,
    ...(typeof extra?.['schema'] === 'string' && { schema: extra['schema'] }),
  })

const toJson = (value: unknown) => (value === undefined ? null : JSON.stringify(value))

const tokenError = (why: string, hint: string) =>
  new CoworkError('token_refused', `The approval token is ${why}.`, { hint })
