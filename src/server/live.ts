import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '#base/caller.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { matches } from '#ledger'
import type { Conditions, Ledger, Recorded } from '#ledger'
import { privateHeaders } from './guards.ts'

export type LiveDeps = {
  readonly ledger: Pick<Ledger, 'size' | 'records' | 'tail'>
  readonly log: Log
  readonly heartbeatMs?: number
}

/** Who wants to hear what, from where on. */
export type StreamSubscription = {
  readonly caller: Caller
  readonly conditions: Conditions
  /** The last entry the other side has; from now on where absent. */
  readonly after: number | undefined
  /** Asks again who holds the credential. */
  readonly identify: () => Promise<Caller>
  /** Listeners of one credential stand or fall together. */
  readonly credential: string
}

type Listener = StreamSubscription & {
  /**
   * Written to as it is. Measured with 1,000 listeners: a web stream around each takes 274 MB instead of 206
   * and 36 % of a core instead of 29.
   */
  readonly to: ServerResponse
  /** Names its channel: the same for the same conditions. */
  readonly key: string
  seen: number
}
type Channel = { readonly conditions: Conditions; readonly listeners: Set<Listener> }
type Frame = { readonly recorded: Recorded; readonly bytes: Uint8Array }
/** What was sent to everyone: entries up to `sent`, the newest of them kept. */
type Feed = { sent: number; kept: Frame[]; readonly stop: AbortController }

/** A burst becomes one write for each listener (SV23). */
const coalesceMs = 50
/** Who is this far behind is cut off and resumes from the store, which is no burden to the others. */
const mostWaiting = 1024 * 1024
const mostKept = 1000
const pageSize = 500
const mostListeners = 2000
const mostOfAgent = 64
/** An identity that does not answer in time, because it slows guesses down, has not vouched for anyone. */
const vouchWithin = 1000

/** Entries after which a caller may be nobody any more. */
const endsCallers = /^(agent|person|session)\./

const encoder = new TextEncoder()
const frameOf = (recorded: Recorded): Frame => ({
  recorded,
  bytes: encoder.encode(`id: ${recorded.entry.seq}\nevent: entry\ndata: ${recorded.body}\n\n`),
})
const heartbeat = encoder.encode(':\n\n')

const joined = (frames: readonly Frame[], conditions: Conditions): Uint8Array =>
  Buffer.concat(
    frames.filter(({ recorded }) => matches(conditions, recorded)).map(({ bytes }) => bytes),
  )

export type LiveStream = ReturnType<typeof createLiveStream>

/**
 * The live stream (SV23, L11): one follower of the ledger for all listeners, and each entry encoded once.
 * Listeners of the same filter form a channel and are handed the same bytes.
 */
