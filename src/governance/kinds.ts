import type { Approval, ApprovalKind, Approvals, Decision } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import {
  answersOf,
  callDeclaration,
  permissionDeclaration,
  proposalDeclaration,
  spotCheckDeclaration,
} from './answers.ts'
import type { Allowance } from './answers.ts'
import type { EditValidator, PolicyConflicts } from './edit-validator.ts'
import type { Looks } from './read-receipts.ts'
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
  readonly looks: Looks
  readonly kindOf: (action: string) => string
  readonly spotChecks: Pick<SpotChecks, 'lookBack'>
  readonly isUndone: IsUndone
  readonly now: Clock
}

/**
 * The waits of governance: intercepted calls, permissions to work in a domain, proposals, spot checks, and `others`.
 * `cowork_decide` lists their fields in this order.
 */
export function governanceKinds(deps: Deps, others: readonly ApprovalKind[]): ApprovalKind[] {
  const { scores, permissions, policies, store, agents, ttl, edits, conflicts, actOf, show } = deps
  const { looks, kindOf, isUndone, now } = deps
  const override = overriding(deps)

  async function judged(tx: Tx, approval: Approval, decision: Decision) {
    const { override: given, cleared_by } = answersOf(decision)
    if (cleared_by !== undefined) return { cleared_by }
    if (decision.verdict === 'reject')
      return given ? override(tx, approval, decision, given, false) : {}
    const { risk, action, requester, createdAt } = approval
    // Whoever has the name later gains nothing by it.
    const isGone = await agents.isRemoved(tx, requester, createdAt)
    const worth = isGone ? 'score' : worthOf(approval, decision)
    return scores.approve(
      tx,
      toTrustKey(approval),
      { risk, kind: kindOf(action) },
      decision.by,
      worth,
    )
  }

  /** What a person changed first, skipped, or approved among many without opening it, was not seen right (T11). */
  function worthOf({ id, approved }: Approval, decision: Decision): Worth {
    const { bulk, skip } = answersOf(decision)
    const isUnopened = bulk === true && !looks.has(decision.by.id, id)
    const isUnseen = approved !== undefined || isUnopened || skip === true
    return isUnseen ? 'score' : 'credit'
  }

  /** Confirms what was done alone. It counts for nothing unopened, undone, or from somebody unknown (T14). */
  async function confirmed(tx: Tx, approval: Approval, decision: Decision, check?: CheckRow) {
    const { id, requester, createdAt, risk, action } = approval
    const { by } = decision
    const isSeen =
      answersOf(decision).skip !== true && looks.has(by.id, id) && by.verified !== false
    if (!isSeen || (await agents.isRemoved(tx, requester, createdAt))) return { counted: false }
    if (check && (await isUndone(tx, check.act))) return { counted: false }
    const seen = { risk, kind: kindOf(action) }
    return scores.clean(tx, toTrustKey(approval), seen, isOfLookBack(check))
  }

  /** Nothing would run any more, and nobody else is to have what it leads to. */
  async function checkHere(
    { requester, createdAt }: Approval,
    { verdict }: Decision,
    reader: Reader,
  ): Promise<void> {
    if (verdict === 'reject' || !(await agents.isRemoved(reader, requester, createdAt))) return
    throw new CoworkError('agent_revoked', `The agent ${requester} that asked for this is gone.`, {
      hint: 'Reject it: whoever has that name later asks anew.',
    })
  }

  return [
    {
      ...callDeclaration,
      ttlMs: ttl.callMs,
      keepsArguments: 'until used',
      async check(approval, decision, reader) {
        await checkHere(approval, decision, reader)
        const { allow } = answersOf(decision)
        if (allow) validateAllowance(allow, actOf(approval).change, show, now())
        if (decision.verdict === 'approve' && allow) checkQuorum(approval, allow)
        if (allow && decision.change !== undefined)
          throw new CoworkError('invalid_input', 'An edited call is allowed once only.', {
            hint: 'Approve it edited, or allow it as it is for longer.',
          })
        return conflicts.check(reader, approval, decision)
      },
      // Bound to what the agent will call with: defaults filled in, and about what it is about then.
      ...(edits.ofCall && { edited: edits.ofCall }),
      async onDecided(tx, approval, decision, call) {
        const told = await judged(tx, approval, decision)
        const { allow } = answersOf(decision)
        if (decision.verdict !== 'approve' || !allow || allow.for === 'once') return told
        return { ...told, ...(await permissions.grant(tx, approval, allow, decision, call)) }
      },
    },
    {
      ...permissionDeclaration,
      ttlMs: ttl.proposalMs,
      async check(approval, decision, reader) {
        await checkHere(approval, decision, reader)
        const { policy_id: policy } = answersOf(decision)
        if (decision.verdict === 'approve' && (!policy || !policies().named(policy)))
          throw new CoworkError(
            'policy_needed',
            policy ? `There is no policy ${JSON.stringify(policy)}.` : 'Say under which policy.',
            { hint: '`cowork policy list` names the policies.' },
          )
      },
      async onDecided(tx, { id, requester, domain }, decision) {
        const { policy_id: policy } = answersOf(decision)
        if (decision.verdict !== 'approve' || policy === undefined) return {}
        const by = decision.by.id
        const row = { agent: requester, domain, policy, approval: id, by, at: now() }
        await store.map(tx, row)
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
        needsOverride(approval, decision)
        return conflicts.check(reader, approval, decision)
      },
      edited: edits.ofProposal,
      onDecided: judged,
    },
    ...others.map((kind) => withOptionalOverride(kind, deps)),
    {
      ...spotCheckDeclaration,
      check: needsOverride,
      async onDecided(tx, approval, decision) {
        const check = await store.checkOf(tx, approval.id)
        await store.readCheck(tx, approval.id, now())
        const { override: given } = answersOf(decision)
        const told =
          decision.verdict === 'reject' && given
            ? await override(tx, approval, decision, given, true, check)
            : await confirmed(tx, approval, decision, check)
        return {
          ...told,
          // A check is opened without an entry: this one is the first to tell of it.
          opened_at: approval.createdAt,
          ...(isOfLookBack(check) && { from_look_back: true }),
        }
      },
      onClosedUndecided: async (tx, { id }) => void (await store.readCheck(tx, id, now())),
    },
  ]
}

