import { createApprovalKinds, createApprovals, toAnswerFields } from '#approvals'
import type { ApprovalKind, Approvals, ProtectionDeps } from '#approvals'
import { toActor } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import type { Identity } from '#identity'
import { createEntryLookup } from '#ledger'
import type { Ledger } from '#ledger'
import { createAutonomousCalls, createIsUndone } from './autonomous-calls.ts'
import { createCallAuthorizer, createDomainResolver } from './call-authorizer.ts'
import { convertEvidence } from './convert-evidence.ts'
import { createDomains } from './domains.ts'
import { createEditValidator, createPolicyConflicts } from './edit-validator.ts'
import type { ParseCall } from './edit-validator.ts'
import { createGateProof, createKindNormalizer } from './gate-proof.ts'
import { createHandoffStore } from './handoffs/store.ts'
import { createHandoffs, handoffKind } from './handoffs/handoffs.ts'
import { createInbox } from './inbox.ts'
import { governanceKinds } from './kinds.ts'
import { createReadReceipts } from './read-receipts.ts'
import { toModeRules } from './rules/mode.ts'
import { createCallLimiter } from './call-limiter.ts'
import { createPermissions } from './permissions.ts'
import { createProposals } from './proposals.ts'
import type { Proposals } from './proposals.ts'
import { createReasonings } from './policies/policy-assessment.ts'
import { startReminders } from './handoffs/reminders.ts'
import { createTrustService } from './trust-service.ts'
import { createSpotChecks } from './spot-checks.ts'
import { createStandingView } from './standing-view.ts'
import { createGovernanceStore } from './store.ts'
import { toTrustRules } from './rules/trust.ts'
import type { Undo } from './autonomous-calls.ts'
import { createVersions } from './policies/versions.ts'
import { createVolumeCap } from './volume-cap.ts'

export type GovernanceOptions = {
  readonly db: Db
  readonly config: Pick<
    Config,
    | 'trust'
    | 'authority'
    | 'feedback'
    | 'policies'
    | 'mappings'
    | 'reasoning_schemas'
    | 'approvals'
    | 'handoff'
  >
  readonly agents: Pick<Identity, 'isRemoved' | 'isSameAgent' | 'onRevoked'>
  readonly people: Pick<Identity['people'], 'canStillDecide'>
  readonly kinds?: readonly ApprovalKind[]
  /** The toolsets whose tools check their own writes (Y9). */
  readonly guardedToolsets: readonly string[]
  readonly reviewUrl: (id: string) => string
  /** Removes credentials from stored and displayed approvals (A14). */
  readonly protection: ProtectionDeps
  readonly onErase: Ledger['onErase']
  /** Name of the state directory of this daemon, in a shared store. */
  readonly node?: string
  readonly now: Clock
  readonly log: Log
  readonly readCall?: ParseCall
  readonly undo?: Undo
  /** Secrets of the installation for drawing checks (T14). */
  readonly drawKeys: { readonly draw: Buffer; readonly lot: Buffer }
  /** Replaces the random draw in tests. */
  readonly draw?: (id: string) => number
}

export type Governance = ReturnType<typeof createGovernance>

