import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { Approval, Decision, DeferredDecision, NewApproval } from './model.ts'
import type { Actor, EntryDraft, EntryIds } from '#base/entry.ts'
import type { DecisionContext, DecisionDetails } from './kinds.ts'

/** The data that an approval covers (A1). A call that differs in any field is not approved. */
export type ApprovedAction = {
  readonly agent: string
  readonly action: string
  readonly target: string
  /** The arguments, the change, or the hash of a plan */
  readonly content: unknown
  readonly schema?: string
}

export function computeDigest({ agent, action, target, content, schema }: ApprovedAction): string {
  try {
    return sha256Hex(canonicalJson({ agent, action, target, content, schema: schema ?? null }))
  } catch (cause) {
    throw new CoworkError('invalid_input', `Arguments cannot be hashed: ${errorMessage(cause)}.`, {
      hint: 'Send plain JSON without lone surrogates.',
      cause,
    })
  }
}

/**
 * Requests of one group have the same requester, action and field names; targets and values
 * differ.
 */
export function groupKey(requester: string, opening: NewApproval): string {
  const { kind, domain, action, content } = opening
  const { change } = content
  const names = typeof change === 'object' && change !== null ? Object.keys(change) : []
  const alike = [kind, requester, domain, action, names.toSorted()]
  return sha256Hex(canonicalJson(alike)).slice(0, 16)
}

/** A deferred decision was made in time, so it never expires. */
export const isExpired = ({ status, expiresAt, deferred }: Approval, now: number): boolean =>
  status === 'pending' && !deferred && expiresAt !== null && expiresAt <= now

/** Throws if this decision cannot be made now (T3, A3, A4, A11). */
export function checkDecision(
  approval: Approval | undefined,
  votes: readonly string[],
  { by, verdict, at, change }: Decision,
  now: number,
): asserts approval is Approval {
  if (!approval) throw alreadyDecidedError(undefined)
  if (isExpired(approval, now)) throw expiredError(approval)
  if (approval.status !== 'pending') throw alreadyDecidedError(approval)
  // The first decision wins, also in its undo window; only the system completes a deferred
  // decision.
  if (approval.deferred && at === undefined) throw decisionDeferredError(approval.deferred)
  // People make no requests, so a person with the same id as the agent is not the requester.
  if (by.kind !== 'human')
    throw new CoworkError(
      'human_required',
      `HumanRequiredError: ${by.id} cannot decide a request of ${approval.requester}.`,
      { hint: 'A person decides in the console or with `cowork inbox`.' },
    )
  // After an edit, the other approvers would approve something different.
  if (verdict === 'approve' && change !== undefined && approval.requiredApprovals > 1)
    throw new CoworkError('quorum_edit', 'Cannot edit a request that needs several approvals.', {
      hint: 'Reject the request and describe the change in the reason.',
    })
  if (verdict === 'approve' && votes.includes(by.id))
    throw new CoworkError(
      'quorum_same_person',
      `${by.id} already approved this request; ${approval.requiredApprovals} different people must approve.`,
      { hint: 'Ask another person to approve in the console.' },
    )
}

export function alreadyDecidedError(approval: Approval | undefined): CoworkError {
  const { status, decidedBy, decidedAt } = approval ?? {}
  return new CoworkError(
    'already_decided',
    `not found or already decided${approval ? `: ${status}${decidedBy ? ` by ${decidedBy}` : ''}` : ''}`,
    {
      hint: 'Run `cowork inbox` to list pending approvals.',
      ...(approval && {
        details: {
          status,
          decided_by: decidedBy,
          decided_at: decidedAt ? new Date(decidedAt).toISOString() : null,
        },
      }),
    },
  )
}

export const approvalNotFoundError = (id: string) =>
  new CoworkError('not_found', `Unknown approval: ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'Use the id that cowork returned for your own request.',
  })

export const decisionDeferredError = ({ decision, until }: DeferredDecision): CoworkError =>
  new CoworkError(
    'already_decided',
    `Already decided by ${decision.by.id}; the decision applies at ${new Date(until).toISOString()}.`,
    {
      hint: 'Run `cowork undo <id>` before then to undo it.',
      details: {
        status: 'held',
        decided_by: decision.by.id,
        decided_at: decision.at ? new Date(decision.at).toISOString() : null,
      },
    },
  )

const expiredError = (approval: Approval): CoworkError =>
  new CoworkError(
    'approval_expired',
    `This ${approval.kind} expired at ${new Date(approval.expiresAt ?? 0).toISOString()} and counts as rejected.`,
    { hint: 'The agent may ask again.' },
  )

/**
 * Returns the channel of a decision. An unverified header is ignored, because any token holder can
 * set it.
 */
export const detectChannel = ({ verified, channel = 'api' }: Caller): string =>
  verified ? channel : 'mcp'

/**
 * The kind of a review of an autonomous action. Agents never see spot checks, or they would know
 * which actions are reviewed (T14).
 */
export const spotCheck = 'spot_check'

/** Limits agents to their own requests; people see the requests of every agent (L10). */
export const requesterFilter = (caller: Caller, agent?: string) =>
  caller.kind === 'agent'
    ? { requester: caller.id, since: caller.since, exceptKind: spotCheck }
    : { requester: agent, since: undefined }

export const isVisibleTo = (
  caller: Caller,
  { kind, requester, createdAt }: Pick<Approval, 'kind' | 'requester' | 'createdAt'>,
): boolean =>
  caller.kind !== 'agent' || (kind !== spotCheck && isOwnRecord(caller, requester, createdAt))

const maxSummaryLength = 200

export function toSingleLine(text: string): string {
  // PostgreSQL stores neither NUL nor lone surrogates; truncation can create the latter.
  const line = text
    .replaceAll(/\s{2,}|[^\S ]/g, ' ')
    .replaceAll('\0', '␀')
    .trim()
  const short = line.length > maxSummaryLength ? `${line.slice(0, maxSummaryLength - 1)}…` : line
  return short.toWellFormed()
}

type States = Readonly<Record<string, unknown>>

const hashLength = 16
const shortHash = (value: unknown) => sha256Hex(canonicalJson(value)).slice(0, hashLength)

/** Hashes the target states of a call, so neither a path nor a size is stored (A15). */
export const toFingerprint = (states: States): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(states).map(([name, state]) => [shortHash(name), shortHash(state)]),
    ),
  )

/**
 * True if the targets are unchanged since the request was opened. If a person's edit changed the
 * targets, only the common ones are compared.
 */
export function isSameState(
  stored: string | undefined,
  current: string | undefined,
  isEdited: boolean,
): boolean {
  if (stored === undefined) return true
  const before = JSON.parse(stored) as Record<string, string>
  const now = current === undefined ? {} : (JSON.parse(current) as Record<string, string>)
  return Object.entries(before).every(([name, state]) =>
    now[name] === undefined ? isEdited : now[name] === state,
  )
}

export const toEntryIds = ({ id, kind }: Pick<Approval, 'id' | 'kind'>): EntryIds => ({
  approval: id,
  ...(kind === 'proposal' && { proposal: id }),
  ...(kind === 'handoff' && { handoff: id }),
})

export function buildApprovalEntry(
  type: string,
  approval: Approval,
  actor: Actor,
  call: DecisionContext,
  data: DecisionDetails = {},
): EntryDraft {
  const { kind, requester, action, domain, target } = approval
  return {
    type,
    actor,
    domain,
    subject: target,
    ids: { ...toEntryIds(approval), ...(call.caller && call.id && { call: call.id }) },
    outcome: type.slice(type.indexOf('.') + 1),
    data: { kind, requester, action, ...data },
  }
}
