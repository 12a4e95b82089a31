import * as z from 'zod'
import { isVisibleTo, approvalNotFoundError, staleReason } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { CoworkError } from '#base/errors.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { forAgents, forAnyone } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { HandoffAnswer } from '../handoffs/packet.ts'
import type { Governance } from '../service.ts'
import { checkCall, editSentence, logCall } from '../next-call.ts'
import { approvalId, agentFields } from './shared-schemas.ts'
import { proposalResults } from '../wire/proposals.ts'

/** The stored result of a call. */
type StoredResult = { readonly status?: string; readonly code?: string; readonly message?: string }

function messageFor(approval: Approval, { isClaimable, isRunning }: Approvals): string {
  const { kind, status, action, target, reason } = approval
  const by = approval.decidedBy ?? 'A person'
  const editNote = (tense: 'runs' | 'ran') =>
    approval.approved === undefined ? '' : ` ${editSentence(by, approval.approved, tense)}`
  const keepAsking = `Call ${checkCall(approval)}; after two tries tell the user and go on with other work.`
  switch (status) {
    case 'pending':
      if (kind === 'call')
        return `PENDING. Not failed: ${action} is waiting for a person. Do not do it another way. cowork runs it when it is approved. ${keepAsking}`
      return `PENDING: No person has decided yet. Do not carry out the action, not even with other tools. ${keepAsking}`
    case 'approved':
      return kind === 'call' ? approvedCall() : approved()
    case 'consumed':
      return kind === 'call'
        ? ran()
        : `EXECUTED: ${by} approved the request, and it was carried out.`
    case 'rejected':
      return reason
        ? `REJECTED by ${by}. Do not carry out the action, not even with other tools. The person says: ${sanitizeText(reason)}`
        : `REJECTED by ${by}. Do not carry out the action, not even with other tools. No reason was given.`
    case 'expired':
      return 'EXPIRED without a decision, so it is rejected. You may ask again.'
    case 'withdrawn':
      if (reason === staleReason)
        return `STALE: ${sanitizeText(target, 300)} changed after your request; nothing was done. Read its current state and call ${action} again.`
      return `WITHDRAWN: The request was withdrawn${reason ? ` (${sanitizeText(reason)})` : ''}; nothing was done.`
  }

  function approvedCall(): string {
    return isClaimable(approval)
      ? `APPROVED by ${by}: cowork runs ${action} itself. Do not call it again. Call ${checkCall(approval)} for its result.${editNote('runs')}`
      : `NOT RUN: ${action} was approved, but the approval expired before it could run; nothing was done. Call ${action} again to request a new approval.`
  }

  function ran(): string {
    if (isRunning(approval))
      return `APPROVED by ${by}: ${action} is running. Do not call it again. Call ${checkCall(approval)} for its result.${editNote('runs')}`
    const edit = editNote('ran')
    if (approval.result === undefined)
      return `DONE: ${action} was approved by ${by} and ran once. Its result was deleted after 24 hours.${edit}`
    const { status: end, code, message = '' } = approval.result as StoredResult
    if (code === 'outcome_unknown')
      return `OUTCOME UNKNOWN: ${message} cowork does not run the call again. Check its effects before you ask again.${edit}`
    return end === 'done'
      ? `DONE: ${action} was approved by ${by} and ran once. Do not call it again.${edit}`
      : `FAILED: ${action} was approved by ${by}, ran once and failed: ${sanitizeText(message)}${edit}`
  }

  /** The agent itself carries out an action outside cowork. */
  function approved(): string {
    const { answer } = approval
    if (kind === 'handoff' && answer !== undefined)
      return (answer as HandoffAnswer).hand_back
        ? `APPROVED by ${by}. A person handed the task back: follow the instructions and acknowledge them with cowork_check_handoff.`
        : `APPROVED by ${by}. A person has resolved the handoff: leave the task to them.`
    if (kind !== 'proposal') return `APPROVED by ${by}. Go on.`
    const change = toSafeJson(approval.approved ?? approval.content.change)
    const isEdited = approval.approved !== undefined
    const instruction = isEdited
      ? `APPROVED WITH CHANGES by ${by}. Do exactly this, not your original: ${change}.`
      : `APPROVED by ${by}. Carry out exactly this: ${change}.`
    return `${instruction} Then call ${logCall(approval)}.`
  }
}

type Part = z.output<typeof proposalResults.cowork_check_approval>

function formatPart({ approval_id, result_part = '', result_length, next }: Part): string {
  const more =
    next === undefined
      ? 'This is the last part.'
      : `Call cowork_check_approval ${JSON.stringify({ approval_id, result_from: next })} for the next part.`
  return `Part of the result (${result_length} characters of JSON): ${result_part}\n${more}`
}

/** Maximum bytes of one part: clients truncate longer replies (RA1). */
const maxPartBytes = 25_000

/** Returns a small result in full, otherwise a handle and the part of its JSON that starts at `from`. */
function toResultParts(handle: string, result: unknown, from = 0) {
  const json = toSafeJson(result) ?? 'null'
  if (from === 0 && Buffer.byteLength(json) <= maxPartBytes) return { result }
  const start = isPairSplit(json, from) ? from - 1 : from
  const part = firstBytes(json.slice(start, start + maxPartBytes))
  const next = start + part.length
  return {
    result_handle: handle,
    result_part: part,
    result_length: json.length,
    ...(next < json.length && { next }),
  }
}

