import { createApprovalKinds, createApprovals } from '#approvals'
import type { ApprovalKind, Approvals } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import { createCallJudge } from './calls.ts'
import { createInbox } from './inbox.ts'
import { governanceKinds } from './kinds.ts'
import { modeRulesOf } from './mode.ts'
import { createPermissions } from './permissions.ts'
import { createPolicies } from './policy.ts'
import { createProposals } from './proposals.ts'
import { createScores } from './scores.ts'
import { createSpotChecks } from './spot-checks.ts'
import { createGovernanceStore } from './store.ts'
import { trustRulesOf } from './trust.ts'
import { createVolume } from './volume.ts'

export type GovernanceOptions = {
  readonly db: Db
  readonly config: Pick<
    Config,
    'trust' | 'authority' | 'feedback' | 'policies' | 'mappings' | 'approvals'
  >
  /** Waits of other domains. */
  readonly kinds?: readonly ApprovalKind[]
  /** Where people look at an approval. */
  readonly reviewUrl: (id: string) => string
  readonly now: Clock
  readonly log: Log
  /** For spot checks; a test decides what chance says. */
  readonly random?: () => number
}

export type Governance = ReturnType<typeof createGovernance>

/** Who may act, and who decides: trust, policy and the approvals they lead to. */
export function createGovernance(options: GovernanceOptions) {
  const { db, config, reviewUrl, now, log, random = Math.random } = options
  const store = createGovernanceStore(db.dialect)
  const rules = { trust: trustRulesOf(config), mode: modeRulesOf(config) }
  const policies = createPolicies(config)
  const scores = createScores(store, rules, now)
  const permissions = createPermissions(store, now, () => approvals)
  const { ttl, plan_ttl, token_ttl, call_ttl, undo_hold, every_write } = config.approvals
  const kinds = createApprovalKinds([
    ...governanceKinds({
      scores,
      permissions,
      policies,
      store,
      ttl: { proposalMs: ttl, callMs: plan_ttl },
      now,
    }),
    ...(options.kinds ?? []),
  ])
  const approvals: Approvals = createApprovals({
    db,
    kinds,
    settings: { tokenTtlMs: token_ttl, callTtlMs: call_ttl, undoHoldMs: undo_hold },
    reviewUrl,
    now,
    log: log.scope('approvals'),
  })
  const spotChecks = createSpotChecks(approvals, {
    rate: config.trust.spot_check_rate,
    policyVersion: policies.version,
    random,
  })
  const volume = createVolume(store, config.authority.volume_cap, now)
  const parts = { store, approvals, policies, scores, spotChecks, volume, rules, now }
  return {
    ...parts,
    db,
    permissions,
    proposals: createProposals(parts),
    inbox: createInbox({ db, store, approvals, rules, now }),
    judgeCall: createCallJudge({ ...parts, db, permissions, everyWrite: every_write }),
    close: () => approvals.close(),
  }
}