export function createLiveStream({ ledger, log, heartbeatMs = 15_000 }: LiveDeps) {
  const everyone = new Set<Listener>()
  const channels = new Map<string, Channel>()
  let feed: Promise<Feed> | undefined
  let isClosed = false

  const beat = setInterval(() => {
    for (const { to } of everyone) if (hasRoom(to)) to.write(heartbeat)
    void vouch()
  }, heartbeatMs)
  beat.unref()

  async function startFeed(): Promise<Feed> {
    const started: Feed = { sent: await ledger.size(), kept: [], stop: new AbortController() }
    run(started).catch((error: unknown) => {
      if (started.stop.signal.aborted) return
      log.error('the live stream broke off', { error: errorMessage(error) })
      // They come back, and with them another feed.
      for (const listener of everyone) end(listener)
    })
    return started
  }

  /** Without listeners the ledger need not be read. */
  function stopFeed(): void {
    feed?.then(({ stop }) => stop.abort()).catch(() => undefined)
    feed = undefined
  }

  async function run(state: Feed): Promise<void> {
    const { signal } = state.stop
    for await (const entries of ledger.tail(state.sent, signal)) {
      if (entries.some(({ entry }) => endsCallers.test(entry.type))) await vouch()
      if (signal.aborted) return
      const frames = entries.map(frameOf)
      for (const { conditions, listeners } of channels.values()) {
        const bytes = joined(frames, conditions)
        if (bytes.length > 0) for (const listener of listeners) send(listener, bytes)
      }
      state.kept = [...state.kept, ...frames].slice(-mostKept)
      state.sent = entries.at(-1)?.entry.seq ?? state.sent
      // What comes meanwhile is read, and sent, together.
      if (entries.length < pageSize) await sleep(coalesceMs, undefined, { signal })
    }
  }

  /** Brings a listener up to date, then lets it in among the others without a step between. */
  async function join(listener: Listener, state: Feed): Promise<void> {
    const { conditions } = listener
    while (listener.seen < state.sent - state.kept.length) {
      const upTo = state.sent
      const part = { ...conditions, after: listener.seen, before: upTo + 1, limit: pageSize }
      const found = await ledger.records(part)
      send(listener, joined(found.map(frameOf), conditions))
      listener.seen = found.length < pageSize ? upTo : (found.at(-1)?.entry.seq ?? upTo)
      // As fast as it reads: nobody is cut off for wanting much.
      if (everyone.has(listener) && !hasRoom(listener.to)) await drained(listener.to)
      if (!everyone.has(listener)) return
    }
    const kept = state.kept.filter(({ recorded }) => recorded.entry.seq > listener.seen)
    send(listener, joined(kept, conditions))
    if (!everyone.has(listener)) return
    const channel = channels.get(listener.key) ?? { conditions, listeners: new Set() }
    channels.set(listener.key, channel)
    channel.listeners.add(listener)
  }

  function send(listener: Listener, bytes: Uint8Array): void {
    if (bytes.length === 0 || !everyone.has(listener)) return
    if (hasRoom(listener.to)) listener.to.write(bytes)
    else {
      leave(listener)
      // Ending would wait until everything was read.
      listener.to.destroy()
    }
  }

  function leave(listener: Listener): void {
    if (!everyone.delete(listener)) return
    const channel = channels.get(listener.key)
    channel?.listeners.delete(listener)
    if (channel?.listeners.size === 0) channels.delete(listener.key)
    if (everyone.size === 0) stopFeed()
  }

  function end(listener: Listener): void {
    if (!everyone.has(listener)) return
    leave(listener)
    listener.to.end()
  }

  /** Ends the streams of those whose token no longer opens the door. */
  async function vouch(): Promise<void> {
    const holders = Map.groupBy(everyone, ({ credential }) => credential)
    await Promise.all(
      [...holders.values()].map(async (listeners) => {
        const [first] = listeners
        const known = await Promise.race([
          first?.identify().catch(() => undefined),
          sleep(vouchWithin, undefined, { ref: false }),
        ])
        if (known && known.id === first?.caller.id && known.kind === first.caller.kind) return
        for (const listener of listeners) end(listener)
      }),
    )
  }

  function checkRoom({ caller, credential }: StreamSubscription): void {
    if (isClosed)
      throw new CoworkError('shutting_down', 'cowork is shutting down.', {
        hint: 'Try again in a moment.',
      })
    const isFull =
      everyone.size >= mostListeners ||
      (caller.kind === 'agent' &&
        [...everyone].filter((other) => other.credential === credential).length >= mostOfAgent)
    if (isFull)
      throw new CoworkError('too_many_listeners', 'Too many listen to the live stream already.', {
        hint: 'Share one stream among tabs, and close those that nobody reads.',
      })
  }

  return {
    async open(listening: StreamSubscription, to: ServerResponse): Promise<void> {
      checkRoom(listening)
      const size = await ledger.size()
      // It left meanwhile, and would never be seen to leave again.
      if (to.destroyed) return
      // After a restored backup somebody may have seen more than there is.
      const seen = Math.min(listening.after ?? size, size)
      const listener = { ...listening, to, seen, key: JSON.stringify(listening.conditions) }
      to.on('close', () => leave(listener))
      to.writeHead(200, sseHeaders)
      to.write(`retry: 1000\nid: ${seen}\nevent: hello\ndata: ${JSON.stringify({ size })}\n\n`)
      everyone.add(listener)
      feed ??= startFeed()
      feed
        .then((state) => join(listener, state))
        .catch((error: unknown) => {
          log.error('a listener could not be brought up to date', { error: errorMessage(error) })
          end(listener)
        })
    },
    listeners: () => everyone.size,
    close(): void {
      isClosed = true
      clearInterval(beat)
      for (const listener of everyone) end(listener)
    },
  }
}

const hasRoom = (to: ServerResponse) => to.writableLength < mostWaiting

/** Resolves when everything was taken, or the other side is gone. */
function drained(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done)
      resolve()
    }
    to.on('drain', done).on('close', done)
  })
}

export const sseHeaders = {
  ...privateHeaders,
  'Content-Type': 'text/event-stream; charset=utf-8',
} as const
