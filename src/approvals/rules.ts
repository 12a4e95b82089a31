import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { Approval, Decision, DeferredDecision, NewApproval } from './model.ts'
import type { Actor, EntryDraft, EntryIds } from '#base/entry.ts'
import type { DecisionContext, DecisionDetails } from './kinds.ts'

/** What an approval is bound to (A1). Whatever differs in it, was not approved. */
export type ApprovedAction = {
  readonly agent: string
  readonly action: string
  readonly target: string
  /** The arguments, the change, or the hash of a plan */
  readonly content: unknown
  /** Of the tool's input schema: a tool that changed is another tool */
  readonly schema?: string
}

export function computeDigest({ agent, action, target, content, schema }: ApprovedAction): string {
  try {
    return sha256Hex(canonicalJson({ agent, action, target, content, schema: schema ?? null }))
  } catch (cause) {
    throw new CoworkError('invalid_input', `This has no digest: ${errorMessage(cause)}.`, {
      hint: 'Send plain JSON without halves of characters (lone surrogates).',
      cause,
    })
  }
}

/** Equal ones differ in target and values, not in who asks for what. */
export function groupKey(requester: string, opening: NewApproval): string {
  const { kind, domain, action, content } = opening
  const { change } = content
  const names = typeof change === 'object' && change !== null ? Object.keys(change) : []
  const alike = [kind, requester, domain, action, names.toSorted()]
  return sha256Hex(canonicalJson(alike)).slice(0, 16)
}

/** What is held was decided in time, whatever the time is when it is released. */
export const isExpired = ({ status, expiresAt, deferred }: Approval, now: number): boolean =>
  status === 'pending' && !deferred && expiresAt !== null && expiresAt <= now

/** Whether this decision may be made now; throws why not (T3, A3, A4, A11). */
export function checkDecision(
  approval: Approval | undefined,
  votes: readonly string[],
  { by, verdict, at, change }: Decision,
  now: number,
): asserts approval is Approval {
  if (!approval) throw alreadyDecidedError(undefined)
  if (isExpired(approval, now)) throw expiredError(approval)
  if (approval.status !== 'pending') throw alreadyDecidedError(approval)
  // The first decision wins, also while it is held; only its own release makes it.
  if (approval.deferred && at === undefined) throw decisionDeferredError(approval.deferred)
  // People ask for nothing here: whoever has the name of the agent that asks is somebody else.
  if (by.kind !== 'human')
    throw new CoworkError(
      'human_required',
      `HumanRequiredError: ${by.id} may not decide what ${approval.requester} asked for.`,
      { hint: 'A person decides it, in the console or with `cowork inbox`.' },
    )
  // Whoever changes it asks the others about something else.
  if (verdict === 'approve' && change !== undefined && approval.requiredApprovals > 1)
    throw new CoworkError('quorum_edit', 'What several people must approve cannot be edited.', {
      hint: 'Reject it with what should be different.',
    })
  if (verdict === 'approve' && votes.includes(by.id))
    throw new CoworkError(
      'quorum_same_person',
      `${by.id} has approved this already; ${approval.requiredApprovals} different people must.`,
      { hint: 'Another person approves it in the console.' },
    )
}

export function alreadyDecidedError(approval: Approval | undefined): CoworkError {
  const { status, decidedBy, decidedAt } = approval ?? {}
  return new CoworkError(
    'already_decided',
    `not found or already decided${approval ? `: ${status}${decidedBy ? ` by ${decidedBy}` : ''}` : ''}`,
    {
      hint: '`cowork inbox` lists what still waits.',
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
  new CoworkError('not_found', `There is no approval ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'Give the id that cowork answered, and ask for your own requests only.',
  })

export const decisionDeferredError = ({ decision, until }: DeferredDecision): CoworkError =>
  new CoworkError(
    'already_decided',
    `${decision.by.id} decided this a moment ago; it is released at ${new Date(until).toISOString()}.`,
    {
      hint: '`cowork undo <id>` takes it back until then.',
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
    `This ${approval.kind} expired at ${new Date(approval.expiresAt ?? 0).toISOString()}; that is a refusal.`,
    { hint: 'The agent may ask again.' },
  )

/** Where the decision was made. A header proves nothing: whoever holds the token writes any name into it. */
export const detectChannel = ({ verified, channel = 'api' }: Caller): string =>
  verified ? channel : 'mcp'

/** A check of what an agent did alone: no agent sees one, or it would know what is looked at (T14). */
export const spotCheck = 'spot_check'

/** Which ones this caller may look at: an agent what it asked for, people those of any agent (L10). */
export const requesterFilter = (caller: Caller, agent?: string) =>
  caller.kind === 'agent'
    ? { requester: caller.id, since: caller.since, exceptKind: spotCheck }
    : { requester: agent, since: undefined }

export const isVisibleTo = (
  caller: Caller,
  { kind, requester, createdAt }: Pick<Approval, 'kind' | 'requester' | 'createdAt'>,
): boolean =>
  caller.kind !== 'agent' || (kind !== spotCheck && isOwnRecord(caller, requester, createdAt))

/** Longest text of a summary: one line of a list. */
const maxSummaryLength = 200

export function toSingleLine(text: string): string {
  // PostgreSQL has no room for NUL nor for half a character, which a cut can leave too.
  const line = text
    .replaceAll(/\s{2,}|[^\S ]/g, ' ')
    .replaceAll('\0', '␀')
    .trim()
  const short = line.length > maxSummaryLength ? `${line.slice(0, maxSummaryLength - 1)}…` : line
  return short.toWellFormed()
}

type States = Readonly<Record<string, unknown>>

/** Enough to tell two states apart; nobody reads it. */
const hashLength = 16
const shortHash = (value: unknown) => sha256Hex(canonicalJson(value)).slice(0, hashLength)

/** Hashes the states of the targets of a call by their names: neither a path nor a size is stored (A15). */
export const toFingerprint = (states: States): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(states).map(([name, state]) => [shortHash(name), shortHash(state)]),
    ),
  )

/**
 * Whether the targets are as they were when the request was opened. A person may have edited the call to have other
 * targets: then those count that both have.
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
