/** Threads for work whose duration an agent controls. A thread can be terminated. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transferable, Worker } from 'node:worker_threads'

/** How often a thread checks whether its caller still waits. */
const pollIntervalMs = 20

export type Thread = {
  /** One request at a time. Transferred objects are no longer usable here. */
  request<A>(question: unknown, handed?: readonly Transferable[]): Promise<A>
}

/** Limits the number of concurrent threads; further callers wait. */
export function createThreadPool(maxThreads: number) {
  let running = 0

  /** `yieldNow` throws when no caller waits any longer: the request fails and the thread is terminated. */
  return async function withThread<T>(
    start: () => Worker,
    yieldNow: () => Promise<void>,
    use: (thread: Thread) => Promise<T>,
  ): Promise<T> {
    for (; running >= maxThreads; await sleep(pollIntervalMs)) await yieldNow()
    const thread = start()
    running++
    const failure = Promise.withResolvers<never>()
    // The next request reports the failure; without one nobody awaits it.
    failure.promise.catch(() => undefined)
    thread.once('error', failure.reject)
    thread.once('exit', () => failure.reject(new Error('the thread ended')))
    const poll = setInterval(() => void yieldNow().catch(failure.reject), pollIntervalMs)
    const request = <A>(message: unknown, transfer: readonly Transferable[] = []) => {
      const reply = Promise.withResolvers<A>()
      thread.once('message', (answer: A) => reply.resolve(answer))
      thread.postMessage(message, transfer)
      return Promise.race([reply.promise, failure.promise])
    }
    try {
      return await use({ request })
    } finally {
      clearInterval(poll)
      await thread.terminate()
      running--
    }
  }
}
