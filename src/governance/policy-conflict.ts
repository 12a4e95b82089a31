import type { Approval, ApprovalBrief, Approvals, Decision } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { answersOf, callContent } from './answers.ts'
import type { Proposals } from './proposals.ts'
import { fieldsOf } from './rules/fields.ts'
import type { PolicyConflict } from './wire/inbox.ts'

export type PolicyConflicts = ReturnType<typeof createPolicyConflicts>

/** Finds pending requests that the active policy would block: they were opened under another version (A4, Y3). */
export function createPolicyConflicts(
  policyFor: Proposals['policyFor'],
  actOf: Approvals['actOf'],
) {
  /** The real arguments. Where they cannot be read the shown copy must do: such a request cannot be approved. */
  function actIn(approval: Approval): { change: unknown; field?: string | undefined } {
    try {
      return actOf(approval)
    } catch {
      return approval.content
    }
  }

  /** Loads the whole approval only where the policy has changed since. */
  async function find(
    reader: Reader,
    { kind, status, requester, domain, policyVersion }: ApprovalBrief,
    load: () => Promise<Approval | undefined>,
  ): Promise<PolicyConflict | undefined> {
    if (status !== 'pending' || (kind !== 'proposal' && kind !== 'call')) return undefined
    const active = await policyFor(reader, { id: requester }, domain)
    const { policies, policy, isMapped } = active
    const { version } = policies
    if (version === policyVersion) return undefined
    if (kind === 'proposal' && policies.isMapped && !isMapped) {
      const message = `No policy covers ${requester} in ${domain}.`
      return { policy: null, version, rule: null, message }
    }
    const approval = await load()
    if (!approval) return undefined
    const isRead = kind === 'call' && callContent.parse(approval.content.more).effect === 'read'
    const { change, field } = actIn(approval)
    const evaluation = policies.evaluate(policy, fieldsOf(change, field), isRead)
    if (!evaluation.hardStop) return undefined
    const rule = evaluation.violations.find(({ severity }) => severity === 'hard_stop')
    return {
      policy: policy?.id ?? null,
      version,
      rule: rule?.rule_id ?? null,
      message: `${rule ? `${rule.field}: ${rule.reason}` : 'A rule forbids it.'}${kind === 'call' ? ' The call is refused when it runs, even if it is approved.' : ''}`,
    }
  }

  return {
    find,
    /**
     * Refuses to approve a conflicting request unless the decision names the active version, as the person saw it.
     * Returns what the entry of the decision says. An edit is judged by itself, and a permission looks at no request.
     */
    async check(reader: Reader, approval: Approval, decision: Decision) {
      const { acknowledge_policy: acknowledged, cleared_by } = answersOf(decision)
      const isEdited = decision.change !== undefined
      if (decision.verdict === 'reject' || isEdited || cleared_by !== undefined) return {}
      const conflict = await find(reader, approval, () => Promise.resolve(approval))
      if (!conflict) return {}
      if (acknowledged !== conflict.version) throw needsAcknowledgement(conflict)
      const { policy, version, rule } = conflict
      return { policy_acknowledged: { policy, version, rule } }
    },
  }
}

const needsAcknowledgement = (conflict: PolicyConflict) =>
  new CoworkError(
    'policy_conflict',
    `The active policy${conflict.policy === null ? '' : ` ${conflict.policy}`} blocks this request: ${conflict.message}`,
    {
      hint: `Reject it, or review it in the console and approve it with acknowledge_policy ${conflict.version}.`,
      details: { policy_conflict: conflict },
    },
  )
