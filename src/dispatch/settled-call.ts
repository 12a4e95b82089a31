import { staleReason } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import type { Refusal } from '#base/call-check.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { ErrorCode } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { McpResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { checkCall, editSentence } from '#governance'

/**
 * The note on a result that the call already ran once under an approval, with a person's edit
 * (B3).
 */
export type EarlierRun = {
  readonly approval_id: string
  readonly approved_change?: unknown
  readonly edited_by?: string
}

/** The outcome of a call that needed an approval, for its caller. */
export type Settled<T extends Tool | undefined> =
  | {
      readonly status: 'done'
      readonly tool: T
      readonly output: unknown
      readonly earlier: EarlierRun
    }
  | ({ readonly status: 'refused' | 'failed' } & Refusal)
  | ({ readonly status: 'waiting'; readonly tool: T; readonly approval: Approval } & Refusal)

type Deps = Pick<Approvals, 'isClaimable' | 'isRunning' | 'reviewUrl'>

/** The stored result of a call. */
type StoredResult =
  | { readonly status: 'done'; readonly output?: unknown; readonly mcp?: Record<string, unknown> }
  | { readonly status: 'done'; readonly too_large: true }
  | ({ readonly status: 'failed' | 'refused' } & Refusal)

/** Builds the result for the caller from the approval of its call. */
export function toSettled<T extends Tool | undefined>(
  approval: Approval,
  tool: T,
  { isClaimable, isRunning, reviewUrl }: Deps,
): Settled<T> {
  const { id, status, mode, action, decidedBy, reason, expiresAt } = approval
  const by = decidedBy ?? 'A person'
  const details = { approval_id: id, status, mode, review_url: reviewUrl(id) }
  const refused = (code: ErrorCode, message: string, hint: string) =>
    ({ status: 'refused', code, message, hint, details }) as const
  const retryHint = `Call ${action} again to request a new approval.`
  const unfinished = (message: string) =>
    ({
      status: 'waiting',
      tool,
      approval,
      code: 'approval_running',
      message: `${message} Do not call ${action} again.`,
      hint: `Call ${checkCall(approval)} for its result.`,
      details,
    }) as const

  switch (status) {
    case 'pending':
      return {
        status: 'waiting',
        tool,
        approval,
        code: 'approval_required',
        message: `Not failed: ${action} is waiting for a person. Do not do it another way. cowork runs it when it is approved.`,
        hint: `Call ${checkCall(approval)}, or continue other work. A person decides at ${reviewUrl(id)} (mode ${mode}${expiresAt === null ? '' : `, until ${formatRfc3339(expiresAt)}`}).`,
        details: {
          ...details,
          ...(expiresAt !== null && { expires_at: formatRfc3339(expiresAt) }),
        },
      }
    case 'approved':
      return isClaimable(approval)
        ? unfinished(`${by} approved ${action}; cowork will run it.`)
        : refused(
            'approval_expired',
            `${action} was approved, but the approval expired before it could run; nothing was done.`,
            retryHint,
          )
    case 'consumed':
      return isRunning(approval) ? unfinished(`${by} approved ${action}; it is running.`) : ran()
    case 'rejected':
      return refused(
        'approval_denied',
        `${by} denied ${action}${reason ? `: ${reason}` : '.'}`,
        'Do not repeat it unchanged: change it, or hand it to a person.',
      )
    case 'expired':
      return refused(
        'approval_expired',
        'Expired without a decision, so it is rejected.',
        retryHint,
      )
    case 'withdrawn':
      return reason === staleReason
        ? refused(
            staleReason,
            staleMessage(approval),
            `Read its current state and call ${action} again.`,
          )
        : refused(
            'approval_withdrawn',
            `${action} was withdrawn${reason ? `: ${sanitizeText(reason, 500)}` : '.'} Nothing was done.`,
            retryHint,
          )
  }

  function ran(): Settled<T> {
    if (approval.result === undefined)
      return refused(
        'result_gone',
        `${action} ran once under approval ${id}. Its result was deleted after 24 hours.`,
        'Check its effects before you ask again.',
      )
    const stored = approval.result as StoredResult
    const earlier = earlierRun(approval)
    if (stored.status !== 'done')
      return {
        ...stored,
        message: [stored.message, editText(earlier)].filter(Boolean).join(' '),
        details: { ...stored.details, ...earlier },
      }
    if ('too_large' in stored)
      return refused(
        'result_too_large',
        `${action} ran once under approval ${id}; its result was too large to store.`,
        'Check its effects; do not repeat it.',
      )
    const output = stored.mcp ? new McpResult(stored.mcp) : stored.output
    return { status: 'done', tool, output, earlier }
  }
}

export const staleMessage = ({ target }: Approval): string =>
  `STALE: ${sanitizeText(target, 300)} changed after your request; nothing was done.`

const earlierRun = ({ id, approved, decidedBy }: Approval): EarlierRun => ({
  approval_id: id,
  ...(approved !== undefined && {
    approved_change: approved,
    edited_by: decidedBy ?? 'a person',
  }),
})

/** Describes a person's edit of the arguments (B3); empty without an edit. */
export const editText = ({
  approved_change: change,
  edited_by: by = 'A person',
}: EarlierRun): string => (change === undefined ? '' : editSentence(by, change))

/**
 * Builds the refusal of a call whose agent was revoked, or that became unauthenticated, while it
 * was pending (I4).
 */
export function revokedAgentResult({ requester }: Approval, { name }: Tool) {
  const message = `Cannot run ${name}: ${requester} was revoked, or authentication was turned on, while the call was pending.`
  return {
    status: 'refused' as const,
    code: 'auth_error' as const,
    message,
    hint: 'Ask the user to add the agent with `cowork agents add <id>`, then repeat the call.',
    details: { error: true, auth_error: true, message },
  }
}
