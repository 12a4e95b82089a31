import { queryOptions, useQuery } from '@tanstack/react-query'
import { get } from '../api/client.ts'
import type { Entry } from '../api/entry.ts'
import { live } from '../api/live.ts'
import { queryClient } from '../api/queries.ts'
import type { Query } from '../api/query-string.ts'
import { session } from '../api/session.ts'
import { entryNoun } from '../api/entry.ts'
import { isCheck } from './approval.ts'
import type { Counts, Item, ItemPage, Outcome, Verdict } from './approval.ts'

export type Queue = {
  /** Items that are pending, and items that were decided while this page was open. */
  readonly items: ReadonlyMap<string, Item>
  /** The pending items as the daemon counts them. */
  readonly counts: Counts
  /** The cursor of the next page; null once every page was read. */
  readonly next: string | null
}

const empty: Queue = { items: new Map(), counts: { all: 0 }, next: null }
const pageSize = 1000
/** The most ids that one request can carry. */
const maxIds = 200
/** A burst of entries leads to one request. */
const gatherMs = 80
/** A response that cannot be parsed, such as from another version, would fail again immediately. */
const retryMs = 2000
/** Without a stream the first page is read after this time. */
const streamTimeoutMs = 1000
/** A check is opened without an entry, so that no agent learns of it: the queue polls for checks (T14). */
const checkIntervalMs = 15_000
const maxDecided = 500
const nouns = new Set(['proposal', 'approval', 'permission', 'handoff', 'grant'])

const queueKey = ['queue', 'items']
/** Set when the queue was read before the stream started, so changes may be missing. */
let isReadEarly = false

/**
 * The items by id. The first page serves the rail and the notifications on every screen. From then on only the
 * items that the ledger names as changed are read again.
 */
export const queueQuery = queryOptions({
  queryKey: queueKey,
  queryFn: async ({ signal }) => {
    isReadEarly = !(await hasStreamBegun())
    const known = listPending().map(({ id }) => id)
    const page = await readPage(null, signal)
    refreshItems(known)
    return addPage(page)
  },
  structuralSharing: false,
  gcTime: Infinity,
})

/** Adds the page at this cursor to the queue; the Inbox reads one after the other while it is open. */
export const nextPageQuery = (after: string | null) =>
  queryOptions({
    queryKey: ['queue', 'page', after],
    queryFn: async ({ signal }) => {
      queryClient.setQueryData(queueKey, addPage(await readPage(after, signal)))
      return null
    },
    enabled: after !== null,
    gcTime: 0,
  })

export function useQueue() {
  const { data, status, error, refetch } = useQuery(queueQuery)
  const queue = data ?? empty
  return {
    ...queue,
    isComplete: queue.next === null,
    // Keeps the data although a refetch failed.
    status: data ? ('success' as const) : status,
    error,
    refetch,
  }
}

const currentQueue = (): Queue => queryClient.getQueryData<Queue>(queueKey) ?? empty
export const findItem = (id: string): Item | undefined => currentQueue().items.get(id)
export const isPending = ({ status }: Pick<Item, 'status'>): boolean => status === 'pending'
const listPending = () => [...currentQueue().items.values()].filter(isPending)

function patchItems(change: (items: Map<string, Item>) => void, counts?: Counts) {
  queryClient.setQueryData<Queue>(queueKey, (queue) => {
    if (!queue) return undefined
    const items = new Map(queue.items)
    change(items)
    return { ...queue, items, counts: counts ?? queue.counts }
  })
}

const hasStreamBegun = () =>
  new Promise<boolean>((resolve) => {
    const check = () => {
      if (live.state.get() === 'live') end(true)
    }
    const end = (hasBegun: boolean) => {
      stop()
      clearTimeout(timer)
      resolve(hasBegun)
    }
    const stop = live.state.subscribe(check)
    const timer = setTimeout(() => end(false), streamTimeoutMs)
    check()
  })

const readPage = (after: string | null, signal: AbortSignal) =>
  get('/api/approvals', { status: 'pending', limit: pageSize, after: after ?? undefined }, signal)

/** A page never replaces a known item, which was read later. */
function addPage({ items: page, counts, next }: ItemPage): Queue {
  const items = new Map(currentQueue().items)
  for (const item of page) if (!items.has(item.id)) items.set(item.id, item)
  return { items, counts, next }
}

async function readInto(query: Query): Promise<ItemPage> {
  const token = session.token()
  await queryClient.ensureQueryData(queueQuery)
  const answer = await get('/api/approvals', query)
  if (session.token() !== token) throw new Error('The session changed during the request.')
  const { items } = currentQueue()
  const arrived = answer.items.filter((item) => isPending(item) && !items.has(item.id))
  patchItems((all) => {
    for (const item of answer.items) {
      // Deleted first, so that the item decided last is at the end and is removed last.
      all.delete(item.id)
      all.set(item.id, item)
    }
    forgetDecided(all)
  }, answer.counts)
  if (arrived.length > 0) for (const listener of arrivalListeners) listener(arrived)
  return answer
}