/** Creates the governance services: trust, policies and approvals. */
export function createGovernance(options: GovernanceOptions) {
  const { db, config, agents, people, reviewUrl, now, log } = options
  const { guardedToolsets } = options
  const resolveDomain = createDomainResolver(guardedToolsets)
  const store = createGovernanceStore(db.dialect)
  const handoffStore = createHandoffStore(db.dialect)
  const rules = { trust: toTrustRules(config), mode: toModeRules(config) }
  const versions = createVersions({ db, config, now })
  const { policies } = versions
  const scores = createTrustService(store, rules, now)
  const permissions = createPermissions(store, now, agents, () => approvals)
  const { ttl, plan_ttl, token_ttl, call_ttl, undo_hold, every_write } = config.approvals
  const conflicts = createPolicyConflicts(
    (...query) => proposals.policyFor(...query),
    (approval) => approvals.openCall(approval),
  )
  const lookup = createEntryLookup(db.dialect)
  const looks = createReadReceipts()
  const kindOf = createKindNormalizer((value) => approvals.redactForDisplay(value))
  const spotChecks = createSpotChecks({
    db,
    store,
    approvals: () => approvals,
    scores,
    autonomousCalls: createAutonomousCalls(lookup, () => approvals),
    rules,
    policyVersion: versions.version,
    keys: options.drawKeys,
    draw: options.draw,
    now,
    log: log.scope('spot checks'),
  })
  const gateProof = createGateProof({ store, spotChecks, kindOf, now })
  const allKinds = [
    ...governanceKinds(
      {
        scores,
        spotChecks,
        kindOf,
        looks,
        permissions,
        policies,
        store,
        agents,
        ttl: { proposalMs: ttl, callMs: plan_ttl },
        actOf: (approval) => approvals.openCall(approval),
        show: (value) => approvals.redactForDisplay(value),
        edits: createEditValidator(
          (...asked) => proposals.policyFor(...asked),
          resolveDomain,
          options.readCall,
        ),
        conflicts,
        isUndone: createIsUndone(lookup, options.undo),
        now,
      },
      options.kinds ?? [],
    ),
    handoffKind(handoffStore, now),
  ]
  const kinds = createApprovalKinds(allKinds)
  const approvals: Approvals = createApprovals({
    db,
    kinds,
    settings: { tokenTtlMs: token_ttl, callTtlMs: call_ttl, undoHoldMs: undo_hold },
    agents,
    people,
    reviewUrl,
    protection: options.protection,
    // A check copies the content of its action, and no entry names the check.
    onErase: (eraser) =>
      options.onErase(async (tx, erased) => {
        if ('before' in erased) return eraser(tx, erased)
        const { approvals: ids, calls } = erased
        const checks = await store.listChecks(tx, [...ids, ...calls])
        return eraser(tx, { ...erased, approvals: [...ids, ...checks] })
      }),
    node: options.node,
    now,
    log: log.scope('approvals'),
  })
  // Revoking an agent ends its pending calls, permissions and trust; people finish its proposals and handoffs.
  const unsubscribe = agents.onRevoked(async (tx, agent, call) => {
    for (const kind of ['call', 'permission'])
      await approvals.withdrawAll(tx, { kind, requester: agent }, call)
    await approvals.withdrawApprovedCalls(tx, agent, call)
    await permissions.revokeAll(tx, agent, call)
    for (const { domain, stored } of await scores.part(tx, agent))
      tx.append({
        type: 'trust.ended',
        actor: toActor(call.caller),
        domain,
        subject: agent,
        ids: { call: call.id },
        data: stored,
      })
  })
  const { volume_cap, agent_volume_cap } = config.authority
  const volume = createVolumeCap(store, volume_cap, now, agent_volume_cap)
  const handoffs = createHandoffs({
    db,
    store: handoffStore,
    trust: store,
    approvals,
    policyVersion: versions.version,
    rules,
    settings: config.handoff,
    now,
  })
  const handoffMs = config.handoff.timeout_seconds * 1000
  const reminders = startReminders({
    db,
    store: handoffStore,
    timeoutMs: handoffMs,
    now,
    log,
  })
  const parts = {
    store,
    approvals,
    policies,
    scores,
    spotChecks,
    gateProof,
    volume,
    handoffs,
    rules,
    now,
  }
  const reasonings = createReasonings(config.reasoning_schemas, lookup, guardedToolsets)
  const proposals: Proposals = createProposals({ ...parts, reasonings })
  const judgeCall = createCallAuthorizer({
    ...parts,
    db,
    permissions,
    policyFor: proposals.policyFor,
    everyWrite: every_write,
    defaultMode: config.authority.default_mode,
    guardedToolsets,
    resolveDomain,
  })
  const limiter = createCallLimiter(config.authority, now)
  return {
    ...parts,
    db,
    versions,
    reasonings,
    permissions,
    proposals,
    domains: createDomains({ db, store, policies, guardedToolsets, now }),
    inbox: createInbox({ ...parts, db, kinds, conflicts, looks, lookup, undo: options.undo }),
    standings: createStandingView(parts),
    looks,
    kindOf,
    answerFields: toAnswerFields(allKinds),
    approvals: limiter.countResumed(approvals),
    judgeCall: limiter.limit(judgeCall),
    /**
     * Converts plain values of earlier versions before the daemon serves calls (A14). Returns the number of
     * approvals.
     */
    async convert(): Promise<number> {
      await permissions.convert(db)
      await convertEvidence({ db, store, kindOf, now })
      return approvals.convert()
    },
    waits: { maxMs: Math.max(ttl, plan_ttl), handoffMs },
    async close() {
      unsubscribe()
      await spotChecks.close()
      await reminders.close()
      await approvals.close()
    },
  }
}
