import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '#base/caller.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { matches } from '#ledger'
import type { EntryConditions, Ledger, HashedEntry } from '#ledger'
import { privateHeaders } from './guards.ts'

export type LiveDeps = {
  readonly ledger: Pick<Ledger, 'size' | 'findHashed' | 'tail'>
  readonly log: Log
  readonly heartbeatMs?: number
}

/** One caller's view of the live stream. */
export type StreamSubscription = {
  readonly caller: Caller
  readonly conditions: EntryConditions
  /** The last entry that the client has. Without it, the stream starts with the next entry. */
  readonly after: number | undefined
  /** Authenticates the credential again. */
  readonly identify: () => Promise<Caller>
  /** Listeners with the same credential are authenticated together. */
  readonly credential: string
}

type Listener = StreamSubscription & {
  /**
   * Written to directly. Measured with 1,000 listeners: a web stream around each takes 274 MB instead of 206
   * and 36% of a core instead of 29%.
   */
  readonly response: ServerResponse
  /** The conditions as JSON: listeners with equal conditions share a channel. */
  readonly channelKey: string
  lastSeq: number
}
type Channel = { readonly conditions: EntryConditions; readonly listeners: Set<Listener> }
type Frame = { readonly recorded: HashedEntry; readonly bytes: Uint8Array }
/** The entries up to `sentSeq` were sent to all listeners; `recent` holds the newest of them. */
type Feed = { sentSeq: number; recent: Frame[]; readonly stop: AbortController }

/** A burst becomes one write for each listener (SV23). */
const coalesceMs = 50
/** A listener this far behind is disconnected and resumes from the store, without slowing the others down. */
const maxBufferedBytes = 1024 * 1024
const maxRecentFrames = 1000
const pageSize = 500
const maxListeners = 2000
const maxListenersPerAgent = 64
/** An authentication that takes longer, for example because of the throttle, counts as failed. */
const identifyTimeoutMs = 1000

/** Entries that can end a credential. */
const credentialChange = /^(agent|person|session)\./

const encoder = new TextEncoder()
const toFrame = (recorded: HashedEntry): Frame => ({
  recorded,
  bytes: encoder.encode(`id: ${recorded.entry.seq}\nevent: entry\ndata: ${recorded.body}\n\n`),
})
const heartbeatBytes = encoder.encode(':\n\n')

const joinFrames = (frames: readonly Frame[], conditions: EntryConditions): Uint8Array =>
  Buffer.concat(
    frames.filter(({ recorded }) => matches(conditions, recorded)).map(({ bytes }) => bytes),
  )

export type LiveStream = ReturnType<typeof createLiveStream>

/**
 * Creates the live stream (SV23, L11): one follower of the ledger serves all listeners and encodes each entry once.
 * Listeners with the same filter form a channel and receive the same bytes.
 */
