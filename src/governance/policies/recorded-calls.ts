import type { Approval, Approvals, Mode } from '#approvals'
import { isRecord } from '#base/json.ts'
import type { Entry, Ledger } from '#ledger'
import type { Assessment } from './policy-assessment.ts'
import type { RecordedCall } from './replay.ts'
import { parseChange } from '../tools/propose.ts'
import type { Reasoning } from '../tools/propose.ts'

type RecordedCallQuery = {
  readonly since: number
  readonly agent?: string | undefined
  readonly domain?: string | undefined
  readonly kinds: readonly RecordedCall['kind'][]
  readonly maxCount: number
  readonly onTruncated?: () => void
}

const pageSize = 200

/**
 * Reads what agents proposed and called, newest first. Approved and pending requests come from the approvals, refused
 * and undecided ones from the ledger, with their arguments (L8). Undecided reads come last, without arguments.
 * Undefined stands for a record whose arguments are erased.
 */
export async function* readRecordedCalls(
  { approvals, ledger }: { readonly approvals: Approvals; readonly ledger: Ledger },
  query: RecordedCallQuery,
): AsyncGenerator<(RecordedCall | undefined)[]> {
  for (const kind of query.kinds)
    for await (const page of pageApprovals(approvals, kind, query)) yield page.map(fromApproval)
  const reads = new Map<string, Entry>()
  for await (const page of pageEntries(ledger, query)) {
    for (const entry of page)
      if (isBareRead(entry)) reads.set(callId(entry), entry)
      // The end entry has no arguments, but the start entry has them.
      else reads.delete(callId(entry))
    const relevant = page.filter((entry) => isRefused(entry) || isUndecidedCall(entry))
    const payloads = await ledger.payloads(relevant.map(({ seq }) => seq))
    const inputs = new Map(payloads.map(({ seq, body }) => [seq, parseInput(body)]))
    yield relevant.map((entry) => fromEntry(entry, inputs.get(entry.seq)))
  }
  yield [...reads.values()].map((entry) => ({ ...fromCall(entry, {}), unseen: 'all' }))
}

async function* pageApprovals(approvals: Approvals, kind: string, query: RecordedCallQuery) {
  const { since, agent: requester, domain, maxCount, onTruncated } = query
  for (let before: string | undefined, left = maxCount; left > 0;) {
    const limit = Math.min(pageSize, left)
    const page = await approvals.list({ kind, requester, domain, before, limit })
    const recent = page.filter(({ createdAt }) => createdAt >= since)
    if (recent.length > 0) yield recent
    if (page.length < limit || recent.length === 0) return
    before = page.at(-1)?.id
    left -= page.length
    await yieldToEventLoop()
  }
  onTruncated?.()
}

async function* pageEntries(ledger: Ledger, query: RecordedCallQuery) {
  const { since, agent: actor, domain, kinds, maxCount, onTruncated } = query
  const which = kinds.includes('call')
    ? { types: ['call.refused', 'call.started', 'call.done'] }
    : { types: ['call.refused'], toolPrefix: 'cowork_propose' }
  const filter = { ...which, actorKind: 'agent', actor, domain, since, newestFirst: true } as const
  for (let before: number | undefined, left = maxCount; left > 0;) {
    const limit = Math.min(pageSize, left)
    const page = await ledger.find({ ...filter, before, limit })
    if (page.length > 0) yield page
    if (page.length < limit) return
    before = page.at(-1)?.seq
    left -= page.length
    await yieldToEventLoop()
  }
  onTruncated?.()
}

/** Lets other work run in between: a month of records takes long. */
const yieldToEventLoop = () => new Promise((done) => setImmediate(done))

/** Every input of the decision was recorded with it; see mode-decision.ts. */
function fromApproval(approval: Approval): RecordedCall | undefined {
  const { content, kind } = approval
  if (content.erased) return undefined
  const { why, extra } = content
  const reasoned = why.more?.['reasoning'] as Assessment | undefined
  return {
    kind: kind === 'call' ? 'call' : 'proposal',
    agent: approval.requester,
    domain: approval.domain,
    action: approval.action,
    change: content.change,
    field: content.field,
    at: approval.createdAt,
    outcome: approval.mode,
    trustLevel: approval.trustLevel ?? undefined,
    gateOpen: why.more?.['gate_open'] === true,
    thresholds: why.thresholds,
    floor: (why.more?.['floor'] as Mode | undefined) ?? 'act',
    ...(kind === 'call' && {
      call: {
        isRead: extra?.['effect'] === 'read',
        byTrust: extra?.['by_trust'] !== false,
        isPermitted: false,
      },
    }),
    reasoning: extra?.['reasoning_schema'] as Reasoning | undefined,
    unverified: reasoned?.unverified ?? [],
    approval: approval.id,
  }
}

