import { spotCheck } from '#approvals'
import type { Approval, ApprovalKind, Approvals, Decision } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Identity } from '#identity'
import type { Edits } from './edits.ts'
import type { Looks } from './looks.ts'
import { checkAllowance } from './permissions.ts'
import type { Allowance, Permissions } from './permissions.ts'
import type { PolicyConflicts } from './policy-conflict.ts'
import { storedMapping } from './recorded.ts'
import type { Policies } from './rules/policy.ts'
import type { Worth } from './rules/trust.ts'
import type { Override, Pair, Scores } from './scores.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { CheckRow, GovernanceStore } from './store.ts'
import type { IsUndone } from './undo.ts'

type Deps = {
  readonly scores: Scores
  readonly permissions: Permissions
  readonly policies: () => Policies
  readonly store: GovernanceStore
  readonly agents: Pick<Identity, 'hasGone'>
  readonly ttl: { readonly proposalMs: number; readonly callMs: number }
  readonly edits: Edits
  readonly actOf: Approvals['actOf']
  readonly show: Approvals['show']
  readonly conflicts: PolicyConflicts
  readonly looks: Looks
  readonly kindOf: (action: string) => string
  readonly spotChecks: Pick<SpotChecks, 'lookBack'>
  readonly isUndone: IsUndone
  readonly now: Clock
}

/** What a decision about one of our kinds may carry besides. */
export type DecisionMore = {
  readonly override?: Override
  readonly allow?: Allowance
  readonly policy_id?: string
  /** How far access to files goes; `files` knows what each choice means (GR3). */
  readonly grant?: { readonly choice: string; readonly until?: string | undefined }
  /** The active policy version, where the person approves although it blocks the request (A4). */
  readonly acknowledge_policy?: string
  /** One of many that are decided together. */
  readonly bulk?: true
  /** A check that is closed without looking: it counts for nothing. */
  readonly skip?: true
  /** The permission that lets a waiting call go, which nobody looked at (Y8). */
  readonly cleared_by?: string
}

const moreOf = (decision: Decision): DecisionMore => decision.more ?? {}

/** The waits of governance: proposals, intercepted calls, permissions to work in a domain, spot checks. */
export function governanceKinds(deps: Deps): ApprovalKind[] {
  const { scores, permissions, policies, store, agents, ttl, edits, conflicts, actOf, show } = deps
  const { looks, kindOf, isUndone, now } = deps
  const override = overriding(deps)

  async function judged(tx: Tx, approval: Approval, decision: Decision) {
    const { override: given, cleared_by } = moreOf(decision)
    if (cleared_by !== undefined) return { cleared_by }
    if (decision.verdict === 'reject')
      return given ? override(tx, approval, decision, given, false) : {}
    const { risk, action, requester, createdAt } = approval
    // Whoever has the name later gains nothing by it.
    const isGone = await agents.hasGone(tx, requester, createdAt)
    const worth = isGone ? 'score' : worthOf(approval, decision)
    return scores.approve(tx, pairOf(approval), { risk, kind: kindOf(action) }, decision.by, worth)
  }

  /** What a person changed first, skipped, or approved among many without opening it, was not seen right (T11). */
  function worthOf({ id, approved }: Approval, { by, more }: Decision): Worth {
    const isUnopened = more?.['bulk'] === true && !looks.has(by.id, id)
    const isUnseen = approved !== undefined || isUnopened || more?.['skip'] === true
    return isUnseen ? 'score' : 'credit'
  }

  /** Confirms what was done alone. It counts for nothing unopened, undone, or from somebody unknown (T14). */
  async function confirmed(tx: Tx, approval: Approval, { by, more }: Decision, check?: CheckRow) {
    const { id, requester, createdAt, risk, action } = approval
    const isSeen = more?.['skip'] !== true && looks.has(by.id, id) && by.verified !== false
    if (!isSeen || (await agents.hasGone(tx, requester, createdAt))) return { counted: false }
    if (check && (await isUndone(tx, check.act))) return { counted: false }
    const seen = { risk, kind: kindOf(action) }
    return scores.clean(tx, pairOf(approval), seen, isOfLookBack(check))
  }

  /** Nothing would run any more, and nobody else is to have what it leads to. */
  async function checkHere(
    { requester, createdAt }: Approval,
    { verdict }: Decision,
    reader: Reader,
  ): Promise<void> {
    if (verdict === 'reject' || !(await agents.hasGone(reader, requester, createdAt))) return
    throw new CoworkError('agent_revoked', `The agent ${requester} that asked for this is gone.`, {
      hint: 'Reject it: whoever has that name later asks anew.',
    })
  }

  return [
    {
      kind: 'proposal',
      ttlMs: ttl.proposalMs,
      opened: 'proposal.created',
      keepsArguments: 'until decided',
      check(approval, decision, reader) {
        needsOverride(approval, decision)
        return conflicts.check(reader, approval, decision)
      },
      edited: edits.ofProposal,
      onDecided: judged,
    },
    {
      kind: 'call',
      ttlMs: ttl.callMs,
      keepsArguments: 'until used',
      async check(approval, decision, reader) {
        await checkHere(approval, decision, reader)
        const { allow } = moreOf(decision)
        if (allow) checkAllowance(allow, actOf(approval).change, show, now())
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
        const { allow } = moreOf(decision)
        if (decision.verdict !== 'approve' || !allow || allow.for === 'once') return told
        return { ...told, ...(await permissions.grant(tx, approval, allow, decision, call)) }
      },
    },
    {
      kind: 'permission',
      ttlMs: ttl.proposalMs,
      async check(approval, decision, reader) {
        await checkHere(approval, decision, reader)
        const { policy_id: policy } = moreOf(decision)
        if (decision.verdict === 'approve' && (!policy || !policies().named(policy)))
          throw new CoworkError(
            'policy_needed',
            policy ? `There is no policy ${JSON.stringify(policy)}.` : 'Say under which policy.',
            { hint: '`cowork policy list` names the policies.' },
          )
      },
      async onDecided(tx, { id, requester, domain }, decision) {
        const { policy_id: policy } = moreOf(decision)
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
      kind: spotCheck,
      check: needsOverride,
      async onDecided(tx, approval, decision) {
        const check = await store.checkOf(tx, approval.id)
        await store.readCheck(tx, approval.id, now())
        const { override: given } = moreOf(decision)
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
      onDropped: async (tx, { id }) => void (await store.readCheck(tx, id, now())),
    },
  ]
}

/** Who approves last has heard of no more than the others: each of them agreed to one call (A4). */
function checkQuorum({ needed }: Approval, allow: Allowance): void {
  if (needed === 1 || allow.for === 'once') return
  throw new CoworkError(
    'quorum_allow',
    `${needed} people must approve each of these calls; nobody allows them for longer.`,
    { hint: 'Approve it once, without `allow`.' },
  )
}

/** Refusing what another domain asks costs no trust, unless the person says that it should (B4). */
export const withOverride = (kind: ApprovalKind, deps: Overriding): ApprovalKind => ({
  ...kind,
  async onDecided(tx, approval, decision, call) {
    const told = await kind.onDecided(tx, approval, decision, call)
    const { override } = moreOf(decision)
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
    const pair = pairOf(approval)
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
  if (decision.verdict === 'approve' || moreOf(decision).override) return
  throw new CoworkError('override_needed', `Rejecting a ${kind.replace('_', ' ')} says why.`, {
    hint: 'Give an override type: agent_wrong, missing_context, edge_case, human_preference or policy_change.',
  })
}

export const pairOf = ({ requester, domain }: Approval): Pair => ({ agent: requester, domain })