export function createLiveStream({ ledger, log, heartbeatMs = 15_000 }: LiveDeps) {
  const allListeners = new Set<Listener>()
  const channels = new Map<string, Channel>()
  let feed: Promise<Feed> | undefined
  let isClosed = false

  const heartbeatTimer = setInterval(() => {
    for (const { response } of allListeners)
      if (hasCapacity(response)) response.write(heartbeatBytes)
    void endRevokedStreams()
  }, heartbeatMs)
  heartbeatTimer.unref()

  async function startFeed(): Promise<Feed> {
    const started: Feed = { sentSeq: await ledger.size(), recent: [], stop: new AbortController() }
    run(started).catch((error: unknown) => {
      if (started.stop.signal.aborted) return
      log.error('stream failed', { error: errorMessage(error) })
      // Clients reconnect, which starts another feed.
      for (const listener of allListeners) endStream(listener)
    })
    return started
  }

  function stopFeed(): void {
    feed?.then(({ stop }) => stop.abort()).catch(() => undefined)
    feed = undefined
  }

  async function run(state: Feed): Promise<void> {
    const { signal } = state.stop
    for await (const entries of ledger.tail(state.sentSeq, signal)) {
      if (entries.some(({ entry }) => credentialChange.test(entry.type))) await endRevokedStreams()
      if (signal.aborted) return
      const frames = entries.map(toFrame)
      for (const { conditions, listeners } of channels.values()) {
        const bytes = joinFrames(frames, conditions)
        if (bytes.length > 0) for (const listener of listeners) send(listener, bytes)
      }
      state.recent = [...state.recent, ...frames].slice(-maxRecentFrames)
      state.sentSeq = entries.at(-1)?.entry.seq ?? state.sentSeq
      // Entries appended during the pause are sent together.
      if (entries.length < pageSize) await sleep(coalesceMs, undefined, { signal })
    }
  }

  /** Sends the missed entries, then adds the listener to its channel in the same tick, so that no entry is skipped. */
  async function catchUp(listener: Listener, state: Feed): Promise<void> {
    const { conditions } = listener
    while (listener.lastSeq < state.sentSeq - state.recent.length) {
      const upTo = state.sentSeq
      const query = { ...conditions, after: listener.lastSeq, before: upTo + 1, limit: pageSize }
      const page = await ledger.findHashed(query)
      send(listener, joinFrames(page.map(toFrame), conditions))
      listener.lastSeq = page.length < pageSize ? upTo : (page.at(-1)?.entry.seq ?? upTo)
      // Backpressure: a long history must not disconnect its reader.
      if (allListeners.has(listener) && !hasCapacity(listener.response))
        await waitForDrain(listener.response)
      if (!allListeners.has(listener)) return
    }
    const missed = state.recent.filter(({ recorded }) => recorded.entry.seq > listener.lastSeq)
    send(listener, joinFrames(missed, conditions))
    if (!allListeners.has(listener)) return
    const channel = channels.get(listener.channelKey) ?? { conditions, listeners: new Set() }
    channels.set(listener.channelKey, channel)
    channel.listeners.add(listener)
  }

  function send(listener: Listener, bytes: Uint8Array): void {
    if (bytes.length === 0 || !allListeners.has(listener)) return
    if (hasCapacity(listener.response)) listener.response.write(bytes)
    else {
      removeListener(listener)
      // end() would wait until the client reads everything.
      listener.response.destroy()
    }
  }

  function removeListener(listener: Listener): void {
    if (!allListeners.delete(listener)) return
    const channel = channels.get(listener.channelKey)
    channel?.listeners.delete(listener)
    if (channel?.listeners.size === 0) channels.delete(listener.channelKey)
    if (allListeners.size === 0) stopFeed()
  }

  function endStream(listener: Listener): void {
    if (!allListeners.has(listener)) return
    removeListener(listener)
    listener.response.end()
  }

  /** Ends the streams of callers whose credential is no longer valid. */
  async function endRevokedStreams(): Promise<void> {
    const byCredential = Map.groupBy(allListeners, ({ credential }) => credential)
    await Promise.all(
      [...byCredential.values()].map(async (listeners) => {
        const [first] = listeners
        const caller = await Promise.race([
          first?.identify().catch(() => undefined),
          sleep(identifyTimeoutMs, undefined, { ref: false }),
        ])
        if (caller && caller.id === first?.caller.id && caller.kind === first.caller.kind) return
        for (const listener of listeners) endStream(listener)
      }),
    )
  }

  function checkCapacity({ caller, credential }: StreamSubscription): void {
    if (isClosed)
      throw new CoworkError('shutting_down', 'cowork is shutting down.', {
        hint: 'Retry in a moment.',
      })
    const isFull =
      allListeners.size >= maxListeners ||
      (caller.kind === 'agent' &&
        [...allListeners].filter((listener) => listener.credential === credential).length >=
          maxListenersPerAgent)
    if (isFull)
      throw new CoworkError('too_many_listeners', 'Too many connections to the live stream.', {
        hint: 'Share one stream among tabs, and close unused streams.',
      })
  }

  return {
    async open(subscription: StreamSubscription, response: ServerResponse): Promise<void> {
      checkCapacity(subscription)
      const size = await ledger.size()
      // The client already disconnected, and 'close' does not fire again.
      if (response.destroyed) return
      // After a restored backup, a client may have seen more entries than exist.
      const lastSeq = Math.min(subscription.after ?? size, size)
      const channelKey = JSON.stringify(subscription.conditions)
      const listener = { ...subscription, response, lastSeq, channelKey }
      response.on('close', () => removeListener(listener))
      response.writeHead(200, sseHeaders)
      response.write(
        `retry: 1000\nid: ${lastSeq}\nevent: hello\ndata: ${JSON.stringify({ size })}\n\n`,
      )
      allListeners.add(listener)
      feed ??= startFeed()
      feed
        .then((state) => catchUp(listener, state))
        .catch((error: unknown) => {
          log.error('listener could not catch up', { error: errorMessage(error) })
          endStream(listener)
        })
    },
    listenerCount: () => allListeners.size,
    close(): void {
      isClosed = true
      clearInterval(heartbeatTimer)
      for (const listener of allListeners) endStream(listener)
    },
  }
}

const hasCapacity = (response: ServerResponse) => response.writableLength < maxBufferedBytes

/** Resolves when the buffer is empty or the client has disconnected. */
function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

export const sseHeaders = {
  ...privateHeaders,
  'Content-Type': 'text/event-stream; charset=utf-8',
} as const
