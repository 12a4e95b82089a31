import { ApiError, get, request } from './client.ts'
import type { Entry } from './entry.ts'
import { readChunks } from './stream.ts'
import { session } from './session.ts'
import { createSseParser } from './sse.ts'
import { createStore } from './store.ts'

/** The state becomes `offline` after several failed reconnects. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'offline'

type LiveMessage =
  | { readonly kind: 'entries'; readonly entries: readonly Entry[] }
  | { readonly kind: 'state'; readonly state: LiveState; readonly size: number | undefined }
  | { readonly kind: 'ask' }

const name = 'cowork.live'
/** Three times the heartbeat interval of the daemon (15 s). */
const silenceTimeoutMs = 45_000
const maxReconnectTries = 4
const maxRetryDelayMs = 5000

/**
 * Creates the live stream of the ledger. The tab that holds the lock reads the stream and broadcasts the entries. When
 * it closes, another tab gets the lock and resumes after its own last entry. Entry numbers have no gaps, so a tab
 * detects missing entries and fetches them (C10, SV23).
 */
function createLive() {
  const state = createStore<LiveState>('connecting')
  const listeners = new Set<(entries: readonly Entry[]) => void>()
  let last: number | undefined
  let queue: Promise<void> = Promise.resolve()
  let stop: AbortController | undefined
  let wake = () => {}

  const receive = (entries: readonly Entry[], signal: AbortSignal) => {
    queue = queue.then(() => applyEntries(entries, signal)).catch(() => undefined)
  }

  async function applyEntries(entries: readonly Entry[], signal: AbortSignal) {
    const lastSeq = last
    let fresh = lastSeq === undefined ? entries : entries.filter(({ seq }) => seq > lastSeq)
    const [first] = fresh
    if (!first) return
    if (lastSeq !== undefined && first.seq > lastSeq + 1) fresh = await fetchSince(lastSeq, signal)
    last = fresh.at(-1)?.seq ?? lastSeq
    for (const listener of listeners) listener(fresh)
  }

  /** Fetches the entries up to `size`, which another tab already has. */
  function catchUpTo(size: number, signal: AbortSignal) {
    queue = queue
      .then(async () => {
        if (last === undefined) last = size
        else if (last < size) await applyEntries(await fetchSince(last, signal), signal)
      })
      .catch(() => undefined)
  }

  async function runLeader(channel: BroadcastChannel, signal: AbortSignal) {
    const publishState = (next: LiveState) => {
      state.set(next)
      channel.postMessage({ kind: 'state', state: next, size: last } satisfies LiveMessage)
    }
    channel.addEventListener('message', ({ data }: MessageEvent<LiveMessage>) => {
      if (data.kind === 'ask') publishState(state.get())
    })
    for (let tries = 0; !signal.aborted; tries++) {
      try {
        await read(
          signal,
          (entries) => {
            receive(entries, signal)
            channel.postMessage({ kind: 'entries', entries } satisfies LiveMessage)
          },
          (size) => {
            tries = 0
            // The stream resumes after the last entry, unless a restored backup is shorter.
            last = Math.min(last ?? size, size)
            publishState('live')
          },
        )
      } catch (error) {
        if (signal.aborted) return
        // The next sign-in restarts the stream.
        if (error instanceof ApiError && error.code !== 'unreachable' && !session.token()) return
      }
      publishState(tries < maxReconnectTries ? 'reconnecting' : 'offline')
      await sleep(Math.min(250 * 2 ** tries, maxRetryDelayMs), signal, (now) => (wake = now))
    }
  }

  async function read(
    signal: AbortSignal,
    onEntries: (entries: Entry[]) => void,
    onHello: (size: number) => void,
  ) {
    const timeout = new AbortController()
    let watchdog = setTimeout(() => timeout.abort(), silenceTimeoutMs)
    const response = await request('/api/events', {
      signal: AbortSignal.any([signal, timeout.signal]),
      headers: {
        accept: 'text/event-stream',
        ...(last !== undefined && { 'last-event-id': String(last) }),
      },
    })
    const parse = createSseParser()
    if (!response.body) return
    const text = response.body.pipeThrough(new TextDecoderStream())
    try {
      for await (const chunk of readChunks(text)) {
        clearTimeout(watchdog)
        watchdog = setTimeout(() => timeout.abort(), silenceTimeoutMs)
        const events = parse(chunk)
        const hello = events.find(({ event }) => event === 'hello')
        if (hello) onHello((JSON.parse(hello.data) as { size: number }).size)
        const entries = events
          .filter(({ event }) => event === 'entry')
          .map(({ data }) => JSON.parse(data) as Entry)
        if (entries.length > 0) onEntries(entries)
      }
    } finally {
      clearTimeout(watchdog)
    }
  }

  function start() {
    const controller = new AbortController()
    const { signal } = controller
    stop = controller
    const channel = new BroadcastChannel(name)
    channel.addEventListener('message', ({ data }: MessageEvent<LiveMessage>) => {
      if (data.kind === 'entries') receive(data.entries, signal)
      else if (data.kind === 'state') {
        state.set(data.state)
        if (data.size !== undefined) catchUpTo(data.size, signal)
      }
    })
    signal.addEventListener('abort', () => channel.close())
    channel.postMessage({ kind: 'ask' } satisfies LiveMessage)
    // Web Locks need a secure context; without one, each tab opens its own stream.
    const leadership = isSecureContext
      ? navigator.locks.request(name, { signal }, () => runLeader(channel, signal))
      : runLeader(channel, signal)
    leadership.catch(() => undefined)
  }

  return {
    state,
    /** The newest known entry, or undefined before the stream starts. */
    last: () => last,
    /** Calls the listener once for each new entry, in order. */
    onEntries(listener: (entries: readonly Entry[]) => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    restart() {
      stop?.abort()
      if (session.token()) start()
    },
    /** Retries now instead of after the backoff delay. */
    retryNow: () => wake(),
  }
}

async function fetchSince(after: number, signal: AbortSignal): Promise<Entry[]> {
  const entries: Entry[] = []
  for (;;) {
    const from = entries.at(-1)?.seq ?? after
    const page = await get('/api/ledger', { after: from, limit: 1000 }, signal)
    entries.push(...page.entries)
    if (page.entries.length < 1000) return entries
  }
}

const sleep = (ms: number, signal: AbortSignal, onWake: (now: () => void) => void) =>
  new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
    onWake(finish)
  })

export const live = createLive()

/** Follows the session, and retries when the network or the tab becomes active. */
export function startLive(): void {
  let token = session.token()
  live.restart()
  session.subscribe(() => {
    if (session.token() === token) return
    token = session.token()
    live.restart()
  })
  addEventListener('online', live.retryNow)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') live.retryNow()
  })
}
