import type { Approval, ApprovalKind, Approvals, Decision } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import {
  parseAnswers,
  callDeclaration,
  permissionDeclaration,
  proposalDeclaration,
  spotCheckDeclaration,
} from './answers.ts'
import type { Allowance } from './answers.ts'
import type { EditValidator, PolicyConflicts } from './edit-validator.ts'
import type { ReadReceipts } from './read-receipts.ts'
import { validateAllowance } from './permissions.ts'
import type { Permissions } from './permissions.ts'
import { storedMapping } from './recorded-tables.ts'
import type { Policies } from './rules/policy.ts'
import type { Worth } from './rules/trust.ts'
import type { Override, TrustKey, TrustService } from './trust-service.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { CheckRow, GovernanceStore } from './store.ts'
import type { IsUndone } from './autonomous-calls.ts'

type Deps = {
  readonly scores: TrustService
  readonly permissions: Permissions
  readonly policies: () => Policies
  readonly store: GovernanceStore
  readonly agents: Pick<Identity, 'isRemoved'>
  readonly ttl: { readonly proposalMs: number; readonly callMs: number }
  readonly edits: EditValidator
  readonly actOf: Approvals['openCall']
  readonly show: Approvals['redactForDisplay']
  readonly conflicts: PolicyConflicts
  readonly looks: ReadReceipts
  readonly kindOf: (action: string) => string
  readonly spotChecks: Pick<SpotChecks, 'lookBack'>
  readonly isUndone: IsUndone
  readonly now: Clock
}

/**
 * The approval kinds of governance: intercepted calls, permissions to work in a domain, proposals, spot checks, and
 * `others`. `cowork_decide` lists their fields in this order.
 */
export function governanceKinds(deps: Deps, others: readonly ApprovalKind[]): ApprovalKind[] {
  const { scores, permissions, policies, store, agents, ttl, edits, conflicts, actOf, show } = deps
  const { looks, kindOf, isUndone, now } = deps
  const override = overriding(deps)

  async function applyDecision(tx: Tx, approval: Approval, decision: Decision) {
    const { override: given, cleared_by } = parseAnswers(decision)
    if (cleared_by !== undefined) return { cleared_by }
    if (decision.verdict === 'reject')
      return given ? override(tx, approval, decision, given, false) : {}
    const { risk, action, requester, createdAt } = approval
    // A later agent with the same name gains nothing.
    const isGone = await agents.isRemoved(tx, requester, createdAt)
    const worth = isGone ? 'score' : computeWorth(approval, decision)
    return scores.approve(
      tx,
      toTrustKey(approval),
      { risk, kind: kindOf(action) },
      decision.by,
      worth,
    )
  }

  /** A change that a person edited, skipped, or approved in bulk without opening it is not evidence (T11). */
  function computeWorth({ id, approved }: Approval, decision: Decision): Worth {
    const { bulk, skip } = parseAnswers(decision)
    const isUnopened = bulk === true && !looks.has(decision.by.id, id)
    const isUnseen = approved !== undefined || isUnopened || skip === true
    return isUnseen ? 'score' : 'credit'
  }

  /** Confirms an autonomous action. It does not count unopened, undone or from an unverified caller (T14). */
  async function confirmCheck(tx: Tx, approval: Approval, decision: Decision, check?: CheckRow) {
    const { id, requester, createdAt, risk, action } = approval
    const { by } = decision
    const isSeen =
      parseAnswers(decision).skip !== true && looks.has(by.id, id) && by.verified !== false
    if (!isSeen || (await agents.isRemoved(tx, requester, createdAt))) return { counted: false }
    if (check && (await isUndone(tx, check.act))) return { counted: false }
    const seen = { risk, kind: kindOf(action) }
    return scores.clean(tx, toTrustKey(approval), seen, isLookBackCheck(check))
  }

  /** Refuses to approve a request of a revoked agent: nothing would run, and a later agent must not benefit. */
  async function checkAgentActive(
    { requester, createdAt }: Approval,
    { verdict }: Decision,
    reader: Reader,
  ): Promise<void> {
    if (verdict === 'reject' || !(await agents.isRemoved(reader, requester, createdAt))) return
    throw new CoworkError('agent_revoked', `Agent revoked: ${requester}.`, {
      hint: 'Reject the request: a later agent with that name must ask again.',
    })
  }

  return [
    {
      ...callDeclaration,
      ttlMs: ttl.callMs,
      keepsArguments: 'until used',
      async check(approval, decision, reader) {
        await checkAgentActive(approval, decision, reader)
        const { allow } = parseAnswers(decision)
        if (allow) validateAllowance(allow, actOf(approval).change, show, now())
        if (decision.verdict === 'approve' && allow) checkQuorum(approval, allow)
        if (allow && decision.change !== undefined)
          throw new CoworkError('invalid_input', 'An edited call can be allowed only once.', {
            hint: 'Approve the edited call once, or allow the original for longer.',
          })
        return conflicts.check(reader, approval, decision)
      },
      // Bound to the arguments of the later call: with defaults and with the target that follows from them.
      ...(edits.editCall && { edited: edits.editCall }),
      async onDecided(tx, approval, decision, call) {
        const details = await applyDecision(tx, approval, decision)
        const { allow } = parseAnswers(decision)
        if (decision.verdict !== 'approve' || !allow || allow.for === 'once') return details
        return { ...details, ...(await permissions.grant(tx, approval, allow, decision, call)) }
      },
    },
    {
      ...permissionDeclaration,
      ttlMs: ttl.proposalMs,
      async check(approval, decision, reader) {
        await checkAgentActive(approval, decision, reader)
        const { policy_id: policy } = parseAnswers(decision)
        if (decision.verdict === 'approve' && (!policy || !policies().named(policy)))
          throw new CoworkError(
            'policy_needed',
            policy ? `Unknown policy: ${JSON.stringify(policy)}.` : 'Missing policy_id.',
            { hint: 'Set policy_id; `cowork policy list` lists the policies.' },
          )
      },
      async onDecided(tx, { id, requester, domain }, decision) {
        const { policy_id: policy } = parseAnswers(decision)
        if (decision.verdict !== 'approve' || policy === undefined) return {}
        const by = decision.by.id
        const row = { agent: requester, domain, policy, approval: id, by, at: now() }
        await store.addMapping(tx, row)
        return {
          mapping: { agent_id: requester, domain, policy_id: policy },
          ...storedMapping(row),
        }
      },
    },
    {
      ...proposalDeclaration,
      ttlMs: ttl.proposalMs,
      openedEntryType: 'proposal.created',
      keepsArguments: 'until decided',
      check(approval, decision, reader) {
        requireOverride(approval, decision)
        return conflicts.check(reader, approval, decision)
      },
      edited: edits.editProposal,
      onDecided: applyDecision,
    },
    ...others.map((kind) => withOptionalOverride(kind, deps)),
    {
      ...spotCheckDeclaration,
      check: requireOverride,
      async onDecided(tx, approval, decision) {
        const check = await store.findCheckByApproval(tx, approval.id)
        await store.markCheckRead(tx, approval.id, now())
        const { override: given } = parseAnswers(decision)
        const details =
          decision.verdict === 'reject' && given
            ? await override(tx, approval, decision, given, true, check)
            : await confirmCheck(tx, approval, decision, check)
        return {
          ...details,
          // A check has no opening entry: this entry is the first to mention it.
          opened_at: approval.createdAt,
          ...(isLookBackCheck(check) && { from_look_back: true }),
        }
      },
      onClosedUndecided: async (tx, { id }) => void (await store.markCheckRead(tx, id, now())),
    },
  ]
}

