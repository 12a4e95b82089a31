import type { Approval, ApprovalKind, Risk, ApprovalBrief, Approvals, Decision } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Tool, CallTarget } from '#base/tool.ts'
import { canonicalInput, isHighRisk } from './call-authorizer.ts'
import type { ResolveDomain } from './call-authorizer.ts'
import type { Proposals } from './proposals.ts'
import { extractFields } from './rules/fields.ts'
import type { Field } from './rules/fields.ts'
import type { Evaluation, Policy } from './rules/policy.ts'
import { parseAnswers, callContent } from './answers.ts'
import type { PolicyConflict } from './wire/inbox.ts'

/** Parses arguments as the tool does, and returns their target; throws for invalid arguments. */
export type ParseCall = (
  tool: string,
  args: unknown,
) => {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly touch: CallTarget
  readonly change: unknown
  readonly target: string
}

type Edit = NonNullable<ApprovalKind['edited']>
export type EditValidator = ReturnType<typeof createEditValidator>

/** Validates the edit of a person as if the agent had requested it (B3). */
export function createEditValidator(
  policyFor: Proposals['policyFor'],
  resolveDomain: ResolveDomain,
  readCall: ParseCall | undefined,
) {
  /** Returns the risk of an edit; throws if the active rules do not allow it (Y3, A4). */
  async function evaluateEdit(
    reader: Reader,
    { requester, requiredApprovals }: Approval,
    domain: string,
    edit: { readonly fields: Field[]; readonly isRead?: boolean; readonly isRisky?: boolean },
  ): Promise<{ risk: Risk; isCovered: boolean }> {
    const { policies, policy, isMapped } = await policyFor(reader, { id: requester }, domain)
    const evaluation = policies.evaluate(policy, edit.fields, edit.isRead)
    if (evaluation.hardStop) throw policyError(policy, evaluation)
    if (evaluation.approvers > requiredApprovals) throw quorumError(policy, evaluation)
    const isHigh = evaluation.highRisk.length > 0 || edit.isRisky === true
    return {
      risk: isHigh ? 'high' : (policy?.risk ?? 'normal'),
      isCovered: isMapped || !policies.isMapped,
    }
  }

  const editProposal: Edit = async (approval, change, reader) => {
    const { requester, domain, target, content } = approval
    const fields = extractFields(change, content.field)
    const { risk, isCovered } = await evaluateEdit(reader, approval, domain, { fields })
    if (!isCovered)
      throw new CoworkError('policy_blocked', `No policy covers ${requester} in ${domain} now.`, {
        hint: 'Approve the request unchanged, or reject it and describe the change.',
      })
    return { change, target, risk }
  }

  // Bound to the arguments of the later call: with defaults and with the target that follows from them.
  const editCall =
    readCall &&
    (async (...[approval, given, reader]: Parameters<Edit>) => {
      const { tool, input, touch, change, target } = readCall(approval.action, given)
      const { risk } = await evaluateEdit(reader, approval, resolveDomain({ tool, touch }), {
        fields: extractFields(input),
        isRead: tool.effect === 'read',
        isRisky: isHighRisk(tool, input),
      })
      return { change, target, risk, canonical: canonicalInput({ tool, input }) }
    })

  return { editProposal, editCall }
}

const editHint = 'Change the edit, or reject the request and describe the change.'

function policyError(policy: Policy | undefined, { violations }: Evaluation): CoworkError {
  const first = violations.find(({ severity }) => severity === 'hard_stop')
  const { rule_id: rule = 'a rule', field = '', reason = '' } = first ?? {}
  const message = `The edit violates ${rule} of ${policy?.id ?? 'policy'}: ${field}: ${reason}`
  return new CoworkError('policy_blocked', message, { hint: editHint, details: { violations } })
}

const quorumError = (policy: Policy | undefined, { approvers }: Evaluation): CoworkError =>
  new CoworkError(
    'quorum_edit',
    `${policy?.id ?? 'A rule'} requires ${approvers} approvals for the edit.`,
    { hint: 'Reject the request and describe the change: the agent can request that.' },
  )

export type PolicyConflicts = ReturnType<typeof createPolicyConflicts>

/** Finds pending requests that the active policy would block: they were opened under another version (A4, Y3). */
export function createPolicyConflicts(
  policyFor: Proposals['policyFor'],
  actOf: Approvals['openCall'],
) {
  /**
   * Returns the real arguments. If they are unreadable, the redacted copy is enough: such a request cannot be
   * approved.
   */
  function resolveAction(approval: Approval): { change: unknown; field?: string | undefined } {
    try {
      return actOf(approval)
    } catch {
      return approval.content
    }
  }

  /** Loads the full approval only if the policy has changed since. */
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
    const isRead = kind === 'call' && callContent.parse(approval.content.extra).effect === 'read'
    const { change, field } = resolveAction(approval)
    const evaluation = policies.evaluate(policy, extractFields(change, field), isRead)
    if (!evaluation.hardStop) return undefined
    const rule = evaluation.violations.find(({ severity }) => severity === 'hard_stop')
    return {
      policy: policy?.id ?? null,
      version,
      rule: rule?.rule_id ?? null,
      message: `${rule ? `${rule.field}: ${rule.reason}` : 'A rule forbids the change.'}${kind === 'call' ? ' The call is refused when it runs, even if approved.' : ''}`,
    }
  }

  return {
    find,
    /**
     * Refuses to approve a conflicting request unless the decision names the active version that the person saw.
     * Returns data for the entry of the decision. An edit is validated separately, and a permission does not review
     * requests.
     */
    async check(reader: Reader, approval: Approval, decision: Decision) {
      const { acknowledge_policy: acknowledged, cleared_by } = parseAnswers(decision)
      const isEdited = decision.change !== undefined
      if (decision.verdict === 'reject' || isEdited || cleared_by !== undefined) return {}
      const conflict = await find(reader, approval, () => Promise.resolve(approval))
      if (!conflict) return {}
      if (acknowledged !== conflict.version) throw acknowledgementError(conflict)
      const { policy, version, rule } = conflict
      return { policy_acknowledged: { policy, version, rule } }
    },
  }
}

const acknowledgementError = (conflict: PolicyConflict) =>
  new CoworkError(
    'policy_conflict',
    `The active policy${conflict.policy === null ? '' : ` ${conflict.policy}`} blocks this request: ${conflict.message}`,
    {
      hint: `Reject the request, or review it in the console and approve it with acknowledge_policy ${conflict.version}.`,
      details: { policy_conflict: conflict },
    },
  )
