import { get } from '../api/client.ts'
import type { Entry } from '../api/entry.ts'
import { live } from '../api/live.ts'
import { session } from '../api/session.ts'
import { createStore } from '../api/store.ts'
import { isCheck } from './approval.ts'
import type { Counts, Item, ItemPage, Outcome, Verdict } from './approval.ts'

export type Queue = {
  readonly state: 'loading' | 'ready' | 'failed'
  readonly error?: unknown
  /** What waits, and what was decided while this page was open. */
  readonly items: ReadonlyMap<string, Item>
  /** Of what waits, as the daemon counts it. */
  readonly counts: Counts
  /** Every page was read, so the items are all there are. */
  readonly isWhole: boolean
}

const empty: Queue = { state: 'loading', items: new Map(), counts: { all: 0 }, isWhole: false }
const pageSize = 1000
/** As many ids as one question may carry. */
const batch = 200
/** A burst is asked for once. */
const gather = 80
/** Without a stream the first page is read anyway. */
const patience = 1000
/** A check is opened without an entry, so that no agent learns of it: it is asked for now and then (T14). */
const checksEvery = 15_000
/** What was decided while the page is open is kept up to here. */
const mostDecided = 500
const nouns = new Set(['proposal', 'approval', 'permission', 'handoff', 'grant'])

/**
 * Everything that waits for a person, by id: read once in pages, and from then on only what the
 * ledger names as changed is asked for again. The first page serves the rail and the notices
 * everywhere; the rest is read when the Inbox is open.
 */
