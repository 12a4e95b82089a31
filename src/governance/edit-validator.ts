import type { Approval, ApprovalKind, Risk, ApprovalBrief, Approvals, Decision } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Tool, CallTarget } from '#base/tool.ts'
import { canonicalOf, isHighRisk } from './call-authorizer.ts'
import type { DomainOf } from './call-authorizer.ts'
import type { Proposals } from './proposals.ts'
import { extractFields } from './rules/fields.ts'
import type { Field } from './rules/fields.ts'
import type { Evaluation, Policy } from './rules/policy.ts'
import { answersOf, callContent } from './answers.ts'
import type { PolicyConflict } from './wire/inbox.ts'

/** Arguments as the tool reads them, and what they are about; throws where it does not take them. */
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

/** What a person writes in place of what was asked is judged as if the agent had asked for it (B3). */
export function createEditValidator(
  policyFor: Proposals['policyFor'],
  domainOf: DomainOf,
  readCall: ParseCall | undefined,
) {
  /** How risky it is; throws what the rules of now have against it (Y3, A4). */
  async function judged(
    reader: Reader,
    { requester, requiredApprovals }: Approval,
    domain: string,
    edit: { readonly fields: Field[]; readonly isRead?: boolean; readonly isRisky?: boolean },
  ): Promise<{ risk: Risk; isCovered: boolean }> {
    const { policies, policy, isMapped } = await policyFor(reader, { id: requester }, domain)
    const evaluation = policies.evaluate(policy, edit.fields, edit.isRead)
    if (evaluation.hardStop) throw breaks(policy, evaluation)
    if (evaluation.approvers > requiredApprovals) throw needsMore(policy, evaluation)
    const isHigh = evaluation.highRisk.length > 0 || edit.isRisky === true
    return {
      risk: isHigh ? 'high' : (policy?.risk ?? 'normal'),
      isCovered: isMapped || !policies.isMapped,
    }
  }

  const ofProposal: Edit = async (approval, change, reader) => {
    const { requester, domain, target, content } = approval
    const fields = extractFields(change, content.field)
    const { risk, isCovered } = await judged(reader, approval, domain, { fields })
    if (!isCovered)
      throw new CoworkError(
        'policy_blocked',
        `No policy covers ${requester} in ${domain} any more.`,
        {
          hint: 'Approve it as it is, or reject it with what should be different.',
        },
      )
    return { change, target, risk }
  }

  // Bound to what the agent will call with: defaults filled in, and about what it is about then.
  const ofCall =
    readCall &&
    (async (...[approval, given, reader]: Parameters<Edit>) => {
      const { tool, input, touch, change, target } = readCall(approval.action, given)
      const { risk } = await judged(reader, approval, domainOf({ tool, touch }), {
        fields: extractFields(input),
        isRead: tool.effect === 'read',
        isRisky: isHighRisk(tool, input),
      })
      return { change, target, risk, canonical: canonicalOf({ tool, input }) }
    })

  return { ofProposal, ofCall }
}

const hint = 'Write something else, or reject it with what should be different.'

function breaks(policy: Policy | undefined, { violations }: Evaluation): CoworkError {
  const first = violations.find(({ severity }) => severity === 'hard_stop')
  const { rule_id: rule = 'a rule', field = '', reason = '' } = first ?? {}
  const message = `What you wrote breaks ${rule} of ${policy?.id ?? 'policy'}: ${field}: ${reason}`
  return new CoworkError('policy_blocked', message, { hint, details: { violations } })
}

const needsMore = (policy: Policy | undefined, { approvers }: Evaluation): CoworkError =>
  new CoworkError(
    'quorum_edit',
    `${policy?.id ?? 'A rule'} wants ${approvers} people to agree to what you wrote.`,
    { hint: 'Reject it with what should be different: the agent asks for that, and they decide.' },
  )

export type PolicyConflicts = ReturnType<typeof createPolicyConflicts>

/** Finds pending requests that the active policy would block: they were opened under another version (A4, Y3). */
export function createPolicyConflicts(
  policyFor: Proposals['policyFor'],
  actOf: Approvals['openCall'],
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
    const isRead = kind === 'call' && callContent.parse(approval.content.extra).effect === 'read'
    const { change, field } = actIn(approval)
    const evaluation = policies.evaluate(policy, extractFields(change, field), isRead)
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
