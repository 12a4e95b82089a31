// A cowork program in a separate process that answers one request at a time.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'

export type Child = AsyncDisposable & {
  readonly pid: number
  /** Its first message. */
  readonly ready: unknown
  ask<A>(question: unknown): Promise<A>
  end(): Promise<void>
}

/** Resolves when the program has sent its first message. */
export async function startChild(file: string, args: readonly string[] = []): Promise<Child> {
  const process = fork(file, args)
  const ready = await nextMessage(process, file)
  async function end() {
    if (process.exitCode !== null || process.signalCode !== null) return
    process.disconnect()
    await once(process, 'exit')
  }
  return {
    pid: process.pid ?? 0,
    ready,
    async ask<A>(question: unknown) {
      process.send(question as object)
      return (await nextMessage(process, file)) as A
    },
    end,
    [Symbol.asyncDispose]: end,
  }
}

function nextMessage(process: ChildProcess, file: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`${basename(file)} exited without a reply`))
    process.once('exit', ended)
    process.once('message', (message) => {
      process.off('exit', ended)
      resolve(message)
    })
  })
}
