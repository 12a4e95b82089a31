import type { Approval, ApprovalKind, Risk } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Tool, Touch } from '#base/tool.ts'
import { canonicalOf, isHighRisk } from './calls.ts'
import type { DomainOf } from './calls.ts'
import type { Proposals } from './proposals.ts'
import { fieldsOf } from './rules/fields.ts'
import type { Field } from './rules/fields.ts'
import type { Evaluation, Policy } from './rules/policy.ts'

/** Arguments as the tool reads them, and what they are about; throws where it does not take them. */
export type ReadCall = (
  tool: string,
  args: unknown,
) => {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly touch: Touch
  readonly change: unknown
  readonly target: string
}

type Edit = NonNullable<ApprovalKind['edited']>
export type Edits = ReturnType<typeof createEdits>

/** What a person writes in place of what was asked is judged as if the agent had asked for it (B3). */
export function createEdits(
  policyFor: Proposals['policyFor'],
  domainOf: DomainOf,
  readCall: ReadCall | undefined,
) {
  /** How risky it is; throws what the rules of now have against it (Y3, A4). */
  async function judged(
    reader: Reader,
    { requester, needed }: Approval,
    domain: string,
    edit: { readonly fields: Field[]; readonly isRead?: boolean; readonly isRisky?: boolean },
  ): Promise<{ risk: Risk; isCovered: boolean }> {
    const { policies, policy, isMapped } = await policyFor(reader, { id: requester }, domain)
    const evaluation = policies.evaluate(policy, edit.fields, edit.isRead)
    if (evaluation.hardStop) throw breaks(policy, evaluation)
    if (evaluation.approvers > needed) throw needsMore(policy, evaluation)
    const isHigh = evaluation.highRisk.length > 0 || edit.isRisky === true
    return {
      risk: isHigh ? 'high' : (policy?.risk ?? 'normal'),
      isCovered: isMapped || !policies.isMapped,
    }
  }

  const ofProposal: Edit = async (approval, change, reader) => {
    const { requester, domain, target, content } = approval
    const fields = fieldsOf(change, content.field)
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
        fields: fieldsOf(input),
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
