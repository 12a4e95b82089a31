/** How long one operation keeps the others waiting, in milliseconds: a small read passes a long search. */
const share = 4

export type Turns = {
  /** Begins a share: something new is worked on from here. */
  begin(): void
  /** Goes on at once while the share lasts; else waits until whoever came in the meantime was served. */
  turn(): Promise<void>
}

/**
 * Lets long operations stand aside. One of them goes on after each round of the event loop, so that however many
 * there are, what arrives is looked at after one share.
 */
export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting: (() => void)[] = []
  let since = now()

  function next(): void {
    since = now()
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }

  return {
    begin() {
      since = now()
    },
    async turn() {
      if (now() - since < share) return
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 1) setImmediate(next)
      })
    },
  }
}