/** Decodes as a stream, which drops an incomplete last character. */
const firstBytes = (text: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Buffer.from(text).subarray(0, maxPartBytes),
    { stream: true },
  )

const isPairSplit = (text: string, at: number): boolean =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1))

export const approvalTools = ({ approvals }: Governance): Tool[] => [
  defineTool({
    ...forAnyone.read,
    name: 'cowork_check_approval',
    title: 'Check an approval',
    description:
      'Read the decision on your proposal, call, plan or request: what exactly was approved, and the result of an approved call, which cowork runs itself. wait_seconds waits for it, up to 25.',
    core: true,
    input: z.object({
      ...agentFields,
      proposal_id: approvalId.optional(),
      approval_id: approvalId.optional(),
      request_id: approvalId.optional(),
      wait_seconds: effort(z.number().min(0).max(25)).default(0).describe('0 to 25'),
      result_from: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe('`next` of the previous part of a large result'),
    }),
    output: proposalResults.cowork_check_approval,
    text: (output) =>
      [
        output.message,
        ...(output.feedback !== null && output.status !== 'rejected'
          ? [`The person says: ${sanitizeText(output.feedback)}`]
          : []),
        ...(output.answer === undefined ? [] : [`Answer: ${toSafeJson(output.answer)}`]),
        ...(output.approval_token === undefined
          ? []
          : [`Token: ${output.approval_token}, until ${output.token_expires_at}`]),
        ...(output.result === undefined ? [] : [`Result: ${toSafeJson(output.result)}`]),
        ...(output.result_part === undefined ? [] : [formatPart(output)]),
        `(${output.kind.replace('_', ' ')} ${output.approval_id}, ${output.status}${output.decided_at === null ? '' : ` at ${output.decided_at}`}${output.expires_at === null || output.decided_at !== null ? '' : `, expires ${output.expires_at}`}: ${output.review_url})`,
      ].join('\n'),
    async read(input, { caller, signal }) {
      /** True while a decision, or the run of an approved call, is pending. */
      const isOpen = (approval: Approval) =>
        approval.status === 'pending' ||
        (approval.kind === 'call' &&
          (approvals.isClaimable(approval) || approvals.isRunning(approval)))
      const id = input.approval_id ?? input.proposal_id ?? input.request_id
      if (id === undefined)
        throw new CoworkError('invalid_input', 'Missing approval_id.', {
          hint: 'Set the approval_id, proposal_id or request_id that you received.',
        })
      const isVisible = (candidate: Approval | undefined): candidate is Approval =>
        candidate !== undefined && isVisibleTo(caller, candidate)
      let approval = await approvals.get(id)
      if (!isVisible(approval)) throw approvalNotFoundError(id)
      if (input.wait_seconds > 0 && isOpen(approval))
        approval = await approvals.waitUntilFinished(id, input.wait_seconds * 1000, signal)
      if (!isVisible(approval)) throw approvalNotFoundError(id)
      if (approval.result !== undefined && caller.kind === 'agent') approvals.noteDelivered(id)
      const { status, kind, token } = approval
      const revealed = approvals.revealTo(caller, approval)
      const isApproved = status === 'approved' || status === 'consumed'
      const isEdited = approval.approved !== undefined
      return {
        approval_id: id,
        kind,
        status,
        decided_by: approval.decidedBy,
        decided_at: approval.decidedAt === null ? null : formatRfc3339(approval.decidedAt),
        // The message already contains the reason of a withdrawal, which cowork writes.
        feedback: status === 'withdrawn' ? null : approval.reason,
        ...(isApproved &&
          approval.answer === undefined && {
            approved_change: revealed.approved ?? approval.content.change,
            collaborative: isEdited,
            ...(isEdited && approval.decidedBy !== null && { edited_by: approval.decidedBy }),
          }),
        ...(approval.answer !== undefined && { answer: approval.answer }),
        ...(token && {
          approval_token: token.value,
          token_expires_at: formatRfc3339(token.expiresAt),
        }),
        expires_at: approval.expiresAt === null ? null : formatRfc3339(approval.expiresAt),
        ...(approval.result !== undefined &&
          toResultParts(
            id,
            caller.kind === 'agent' ? approval.result : approvals.redactForDisplay(approval.result),
            input.result_from,
          )),
        review_url: approvals.reviewUrl(id),
        message: messageFor(revealed, approvals),
      }
    },
  }),
  defineTool({
    ...forAgents.write,
    name: 'cowork_withdraw',
    title: 'Withdraw',
    description: 'Withdraw your own proposal or request while it is pending.',
    input: z.object({ ...agentFields, approval_id: approvalId }),
    output: proposalResults.cowork_withdraw,
    async transact(tx, { approval_id: id }, call) {
      await approvals.withdraw(tx, id, call)
      return { approval_id: id, status: 'withdrawn' as const }
    },
  }),
]
