import type { Entry, Ledger } from '#ledger'
import { splitWords } from '#base/words.ts'
import type { OverrideKind } from '../rules/trust.ts'

/** What the ledger says of who asked, who decided and who acted, for reports and metrics. Pure. */

/** One question, or a proposal that trust decided by itself. */
export type ApprovalRecord = {
  readonly id: string
  readonly kind: string
  readonly agent: string
  readonly domain: string
  readonly action: string
  readonly target: string
  /** Undefined where the opening entry was not read; nothing is concluded from that (G3). */
  readonly opened?: { readonly seq: number; readonly at: number }
  readonly auto: boolean
  readonly confidence: number | null
  /** A check that a mistake brought, not chance (T14). */
  readonly isLookBack?: true
  readonly ended?: ApprovalEnd
}

export type ApprovalEnd = {
  readonly as: 'approved' | 'rejected' | 'expired' | 'withdrawn'
  readonly seq: number
  readonly at: number
  readonly by?: string
  readonly lookedMs?: number
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

/** What an agent did because trust let it. */
type Acted = Pick<ExecutionRecord, 'seq' | 'at' | 'agent' | 'domain'>

export type History = {
  readonly asked: ReadonlyMap<string, ApprovalRecord>
  readonly executed: readonly ExecutionRecord[]
  readonly corrected: readonly Corrected[]
  readonly acted: readonly Acted[]
}

const historyEntryTypes = [
  ...splitWords('proposal.created grant.requested approval. handoff.created handoff.resolved'),
  ...splitWords('action.logged override.recorded'),
]

const ends: Record<string, ApprovalEnd['as']> = {
  'approval.approved': 'approved',
  'handoff.resolved': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
}

const openings = new Set<string>(
  splitWords('proposal.created approval.requested grant.requested handoff.created'),
)

/** Fed with entries in the order of the ledger. */
export function createHistory() {
  const asked = new Map<string, ApprovalRecord>()
  const executed: ExecutionRecord[] = []
  const corrected: Corrected[] = []
  const acted: Acted[] = []
  const attention = createAttention()
  /** Decisions that wait to be released: they were made when they were held. */
  const held = new Map<string, number | undefined>()

  function read(entry: Entry): void {
    const { type, seq, at, actor, data = {}, ids = {} } = entry
    const as = ends[type]
    if (openings.has(type)) open(entry)
    else if (as) end(entry, as)
    else if (type === 'approval.held') held.set(ids.approval ?? '', lookedAt(entry))
    else if (type === 'approval.undone') held.delete(ids.approval ?? '')
    else if (type === 'approval.voted') lookedAt(entry)
    else if (type === 'action.logged') {
      const isTheirs = actor.kind === 'agent' && data['actor'] !== 'human'
      if (isTheirs && data['phase'] === 'execute') executed.push(executedOf(entry, actor.id))
    } else if (type === 'override.recorded') {
      const override = overrideOf(entry)
      if (override) corrected.push({ ...executedOf(entry, text(data['requester'])), override })
    } else if (type === 'call.started' || type === 'call.done') {
      const decision = data['decision']
      const isByTrust = typeof decision === 'object' && field(decision, 'by') === 'trust'
      if (actor.kind === 'agent' && isByTrust)
        acted.push({ seq, at, agent: actor.id, domain: entry.domain ?? '' })
    }
  }

  function open({ seq, at, actor, domain = '', subject = '', ids, data = {} }: Entry) {
    const id = ids?.approval ?? ''
    const confidence = data['confidence']
    asked.set(id, {
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
    const openedAt = openedIn(entry)
    const known: ApprovalRecord = asked.get(id) ?? {
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
    // What a permission let go was looked at by nobody (Y8).
    const isPerson = actor.kind === 'human' && data['cleared_by'] === undefined
    const lookedMs = held.has(id) ? held.get(id) : isPerson ? lookedAt(entry) : undefined
    held.delete(id)
    const override = overrideOf(entry)
    asked.set(id, {
      ...known,
      ended: {
        as,
        seq,
        at,
        ...(isPerson && { by: actor.id }),
        ...(lookedMs !== undefined && { lookedMs }),
        ...(override && { override }),
        ...(data['counted'] === false && { isUnread: true }),
      },
    })
  }

  const lookedAt = (entry: Entry) => {
    const { at, actor, ids } = entry
    const openedAt = asked.get(ids?.approval ?? '')?.opened?.at ?? openedIn(entry)
    return attention(actor.id, at, ids?.call, openedAt)
  }

  return { read, history: { asked, executed, corrected, acted } satisfies History }
}

/**
 * How long a person can have looked at what they decide: since it was asked, or since they decided
 * something else. What one call decides was looked at together.
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

/** A check has no entry of its own when it is opened: the one of its answer says when that was (T14). */
function openedIn({ data }: Entry): number | undefined {
  const at = data?.['opened_at']
  return typeof at === 'number' ? at : undefined
}

const executedOf = (
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

function overrideOf({ data }: Entry): OverrideKind | undefined {
  const override = data?.['override']
  if (typeof override !== 'object' || override === null) return undefined
  // As our own tools wrote it.
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
 * What happened in a period, with what it goes back to: whatever may still have waited when it began, all
 * handoffs, since those wait for ever, and the proposals that later acts name, however old.
 */
export async function readHistory(
  ledger: Source,
  { start, end }: Period,
  { longestWaitMs, calls = false }: { longestWaitMs: number; calls?: boolean },
): Promise<History> {
  const { read, history } = createHistory()
  const take = async (filter: Filter) => {
    for await (const entries of pagesOf(ledger, filter)) entries.forEach(read)
  }
  const since = start - longestWaitMs
  await take({
    types: ['handoff.created', 'handoff.resolved', 'approval.withdrawn'],
    until: since,
  })
  await take({ types: historyEntryTypes, since, until: end })
  // What trust let an agent do is said in the entry of the call; to find those among all takes a while.
  if (calls)
    await take({
      types: ['call.started', 'call.done'],
      text: '"by":"trust"',
      since: start,
      until: end,
    })
  const named = [...history.executed, ...history.corrected].flatMap(
    ({ proposal }) => proposal ?? [],
  )
  for (const proposal of new Set(named))
    if (!history.asked.has(proposal))
      await take({ types: historyEntryTypes, proposal, until: since })
  return history
}

const pageSize = 1000

async function* pagesOf(ledger: Source, filter: Filter): AsyncGenerator<Entry[], void> {
  for (let after = 0; ;) {
    const entries = await ledger.find({ ...filter, after, limit: pageSize })
    const last = entries.at(-1)
    if (!last) return
    yield entries
    if (entries.length < pageSize) return
    after = last.seq
  }
}
