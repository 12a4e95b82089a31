/** What takes as long as an agent makes it take is done beside the worker's own thread, and can be ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transferable, Worker } from 'node:worker_threads'

/** How soon it is noticed that nobody waits any longer. */
const lookEvery = 20

export type Thread = {
  /** One question at a time. What is handed over is gone here. */
  ask<A>(question: unknown, handed?: readonly Transferable[]): Promise<A>
}

/** So many threads of a kind at once; the others wait for their turn. */
export function createThreadPool(most: number) {
  let running = 0

  /** `rest` throws when nobody waits any longer: then what was asked is not answered, and the thread is ended. */
  return async function withThread<T>(
    start: () => Worker,
    rest: () => Promise<void>,
    use: (thread: Thread) => Promise<T>,
  ): Promise<T> {
    for (; running >= most; await sleep(lookEvery)) await rest()
    const thread = start()
    running++
    const over = Promise.withResolvers<never>()
    // Whoever asks next hears of it; nobody has to.
    over.promise.catch(() => undefined)
    thread.once('error', over.reject)
    thread.once('exit', () => over.reject(new Error('the thread ended')))
    const watch = setInterval(() => void rest().catch(over.reject), lookEvery)
    const ask = <A>(question: unknown, handed: readonly Transferable[] = []) => {
      const answered = Promise.withResolvers<A>()
      thread.once('message', (answer: A) => answered.resolve(answer))
      thread.postMessage(question, handed)
      return Promise.race([answered.promise, over.promise])
    }
    try {
      return await use({ ask })
    } finally {
      clearInterval(watch)
      await thread.terminate()
      running--
    }
  }
}
