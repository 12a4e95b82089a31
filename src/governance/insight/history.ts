import type { Entry, Ledger } from '#ledger'
import { splitWords } from '#base/words.ts'
import type { OverrideKind } from '../rules/trust.ts'

/** Collects from the ledger who asked, who decided and who acted, for reports and metrics. Pure. */

/** A request, or a proposal that trust decided. */
export type ApprovalRecord = {
  readonly id: string
  readonly kind: string
  readonly agent: string
  readonly domain: string
  readonly action: string
  readonly target: string
  /** Undefined if the opening entry was not read; reports draw no conclusion from that (G3). */
  readonly opened?: { readonly seq: number; readonly at: number }
  readonly auto: boolean
  readonly confidence: number | null
  /** Opened by a look-back, not drawn at random (T14). */
  readonly isLookBack?: true
  readonly ended?: ApprovalEnd
}

export type ApprovalEnd = {
  readonly as: 'approved' | 'rejected' | 'expired' | 'withdrawn'
  readonly seq: number
  readonly at: number
  readonly by?: string
  readonly reviewMs?: number
  readonly override?: OverrideKind
  readonly isUnread?: true
}

export type ExecutionRecord = {
  readonly seq: number
  readonly at: number
  readonly agent: string
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly proposal?: string
}

type Corrected = ExecutionRecord & { readonly override: OverrideKind }

/** An action that trust allowed. */
type AutonomousAction = Pick<ExecutionRecord, 'seq' | 'at' | 'agent' | 'domain'>

export type History = {
  readonly requests: ReadonlyMap<string, ApprovalRecord>
  readonly executed: readonly ExecutionRecord[]
  readonly corrected: readonly Corrected[]
  readonly autonomousActions: readonly AutonomousAction[]
}

const historyEntryTypes = [
  ...splitWords('proposal.created grant.requested approval. handoff.created handoff.resolved'),
  ...splitWords('action.logged override.recorded'),
]

const endTypes: Record<string, ApprovalEnd['as']> = {
  'approval.approved': 'approved',
  'handoff.resolved': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
}

const openings = new Set<string>(
  splitWords('proposal.created approval.requested grant.requested handoff.created'),
)

/** Takes entries in the order of the ledger. */
export function createHistory() {
  const requests = new Map<string, ApprovalRecord>()
  const executed: ExecutionRecord[] = []
  const corrected: Corrected[] = []
  const autonomousActions: AutonomousAction[] = []
  const attention = createAttention()
  /** Deferred decisions: each counts from the time at which it was deferred. */
  const deferred = new Map<string, number | undefined>()

  function read(entry: Entry): void {
    const { type, seq, at, actor, data = {}, ids = {} } = entry
    const as = endTypes[type]
    if (openings.has(type)) open(entry)
    else if (as) end(entry, as)
    else if (type === 'approval.held') deferred.set(ids.approval ?? '', measureReview(entry))
    else if (type === 'approval.undone') deferred.delete(ids.approval ?? '')
    else if (type === 'approval.voted') measureReview(entry)
    else if (type === 'action.logged') {
      const isTheirs = actor.kind === 'agent' && data['actor'] !== 'human'
      if (isTheirs && data['phase'] === 'execute') executed.push(toExecution(entry, actor.id))
    } else if (type === 'override.recorded') {
      const override = toOverride(entry)
      if (override) corrected.push({ ...toExecution(entry, text(data['requester'])), override })
    } else if (type === 'call.started' || type === 'call.done') {
      const decision = data['decision']
      const isByTrust = typeof decision === 'object' && field(decision, 'by') === 'trust'
      if (actor.kind === 'agent' && isByTrust)
        autonomousActions.push({ seq, at, agent: actor.id, domain: entry.domain ?? '' })
    }
  }

  function open({ seq, at, actor, domain = '', subject = '', ids, data = {} }: Entry) {
    const id = ids?.approval ?? ''
    const confidence = data['confidence']
    requests.set(id, {
      id,
      kind: text(data['kind']),
      agent: actor.id,
      domain,
      action: text(data['action']),
      target: subject,
      opened: { seq, at },
      auto: data['auto'] === true,
      confidence: typeof confidence === 'number' ? confidence : null,
    })
  }

  function end(entry: Entry, as: ApprovalEnd['as']) {
    const { seq, at, actor, domain = '', subject = '', ids, data = {} } = entry
    const id = ids?.approval ?? ''
    const openedAt = readOpenedAt(entry)
    const known: ApprovalRecord = requests.get(id) ?? {
      id,
      kind: text(data['kind']),
      agent: text(data['requester']),
      domain,
      action: text(data['action']),
      target: subject,
      ...(openedAt !== undefined && { opened: { seq, at: openedAt } }),
      auto: false,
      confidence: null,
      ...(data['from_look_back'] === true && { isLookBack: true }),
    }
    // A permission decided, so no person looked at the request (Y8).
    const isPerson = actor.kind === 'human' && data['cleared_by'] === undefined
    const reviewMs = deferred.has(id)
      ? deferred.get(id)
      : isPerson
        ? measureReview(entry)
        : undefined
    deferred.delete(id)
    const override = toOverride(entry)
    requests.set(id, {
      ...known,
      ended: {
        as,
        seq,
        at,
        ...(isPerson && { by: actor.id }),
        ...(reviewMs !== undefined && { reviewMs }),
        ...(override && { override }),
        ...(data['counted'] === false && { isUnread: true }),
      },
    })
  }

  const measureReview = (entry: Entry) => {
    const { at, actor, ids } = entry
    const openedAt = requests.get(ids?.approval ?? '')?.opened?.at ?? readOpenedAt(entry)
    return attention(actor.id, at, ids?.call, openedAt)
  }

  return { read, history: { requests, executed, corrected, autonomousActions } satisfies History }
}

