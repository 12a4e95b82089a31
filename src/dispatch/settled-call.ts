import { staleReason } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import type { Refusal } from '#base/call-check.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { ErrorCode } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { McpResult } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { checkCall, editSentence } from '#governance'

/** Says with a result that the call ran once under an approval, and what a person changed first (B3). */
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

/** The result of a call as `keep` stores it. */
type Kept =
  | { readonly status: 'done'; readonly output?: unknown; readonly mcp?: Record<string, unknown> }
  | { readonly status: 'done'; readonly too_large: true }
  | ({ readonly status: 'failed' | 'refused' } & Refusal)

/** Derives the answer to the caller from the approval of a call. */
export function settledOf<T extends Tool | undefined>(
  approval: Approval,
  tool: T,
  { isClaimable, isRunning, reviewUrl }: Deps,
): Settled<T> {
  const { id, status, mode, action, decidedBy, reason, expiresAt } = approval
  const by = decidedBy ?? 'A person'
  const details = { approval_id: id, status, mode, review_url: reviewUrl(id) }
  const refused = (code: ErrorCode, message: string, hint: string) =>
    ({ status: 'refused', code, message, hint, details }) as const
  const again = `Call ${action} again: a person is asked again.`
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
        hint: `Call ${checkCall(approval)}, or go on with other work. A person decides at ${reviewUrl(id)} (mode ${mode}${expiresAt === null ? '' : `, until ${formatRfc3339(expiresAt)}`}).`,
        details: {
          ...details,
          ...(expiresAt !== null && { expires_at: formatRfc3339(expiresAt) }),
        },
      }
    case 'approved':
      return isClaimable(approval)
        ? unfinished(`${by} approved ${action}; cowork runs it as soon as it can.`)
        : refused(
            'approval_expired',
            `${action} was approved, but could not run in time; nothing was done.`,
            again,
          )
    case 'consumed':
      return isRunning(approval) ? unfinished(`${by} approved ${action}; it is running.`) : ran()
    case 'rejected':
      return refused(
        'approval_denied',
        `${by} denied ${action}${reason ? `: ${reason}` : '.'}`,
        'Do not repeat it as it is: change it, or hand it to a person.',
      )
    case 'expired':
      return refused('approval_expired', 'Nobody decided in time, which is a no.', again)
    case 'withdrawn':
      return reason === staleReason
        ? refused(staleReason, staleMessage(approval), `Look at it again and call ${action} again.`)
        : refused(
            'approval_withdrawn',
            `${action} was withdrawn${reason ? `: ${sanitizeText(reason, 500)}` : '.'} Nothing was done.`,
            again,
          )
  }

  function ran(): Settled<T> {
    if (approval.result === undefined)
      return refused(
        'result_gone',
        `${action} ran once under approval ${id}; its result is kept for 24 hours and is gone.`,
        'Check its effects before you ask again.',
      )
    const kept = approval.result as Kept
    const earlier = earlierRun(approval)
    if (kept.status !== 'done')
      return {
        ...kept,
        message: [kept.message, editText(earlier)].filter(Boolean).join(' '),
        details: { ...kept.details, ...earlier },
      }
    if ('too_large' in kept)
      return refused(
        'result_too_large',
        `${action} ran once under approval ${id}; its result was too large to keep.`,
        'Look at what it did; do not ask for it again.',
      )
    const output = kept.mcp ? new McpResult(kept.mcp) : kept.output
    return { status: 'done', tool, output, earlier }
  }
}

export const staleMessage = ({ target }: Approval): string =>
  `STALE: ${sanitizeText(target, 300)} changed after you asked; nothing was done.`

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

/** The agent that asked is revoked, or authentication was turned on meanwhile (I4). */
export function gone({ requester }: Approval, { name }: Tool) {
  const message = `${requester} may not go on with ${name}: the agent was revoked, or authentication was turned on, while the request waited.`
  return {
    status: 'refused' as const,
    code: 'auth_error' as const,
    message,
    hint: 'A person lets an agent in with `cowork agents add <id>`; what it wants then, it asks for anew.',
    details: { error: true, auth_error: true, message },
  }
}
