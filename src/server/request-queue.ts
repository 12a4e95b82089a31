import { CoworkError } from '#base/errors.ts'

/** The most messages of one client that wait: a burst of 200 calls is served. */
const maxPerLane = 256
/** The most messages that wait in all lanes together; a client could otherwise invent lanes. */
const maxWaiting = 1024
/** Agents' messages wait this long at most for one request of a person. */
const maxHoldMs = 50

export const tooManyWaiting = (count: number) =>
  new CoworkError('too_many_calls', `${count} messages of yours wait to be read already.`, {
    hint: 'Wait for answers before you send more.',
  })

/**
 * Agents' messages take turns (RS4): each turn of the event loop starts at most one of them, and the lanes, one for
 * each client, alternate. Requests of people skip the queue, and the queue waits while one of them is served.
 */
export function createTurns() {
  const lanes = new Map<string, (() => void)[]>()
  let waiting = 0
  let holds = 0
  let armed = false

  function arm(): void {
    if (armed || waiting === 0 || holds > 0) return
    armed = true
    setImmediate(() => {
      armed = false
      if (holds > 0) return
      const start = take()
      // Armed first, so that the next message runs before a commit that this one asks for begins.
      arm()
      start?.()
    })
  }

  /** The oldest message of the lane whose turn it is; the lane goes to the end. */
  function take(): (() => void) | undefined {
    const [first] = lanes
    if (!first) return undefined
    const [lane, starts] = first
    const start = starts.shift()
    lanes.delete(lane)
    if (starts.length > 0) lanes.set(lane, starts)
    waiting--
    return start
  }

  return {
    /** Resolves when the next message of this lane may be parsed. Rejects when too many wait. */
    wait(lane: string): Promise<void> {
      const starts = lanes.get(lane) ?? []
      if (starts.length >= maxPerLane || waiting >= maxWaiting)
        return Promise.reject(tooManyWaiting(starts.length))
      return new Promise((resolve) => {
        starts.push(resolve)
        lanes.set(lane, starts)
        waiting++
        arm()
      })
    },

    /** Holds the queue back while a person is served, for a moment at most. Returns the function that ends it. */
    hold(): () => void {
      holds++
      let isHeld = true
      const release = () => {
        if (!isHeld) return
        isHeld = false
        clearTimeout(timer)
        holds--
        arm()
      }
      const timer = setTimeout(release, maxHoldMs)
      timer.unref()
      return release
    },
  }
}