/**
 * Measures how long a person can have looked at a request: since it was opened, or since their previous decision. All
 * decisions of one call share that time.
 */
function createAttention() {
  const last = new Map<
    string,
    { at: number; call: string | undefined; before: number | undefined }
  >()
  return (person: string, at: number, call: string | undefined, openedAt: number | undefined) => {
    const act = last.get(person)
    const isSame = act !== undefined && call !== undefined && act.call === call
    const before = isSame ? act.before : act?.at
    if (!isSame) last.set(person, { at, call, before })
    const since = Math.max(openedAt ?? -Infinity, before ?? -Infinity)
    return since === -Infinity ? undefined : Math.max(0, at - since)
  }
}

/** A check has no entry of its own when it is opened; the entry of its answer contains the time (T14). */
function readOpenedAt({ data }: Entry): number | undefined {
  const at = data?.['opened_at']
  return typeof at === 'number' ? at : undefined
}

const toExecution = (
  { seq, at, domain = '', subject = '', ids, data }: Entry,
  agent: string,
): ExecutionRecord => ({
  seq,
  at,
  agent,
  domain,
  action: text(data?.['action']),
  target: subject,
  ...(ids?.proposal !== undefined && { proposal: ids.proposal }),
})

function toOverride({ data }: Entry): OverrideKind | undefined {
  const override = data?.['override']
  if (typeof override !== 'object' || override === null) return undefined
  // cowork wrote these values.
  return {
    type: field(override, 'type') as OverrideKind['type'],
    severity: field(override, 'severity') as OverrideKind['severity'],
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const field = (from: object | null, name: string): unknown =>
  from === null ? undefined : (Reflect.get(from, name) as unknown)

type Source = Pick<Ledger, 'find'>
type Filter = Omit<Parameters<Ledger['find']>[0], 'limit' | 'after' | 'newestFirst'>

export type Period = { readonly start: number; readonly end: number }

/**
 * Reads a period and what it refers to: requests that may have been pending when it began, all handoffs, because they
 * never expire, and the proposals that later actions name.
 */
export async function readHistory(
  ledger: Source,
  { start, end }: Period,
  { maxWaitMs, calls = false }: { maxWaitMs: number; calls?: boolean },
): Promise<History> {
  const { read, history } = createHistory()
  const load = async (filter: Filter) => {
    for await (const entries of pageEntries(ledger, filter)) entries.forEach(read)
  }
  const since = start - maxWaitMs
  await load({
    types: ['handoff.created', 'handoff.resolved', 'approval.withdrawn'],
    until: since,
  })
  await load({ types: historyEntryTypes, since, until: end })
  // The entry of a call says that trust allowed it; a search through all entries takes time.
  if (calls)
    await load({
      types: ['call.started', 'call.done'],
      text: '"by":"trust"',
      since: start,
      until: end,
    })
  const named = [...history.executed, ...history.corrected].flatMap(
    ({ proposal }) => proposal ?? [],
  )
  for (const proposal of new Set(named))
    if (!history.requests.has(proposal))
      await load({ types: historyEntryTypes, proposal, until: since })
  return history
}

const pageSize = 1000

async function* pageEntries(ledger: Source, filter: Filter): AsyncGenerator<Entry[], void> {
  for (let after = 0; ;) {
    const entries = await ledger.find({ ...filter, after, limit: pageSize })
    const last = entries.at(-1)
    if (!last) return
    yield entries
    if (entries.length < pageSize) return
    after = last.seq
  }
}