function forgetDecided(items: Map<string, Item>) {
  const decided = [...items.values()].filter((item) => !isPending(item))
  for (const { id } of decided.slice(0, Math.max(0, decided.length - maxDecided))) items.delete(id)
}

export const readItems = async (ids: readonly string[]): Promise<readonly Item[]> =>
  (await readInto({ ids: ids.slice(0, maxIds).join(',') })).items

const changed = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Refreshes these items after a delay, in one request with others. */
export function refreshItems(ids: readonly string[], delayMs = gatherMs): void {
  for (const id of ids) changed.add(id)
  if (changed.size > 0) timer ??= setTimeout(() => void readChanged(), delayMs)
}

async function readChanged() {
  const token = session.token()
  const ids = [...changed].slice(0, maxIds)
  for (const id of ids) changed.delete(id)
  let delayMs = gatherMs
  try {
    await readItems(ids)
  } catch {
    if (session.token() === token) for (const id of ids) changed.add(id)
    delayMs = retryMs
  }
  timer = undefined
  // While the daemon is unreachable, the stream reports when it is back.
  if (live.state.get() === 'live') refreshItems([], delayMs)
}

/** Reads the checks that are pending: no entry announces them. */
export async function readChecks(): Promise<void> {
  const isReading = queryClient.isFetching({ queryKey: ['queue'] }) > 0
  if (document.visibilityState !== 'visible' || !session.token() || isReading) return
  try {
    const query = { status: 'pending', kind: 'spot_check', limit: pageSize }
    const { items, next } = await readInto(query)
    const foundIds = new Set(items.map(({ id }) => id))
    const missing = listPending().filter((item) => isCheck(item) && !foundIds.has(item.id))
    if (next === null) refreshItems(missing.map(({ id }) => id))
  } catch {
    // The next poll tries again.
  }
}

/** Shows the outcomes of a decision immediately, before the items are refreshed. */
export function applyOutcomes(outcomes: readonly Outcome[], by: string, verdict: Verdict): void {
  patchItems((items) => {
    for (const outcome of outcomes) {
      const item = items.get(outcome.id)
      if (item) items.set(item.id, applyOutcome(item, outcome, by, verdict))
    }
  })
  refreshItems(outcomes.map(({ id }) => id))
}

function applyOutcome(item: Item, { status, until }: Outcome, by: string, decision: Verdict): Item {
  if (status === 'held' && until !== undefined) return { ...item, held: { decision, by, until } }
  if (status === 'voted')
    return { ...item, approvers: { ...item.approvers, given: [...item.approvers.given, by] } }
  if (status !== 'approved' && status !== 'rejected') return item
  const decidedAt = new Date().toISOString()
  return { ...item, status, decided_by: by, decided_at: decidedAt, channel: 'console' }
}

/** Shows items whose decision was undone as pending again. */
export function applyUndo(ids: readonly string[]): void {
  patchItems((items) => {
    for (const id of ids) {
      const { held: _, ...item } = items.get(id) ?? {}
      if ('id' in item) items.set(id, item)
    }
  })
}

const arrivalListeners = new Set<(items: readonly Item[]) => void>()

/** Calls the listener with items that became pending while this page was open. */
export function onArrival(listener: (items: readonly Item[]) => void): () => void {
  arrivalListeners.add(listener)
  return () => void arrivalListeners.delete(listener)
}

export function onQueueChange(listener: () => void): () => void {
  return queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type === 'updated' && query.queryKey === queueKey) listener()
  })
}

const movesTrust = ({ type }: Entry): boolean =>
  /^(override\.recorded|trust\.|approval\.(approved|rejected)$)/.test(type)

/** Refreshes the items that entries name, all items after a policy change, and those whose trust may have changed. */
export function followEntries(entries: readonly Entry[]): void {
  if (entries.some(({ type }) => type === 'look_back.opened')) void readChecks()
  const isPolicy = entries.some(({ type }) => type.startsWith('policy.'))
  const domains = new Set(entries.filter(movesTrust).map(({ domain }) => domain))
  const touched = listPending().filter(({ domain }) => isPolicy || domains.has(domain))
  const named = entries
    .filter((entry) => nouns.has(entryNoun(entry)))
    .map(({ ids }) => ids?.['approval'] ?? ids?.['handoff'] ?? ids?.['proposal'])
  refreshItems([...touched.map(({ id }) => id), ...named.filter((id) => id !== undefined)])
}

export function startQueue(): void {
  session.subscribe(() => {
    if (!session.token()) changed.clear()
  })
  live.state.subscribe(() => {
    if (live.state.get() !== 'live') return
    if (isReadEarly) void readAgain()
    refreshItems([])
  })
  setInterval(() => void readChecks(), checkIntervalMs)
  for (const back of ['focus', 'visibilitychange']) addEventListener(back, () => void readChecks())
}

async function readAgain() {
  isReadEarly = false
  await queryClient.ensureQueryData(queueQuery).catch(() => undefined)
  await queryClient.invalidateQueries({ queryKey: queueKey })
}