function createQueue() {
  const store = createStore<Queue>(empty)
  const arrivals = new Set<(items: readonly Item[]) => void>()
  /** Ids to ask about, and those that an answer about ids made newer than a page under way. */
  const changed = new Set<string>()
  const newer = new Set<string>()
  let reading = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let next: string | null = null
  let isPaging = false
  let isWanted = false
  let hasBegun = false

  const change = (part: Partial<Queue>) => store.set({ ...store.get(), ...part })

  async function load() {
    reading.abort()
    const { signal } = (reading = new AbortController())
    const before = [...store.get().items.values()].filter(isPending)
    const found = new Set<string>()
    newer.clear()
    isPaging = true
    try {
      take(await page(null, signal), found)
      change({ state: 'ready', error: undefined })
      await readOn(signal, found)
      // What waited and stands in no page any more was decided meanwhile.
      if (next === null) refresh(before.map(({ id }) => id).filter((id) => !found.has(id)))
    } catch (error) {
      if (!signal.aborted && store.get().state !== 'ready') change({ state: 'failed', error })
    } finally {
      if (!signal.aborted) isPaging = false
    }
  }

  async function readOn(signal: AbortSignal, found = new Set<string>()) {
    while (isWanted && next !== null) take(await page(next, signal), found)
  }

  const page = (after: string | null, signal: AbortSignal) =>
    get<ItemPage>(
      '/api/approvals',
      { status: 'pending', limit: pageSize, ...(after !== null && { after }) },
      signal,
    )

  function take(answer: ItemPage, found: Set<string>) {
    const items = new Map(store.get().items)
    for (const item of answer.items) {
      found.add(item.id)
      if (!newer.has(item.id)) items.set(item.id, item)
    }
    next = answer.next
    change({ items, counts: answer.counts, isWhole: next === null })
  }

  /** Asks about these now, and gives what there is of them. */
  async function read(ids: readonly string[]): Promise<readonly Item[]> {
    const answer = await get<ItemPage>('/api/approvals', { ids: ids.slice(0, batch).join(',') })
    update(answer)
    return answer.items
  }

  function refresh(ids: readonly string[]) {
    for (const id of ids) changed.add(id)
    if (changed.size > 0) timer ??= setTimeout(() => void ask(), gather)
  }

  async function ask() {
    const { signal } = reading
    const ids = [...changed].slice(0, batch)
    for (const id of ids) changed.delete(id)
    try {
      update(await get<ItemPage>('/api/approvals', { ids: ids.join(',') }, signal))
    } catch {
      for (const id of ids) changed.add(id)
    }
    timer = undefined
    // Where the daemon is gone the stream says when it is back.
    if (live.state.get() === 'live') refresh([])
  }

  function update({ items: fresh, counts }: ItemPage) {
    const items = new Map(store.get().items)
    const arrived = fresh.filter((item) => isPending(item) && !items.has(item.id))
    for (const item of fresh) {
      // Set anew: what was decided last stands last, and is forgotten last.
      items.delete(item.id)
      items.set(item.id, item)
      newer.add(item.id)
    }
    forget(items)
    change({ items, counts })
    if (arrived.length > 0) for (const tell of arrivals) tell(arrived)
  }

  /** Asks for the checks that wait: nothing announces them. */
  async function readChecks() {
    if (document.visibilityState !== 'visible' || !session.token() || isPaging) return
    const { signal } = reading
    try {
      const query = { status: 'pending', kind: 'spot_check', limit: pageSize }
      const answer = await get<ItemPage>('/api/approvals', query, signal)
      const found = new Set(answer.items.map(({ id }) => id))
      const known = [...store.get().items.values()].filter(
        (item) => isCheck(item) && isPending(item),
      )
      update(answer)
      if (answer.next === null) refresh(known.map(({ id }) => id).filter((id) => !found.has(id)))
    } catch {
      // The stream says when the daemon is back; until then it is asked again.
    }
  }

  /** Everything that waits is read again when the policy changes, and the items of a pair when its trust may have. */
  function touched(entries: readonly Entry[]): string[] {
    const isPolicy = entries.some(({ type }) => type.startsWith('policy.'))
    const domains = new Set(entries.filter(movesTrust).map(({ domain }) => domain))
    return [...store.get().items.values()]
      .filter((item) => isPending(item) && (isPolicy || domains.has(item.domain)))
      .map(({ id }) => id)
  }

  function onEntries(entries: readonly Entry[]) {
    if (entries.some(({ type }) => type === 'look_back.opened')) void readChecks()
    refresh(touched(entries))
    const ids = entries
      .filter(({ type }) => nouns.has(type.slice(0, type.indexOf('.'))))
      .map(({ ids: its }) => its?.['approval'] ?? its?.['handoff'] ?? its?.['proposal'])
    refresh(ids.filter((id) => id !== undefined))
  }

  /** Another person, or none: nothing of the last one stays. */
  function restart() {
    reading.abort()
    clearTimeout(timer)
    timer = undefined
    changed.clear()
    next = null
    hasBegun = false
    store.set(empty)
    if (!session.token()) return
    if (live.state.get() === 'live') begin()
    else setTimeout(() => !hasBegun && session.token() && void load(), patience)
  }

  /** Read after the stream has begun, so that nothing falls between the two. */
  function begin() {
    if (hasBegun || !session.token()) return
    hasBegun = true
    void load()
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    /** All of it, because somebody looks at it. */
    want() {
      isWanted = true
      if (next !== null && !isPaging) {
        isPaging = true
        void readOn(reading.signal)
          .catch(() => undefined)
          .finally(() => (isPaging = false))
      }
      return () => {
        isWanted = false
      }
    },
    retry() {
      change({ state: 'loading' })
      void load()
    },
    refresh,
    read,
    readChecks: () => void readChecks(),
    /** What deciding answered is shown at once; the record itself follows. */
    settle(outcomes: readonly Outcome[], by: string, verdict: Verdict) {
      const items = new Map(store.get().items)
      for (const outcome of outcomes) {
        const item = items.get(outcome.id)
        if (item) items.set(item.id, settled(item, outcome, by, verdict))
      }
      change({ items })
      refresh(outcomes.map(({ id }) => id))
    },
    /** Undone: it waits as before. */
    unhold(ids: readonly string[]) {
      const items = new Map(store.get().items)
      for (const id of ids) {
        const { held: _, ...item } = items.get(id) ?? {}
        if ('id' in item) items.set(id, item)
      }
      change({ items })
    },
    /** Told of items that began to wait while this page was open. */
    onArrival(listener: (items: readonly Item[]) => void) {
      arrivals.add(listener)
      return () => {
        arrivals.delete(listener)
      }
    },
    start() {
      let token = session.token()
      live.onEntries(onEntries)
      live.state.subscribe(() => {
        if (live.state.get() !== 'live') return
        begin()
        refresh([])
      })
      session.subscribe(() => {
        if (session.token() === token) return
        token = session.token()
        restart()
      })
      setInterval(() => void readChecks(), checksEvery)
      for (const back of ['focus', 'visibilitychange'])
        addEventListener(back, () => void readChecks())
      restart()
    },
  }
}

const movesTrust = ({ type }: Entry): boolean =>
  /^(override\.recorded|trust\.|approval\.(approved|rejected)$)/.test(type)

export const isPending = ({ status }: Pick<Item, 'status'>): boolean => status === 'pending'

function forget(items: Map<string, Item>) {
  const decided = [...items.values()].filter((item) => !isPending(item))
  for (const { id } of decided.slice(0, Math.max(0, decided.length - mostDecided))) items.delete(id)
}

function settled(item: Item, { status, until }: Outcome, by: string, decision: Verdict): Item {
  if (status === 'held' && until !== undefined) return { ...item, held: { decision, by, until } }
  if (status === 'voted')
    return { ...item, approvers: { ...item.approvers, given: [...item.approvers.given, by] } }
  if (status !== 'approved' && status !== 'rejected') return item
  const decidedAt = new Date().toISOString()
  return { ...item, status, decided_by: by, decided_at: decidedAt, channel: 'console' }
}

export const queue = createQueue()