/** Each approver agreed to one call, so the last one must not allow more (A4). */
function checkQuorum({ requiredApprovals }: Approval, allow: Allowance): void {
  if (requiredApprovals === 1 || allow.for === 'once') return
  throw new CoworkError(
    'quorum_allow',
    `Each of these calls needs ${requiredApprovals} approvals and cannot be allowed for longer.`,
    { hint: 'Approve the call once, without `allow`.' },
  )
}

/** Rejecting a request of another module costs no trust unless the person says so (B4). */
const withOptionalOverride = (kind: ApprovalKind, deps: OverrideDeps): ApprovalKind => ({
  ...kind,
  async onDecided(tx, approval, decision, call) {
    const details = await kind.onDecided(tx, approval, decision, call)
    const { override } = parseAnswers(decision)
    if (decision.verdict === 'approve' || !override) return details
    return { ...details, ...(await overriding(deps)(tx, approval, decision, override, false)) }
  },
})

type OverrideDeps = Pick<Deps, 'scores' | 'spotChecks' | 'kindOf'>

/** Records an override for an approval; a mistake in an autonomous action opens a look-back (T14). */
const overriding =
  ({ scores, spotChecks, kindOf }: OverrideDeps) =>
  async (
    tx: Tx,
    approval: Approval,
    { by }: Decision,
    given: Override,
    isAlone: boolean,
    check?: CheckRow,
  ) => {
    const { action, id: approvalId, risk } = approval
    const pair = toTrustKey(approval)
    const about = { action, approval: check?.act ?? approvalId, by, isAlone }
    const judged = { risk, kind: kindOf(action) }
    const { id, streak, update, needsLookBack } = await scores.override(
      tx,
      pair,
      judged,
      given,
      about,
    )
    const isFirst = needsLookBack && !isLookBackCheck(check)
    const rows = isFirst ? await spotChecks.lookBack(tx, pair, risk, check?.act) : 0
    const { type, severity } = given
    return {
      ...update,
      override: { id, type, severity, consecutive: streak },
      ...(rows > 0 && { look_back: rows }),
    }
  }

const isLookBackCheck = (check: CheckRow | undefined): boolean =>
  check !== undefined && check.look_back !== null

/** A rejection where trust is judged is an override and needs a type (B4). */
function requireOverride({ kind }: Approval, decision: Decision): void {
  if (decision.verdict === 'approve' || parseAnswers(decision).override) return
  throw new CoworkError(
    'override_needed',
    `Rejecting a ${kind.replace('_', ' ')} requires an override.`,
    {
      hint: 'Set an override type: agent_wrong, missing_context, edge_case, human_preference or policy_change.',
    },
  )
}

export const toTrustKey = ({ requester, domain }: Approval): TrustKey => ({
  agent: requester,
  domain,
})
