import type { Approval, Approvals, Mode } from '#approvals'
import { isRecord } from '#base/json.ts'
import type { Entry, Ledger } from '#ledger'
import type { Assessment } from './policy-assessment.ts'
import type { RecordedCall } from './replay.ts'
import { parseChange } from '../tools/propose.ts'
import type { Reasoning } from '../tools/propose.ts'

type Wanted = {
  readonly since: number
  readonly agent?: string | undefined
  readonly domain?: string | undefined
  /** Proposals alone, or calls too. */
  readonly kinds: readonly RecordedCall['kind'][]
  readonly most: number
  readonly onCut?: () => void
}

const pageSize = 200

/**
 * What agents proposed and called, the newest first: what was let through or waited is in the approvals, what a
 * rule refused and what nobody had to decide in the ledger, with its arguments (L8). Reads that nobody had to
 * decide come last, without any. Undefined is one whose arguments are gone.
 */
export async function* readRecordedCalls(
  { approvals, ledger }: { readonly approvals: Approvals; readonly ledger: Ledger },
  wanted: Wanted,
): AsyncGenerator<(RecordedCall | undefined)[]> {
  for (const kind of wanted.kinds)
    for await (const page of approvalsOf(approvals, kind, wanted)) yield page.map(ofApproval)
  const reads = new Map<string, Entry>()
  for await (const page of entriesOf(ledger, wanted)) {
    for (const entry of page)
      if (isBareRead(entry)) reads.set(callOf(entry), entry)
      // Its end has no arguments, but its start had.
      else reads.delete(callOf(entry))
    const kept = page.filter((entry) => isRefused(entry) || isUndecidedCall(entry))
    const payloads = await ledger.payloads(kept.map(({ seq }) => seq))
    const inputs = new Map(payloads.map(({ seq, body }) => [seq, inputOf(body)]))
    yield kept.map((entry) => ofEntry(entry, inputs.get(entry.seq)))
  }
  yield [...reads.values()].map((entry) => ({ ...ofCall(entry, {}), unseen: 'all' }))
}

async function* approvalsOf(approvals: Approvals, kind: string, wanted: Wanted) {
  const { since, agent: requester, domain, most, onCut } = wanted
  for (let before: string | undefined, left = most; left > 0;) {
    const limit = Math.min(pageSize, left)
    const page = await approvals.list({ kind, requester, domain, before, limit })
    const recent = page.filter(({ createdAt }) => createdAt >= since)
    if (recent.length > 0) yield recent
    if (page.length < limit || recent.length === 0) return
    before = page.at(-1)?.id
    left -= page.length
    await turn()
  }
  onCut?.()
}

async function* entriesOf(ledger: Ledger, wanted: Wanted) {
  const { since, agent: actor, domain, kinds, most, onCut } = wanted
  const which = kinds.includes('call')
    ? { types: ['call.refused', 'call.started', 'call.done'] }
    : { types: ['call.refused'], toolPrefix: 'cowork_propose' }
  const filter = { ...which, actorKind: 'agent', actor, domain, since, newestFirst: true } as const
  for (let before: number | undefined, left = most; left > 0;) {
    const limit = Math.min(pageSize, left)
    const page = await ledger.find({ ...filter, before, limit })
    if (page.length > 0) yield page
    if (page.length < limit) return
    before = page.at(-1)?.seq
    left -= page.length
    await turn()
  }
  onCut?.()
}

/** Others go first in between: a month is long. */
const turn = () => new Promise((done) => setImmediate(done))

/** All that judging it again takes was written down when it was judged; see judge.ts. */
function ofApproval(approval: Approval): RecordedCall | undefined {
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
  (isProposing(data) || !toolOf(data).startsWith('cowork_'))

const isProposing = (data: Entry['data']) => toolOf(data) === 'cowork_propose'

/** Of a read that just went through only this is on record. */
const isBareRead = ({ type, data, ids, payload }: Entry) =>
  type === 'call.done' &&
  data?.['effect'] === 'read' &&
  payload === undefined &&
  ids?.approval === undefined &&
  !toolOf(data).startsWith('cowork_')

/** Let go by trust, by a permission or because nobody has a say; what a person let go is an approval. */
function isUndecidedCall({ type, data, ids, payload }: Entry): boolean {
  if (type === 'call.refused' || payload === undefined) return false
  if (toolOf(data).startsWith('cowork_')) return false
  return ids?.approval === undefined || decisionOf(data)['by'] === 'permission'
}

function ofEntry(entry: Entry, input: Json | undefined): RecordedCall | undefined {
  if (!input) return undefined
  return isProposing(entry.data) ? ofRefusedProposal(entry, input) : ofCall(entry, input)
}

const commonOf = (entry: Entry) => ({
  agent: entry.actor.id,
  at: entry.at,
  floor: 'act' as const,
  unverified: [],
  seq: entry.seq,
  domain: entry.domain ?? '',
})

function ofRefusedProposal(entry: Entry, input: Json): RecordedCall {
  const details = recordOf(entry.data?.['details'])
  return {
    ...commonOf(entry),
    kind: 'proposal',
    action: String(input['action']),
    change: parseChange(input['proposed_change']),
    field: textOf(input['field']),
    outcome: 'blocked',
    trustLevel: numberOf(details['trust_level']),
    gateOpen: details['gate_open'] === true,
    reasoning: input['reasoning_schema'] as Reasoning | undefined,
  }
}

function ofCall(entry: Entry, input: Json): RecordedCall {
  const { data } = entry
  const decision = decisionOf(data)
  const isRead = data?.['effect'] === 'read'
  const isBlocked = isRefused(entry)
  const unseen = Object.keys(input).filter((name) => holdsDigest(input[name]))
  return {
    ...commonOf(entry),
    kind: 'call',
    action: toolOf(data),
    change: withoutDigests(input),
    ...(unseen.length > 0 && { unseen }),
    outcome: isBlocked ? 'blocked' : 'act',
    trustLevel: numberOf(decision['trust_level']),
    gateOpen: decision['by'] === 'trust',
    call: {
      isRead,
      // Nobody came to ask for trust about what a rule refused: of a write it is not known.
      byTrust: isBlocked ? !isRead : decision['by'] === 'trust',
      isPermitted: decision['by'] === 'permission',
    },
  }
}

/** What a tool leaves of a long text for the ledger (`recorded`). */
const isDigest = (value: unknown): boolean => {
  const { bytes, sha256, ...more } = recordOf(value)
  const isOne = typeof bytes === 'number' && typeof sha256 === 'string'
  return isOne && Object.keys(more).length === 0
}

const holdsDigest = (value: unknown): boolean =>
  isDigest(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(holdsDigest))

/** The fields are there still, and have no value. */
function withoutDigests(value: unknown): unknown {
  if (isDigest(value)) return undefined
  if (Array.isArray(value)) return value.map(withoutDigests)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutDigests(item)]),
  )
}

const callOf = ({ ids }: Entry) => ids?.call ?? ''
const toolOf = (data: Entry['data']) => textOf(data?.['tool']) ?? ''
const decisionOf = (data: Entry['data']) => recordOf(data?.['decision'])

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {})

const inputOf = (body: string): Json => recordOf(JSON.parse(body))
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