/** Who approves last has heard of no more than the others: each of them agreed to one call (A4). */
function checkQuorum({ requiredApprovals }: Approval, allow: Allowance): void {
  if (requiredApprovals === 1 || allow.for === 'once') return
  throw new CoworkError(
    'quorum_allow',
    `${requiredApprovals} people must approve each of these calls; nobody allows them for longer.`,
    { hint: 'Approve it once, without `allow`.' },
  )
}

/** Refusing what another domain asks costs no trust, unless the person says that it should (B4). */
const withOptionalOverride = (kind: ApprovalKind, deps: Overriding): ApprovalKind => ({
  ...kind,
  async onDecided(tx, approval, decision, call) {
    const told = await kind.onDecided(tx, approval, decision, call)
    const { override } = answersOf(decision)
    if (decision.verdict === 'approve' || !override) return told
    return { ...told, ...(await overriding(deps)(tx, approval, decision, override, false)) }
  },
})

type Overriding = Pick<Deps, 'scores' | 'spotChecks' | 'kindOf'>

/** Records an override that answers an approval; a mistake in what was done alone brings a look-back (T14). */
const overriding =
  ({ scores, spotChecks, kindOf }: Overriding) =>
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
    const { id, streak, told, needsLookBack } = await scores.override(
      tx,
      pair,
      judged,
      given,
      about,
    )
    const isFirst = needsLookBack && !isOfLookBack(check)
    const rows = isFirst ? await spotChecks.lookBack(tx, pair, risk, check?.act) : 0
    const { type, severity } = given
    return {
      ...told,
      override: { id, type, severity, consecutive: streak },
      ...(rows > 0 && { look_back: rows }),
    }
  }

const isOfLookBack = (check: CheckRow | undefined): boolean =>
  check !== undefined && check.look_back !== null

/** Rejecting what trust is about is an override, and says of which type (B4). */
function needsOverride({ kind }: Approval, decision: Decision): void {
  if (decision.verdict === 'approve' || answersOf(decision).override) return
  throw new CoworkError('override_needed', `Rejecting a ${kind.replace('_', ' ')} says why.`, {
    hint: 'Give an override type: agent_wrong, missing_context, edge_case, human_preference or policy_change.',
  })
}

export const toTrustKey = ({ requester, domain }: Approval): TrustKey => ({
  agent: requester,
  domain,
})