type Json = Readonly<Record<string, unknown>>

const isRefused = ({ type, outcome, data }: Entry) =>
  type === 'call.refused' &&
  outcome === 'policy_blocked' &&
  (isProposing(data) || !toolName(data).startsWith('cowork_'))

const isProposing = (data: Entry['data']) => toolName(data) === 'cowork_propose'

/** A read that needed no decision leaves only this entry. */
const isBareRead = ({ type, data, ids, payload }: Entry) =>
  type === 'call.done' &&
  data?.['effect'] === 'read' &&
  payload === undefined &&
  ids?.approval === undefined &&
  !toolName(data).startsWith('cowork_')

/** Allowed by trust, by a permission, or without a decision; calls that a person allowed are approvals. */
function isUndecidedCall({ type, data, ids, payload }: Entry): boolean {
  if (type === 'call.refused' || payload === undefined) return false
  if (toolName(data).startsWith('cowork_')) return false
  return ids?.approval === undefined || getDecision(data)['by'] === 'permission'
}

function fromEntry(entry: Entry, input: Json | undefined): RecordedCall | undefined {
  if (!input) return undefined
  return isProposing(entry.data) ? fromRefusedProposal(entry, input) : fromCall(entry, input)
}

const commonFields = (entry: Entry) => ({
  agent: entry.actor.id,
  at: entry.at,
  floor: 'act' as const,
  unverified: [],
  seq: entry.seq,
  domain: entry.domain ?? '',
})

function fromRefusedProposal(entry: Entry, input: Json): RecordedCall {
  const details = toRecord(entry.data?.['details'])
  return {
    ...commonFields(entry),
    kind: 'proposal',
    action: String(input['action']),
    change: parseChange(input['proposed_change']),
    field: toText(input['field']),
    outcome: 'blocked',
    trustLevel: toNumber(details['trust_level']),
    gateOpen: details['gate_open'] === true,
    reasoning: input['reasoning_schema'] as Reasoning | undefined,
  }
}

function fromCall(entry: Entry, input: Json): RecordedCall {
  const { data } = entry
  const decision = getDecision(data)
  const isRead = data?.['effect'] === 'read'
  const isBlocked = isRefused(entry)
  const unseen = Object.keys(input).filter((name) => holdsDigest(input[name]))
  return {
    ...commonFields(entry),
    kind: 'call',
    action: toolName(data),
    change: withoutDigests(input),
    ...(unseen.length > 0 && { unseen }),
    outcome: isBlocked ? 'blocked' : 'act',
    trustLevel: toNumber(decision['trust_level']),
    gateOpen: decision['by'] === 'trust',
    call: {
      isRead,
      // A refused call never reached the trust check, so this is unknown for a write.
      byTrust: isBlocked ? !isRead : decision['by'] === 'trust',
      isPermitted: decision['by'] === 'permission',
    },
  }
}

/** The digest that a tool records instead of a long text (`toPayload`). */
const isDigest = (value: unknown): boolean => {
  const { bytes, sha256, ...more } = toRecord(value)
  const isDigestShape = typeof bytes === 'number' && typeof sha256 === 'string'
  return isDigestShape && Object.keys(more).length === 0
}

const holdsDigest = (value: unknown): boolean =>
  isDigest(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(holdsDigest))

/** Keeps the fields and removes their values. */
function withoutDigests(value: unknown): unknown {
  if (isDigest(value)) return undefined
  if (Array.isArray(value)) return value.map(withoutDigests)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutDigests(item)]),
  )
}

const callId = ({ ids }: Entry) => ids?.call ?? ''
const toolName = (data: Entry['data']) => toText(data?.['tool']) ?? ''
const getDecision = (data: Entry['data']) => toRecord(data?.['decision'])

const toRecord = (value: unknown): Json => (isRecord(value) ? value : {})

const parseInput = (body: string): Json => toRecord(JSON.parse(body))
const toNumber = (value: unknown) => (typeof value === 'number' ? value : undefined)
const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
