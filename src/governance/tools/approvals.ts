import * as z from 'zod'
import { isSeenBy, notYours, statuses } from '#approvals'
import type { Approval } from '#approvals'
import { rfc3339 } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import { defineTool } from '#base/tool.ts'
import type { Answer } from '../handoffs/packet.ts'
import type { Governance } from '../service.ts'
import { approvalId, who } from './words.ts'

const next: Record<Approval['status'], string> = {
  pending: 'A person has not decided yet: ask again with wait_seconds.',
  approved: 'Go on.',
  rejected: 'Do not do it; no reason was given.',
  expired: 'Nobody decided in time, which is a no. You may ask again.',
  withdrawn: 'It was taken back.',
  consumed: 'It was approved and carried out.',
}

function messageFor({ kind, status, action, answer, reason }: Approval, isLive: boolean): string {
  if (status === 'rejected' && reason) return `Do not do it. The person says: ${plainText(reason)}`
  if (kind === 'call' && status === 'approved')
    return isLive
      ? `Call ${action} again with the approved arguments: it runs once.`
      : `It was approved, but not called in time. Call ${action} again: a person is asked anew.`
  if (answer === undefined || kind !== 'handoff') return next[status]
  return (answer as Answer).hand_back
    ? 'A person handed it back: do as they say, and acknowledge it with cowork_check_handoff.'
    : 'A person has dealt with it: leave it to them.'
}

export const checkApprovalTool = ({ approvals }: Governance) =>
  defineTool({
    name: 'cowork_check_approval',
    title: 'Check an approval',
    description:
      'Whether a person has decided on your proposal, call, plan or request, and what exactly they approved. Waits up to 25 seconds if asked to.',
    toolset: 'cowork',
    core: true,
    effect: 'read',
    by: 'anyone',
    input: z.object({
      ...who,
      proposal_id: approvalId.optional(),
      approval_id: approvalId.optional(),
      request_id: approvalId.optional(),
      wait_seconds: z.number().min(0).max(25).default(0),
    }),
    output: z.object({
      approval_id: z.string(),
      kind: z.string(),
      status: z.enum(statuses),
      decided_by: z.string().nullable(),
      decided_at: z.string().nullable(),
      feedback: z.string().nullable(),
      approved_change: z.unknown().optional().describe('What was really approved'),
      collaborative: z.boolean().optional().describe('A person changed it first'),
      answer: z
        .unknown()
        .optional()
        .describe('What a person answered to a handoff, or how far access goes'),
      approval_token: z.string().optional(),
      token_expires_at: z.string().optional(),
      expires_at: z.string().nullable(),
      result: z.unknown().optional().describe('What the call answered, for a day'),
      review_url: z.string(),
      message: z.string(),
    }),
    text: (output) => `${output.status.toUpperCase()}: ${output.message}`,
    async run(input, { caller, signal }) {
      const id = input.approval_id ?? input.proposal_id ?? input.request_id
      if (id === undefined)
        throw new CoworkError('invalid_input', 'Say which: approval_id is missing.', {
          hint: 'Give the approval_id, proposal_id or request_id that you were answered.',
        })
      const isTheirs = (found: Approval | undefined): found is Approval =>
        found !== undefined && isSeenBy(caller, found)
      let found = await approvals.get(id)
      if (!isTheirs(found)) throw notYours(id)
      if (found.status === 'pending' && input.wait_seconds > 0)
        found = await approvals.decided(id, input.wait_seconds * 1000, signal)
      if (!isTheirs(found)) throw notYours(id)
      const { status, kind, token } = found
      const theirs = approvals.revealedTo(caller, found)
      const isApproved = status === 'approved' || status === 'consumed'
      return {
        approval_id: id,
        kind,
        status,
        decided_by: found.decidedBy,
        decided_at: found.decidedAt === null ? null : rfc3339(found.decidedAt),
        feedback: found.reason,
        ...(isApproved &&
          found.answer === undefined && {
            approved_change: theirs.approved ?? found.content.change,
            collaborative: found.approved !== undefined,
          }),
        ...(found.answer !== undefined && { answer: found.answer }),
        ...(token && {
          approval_token: token.value,
          token_expires_at: rfc3339(token.expiresAt),
        }),
        expires_at: found.expiresAt === null ? null : rfc3339(found.expiresAt),
        ...(found.result !== undefined && {
          result: caller.kind === 'agent' ? found.result : approvals.show(found.result),
        }),
        review_url: approvals.reviewUrl(id),
        message: messageFor(found, approvals.isLive(found)),
      }
    },
  })

export const withdrawTool = ({ approvals }: Governance) =>
  defineTool({
    name: 'cowork_withdraw',
    title: 'Withdraw',
    description: 'Take back your own proposal or request while nobody has decided on it.',
    toolset: 'cowork',
    effect: 'write',
    by: 'agent',
    input: z.object({ ...who, approval_id: approvalId }),
    output: z.object({ approval_id: z.string(), status: z.literal('withdrawn') }),
    async change(tx, { approval_id: id }, call) {
      await approvals.withdraw(tx, id, call)
      return { approval_id: id, status: 'withdrawn' as const }
    },
  })
