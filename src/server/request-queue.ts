import { CoworkError } from '#base/errors.ts'

/** The maximum of queued messages per client: a burst of 200 calls is served. */
const maxPerLane = 256
/** The maximum of queued messages in all lanes: a client could otherwise invent lanes. */
const maxQueued = 1024
/** The maximum time that one request of a person delays agents' messages. */
const maxPauseMs = 50

export const tooManyQueuedError = (count: number) =>
  new CoworkError('too_many_calls', `Too many queued messages: ${count}.`, {
    hint: 'Wait for responses before you send more.',
  })

/**
 * Queues agents' messages (RS4): each iteration of the event loop starts at most one of them, round-robin over the
 * lanes, one lane per client. Requests of people skip the queue and pause it while they are served.
 */
export function createRequestQueue() {
  const lanes = new Map<string, (() => void)[]>()
  let queued = 0
  let pauses = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || queued === 0 || pauses > 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (pauses > 0) return
      const start = shiftNext()
      // Scheduled first, so that the next message runs before a commit that this message requests.
      schedule()
      start?.()
    })
  }

  /** Removes the oldest message of the first lane and moves that lane to the end. */
  function shiftNext(): (() => void) | undefined {
    const [first] = lanes
    if (!first) return undefined
    const [lane, starts] = first
    const start = starts.shift()
    lanes.delete(lane)
    if (starts.length > 0) lanes.set(lane, starts)
    queued--
    return start
  }

  return {
    /** Resolves when the next message of this lane can be parsed. Rejects when the queue is full. */
    wait(lane: string): Promise<void> {
      const starts = lanes.get(lane) ?? []
      if (starts.length >= maxPerLane || queued >= maxQueued)
        return Promise.reject(tooManyQueuedError(starts.length))
      return new Promise((resolve) => {
        starts.push(resolve)
        lanes.set(lane, starts)
        queued++
        schedule()
      })
    },

    /** Pauses the queue while a person is served, at most `maxPauseMs`. Returns the function that resumes it. */
    pause(): () => void {
      pauses++
      let isPaused = true
      const release = () => {
        if (!isPaused) return
        isPaused = false
        clearTimeout(timer)
        pauses--
        schedule()
      }
      const timer = setTimeout(release, maxPauseMs)
      timer.unref()
      return release
    },
  }
}
