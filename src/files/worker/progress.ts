import type { Progress } from './protocol.ts'

/** Nobody reads faster than this. */
const intervalMs = 250

/** Passes on how far an operation is: the first time, then a few times in a second, and when all is done. */
export function createProgress(send: (progress: Progress) => void, now = () => performance.now()) {
  let last = -Infinity
  return (done: number, total?: number): void => {
    const at = now()
    if (done !== total && at - last < intervalMs) return
    last = at
    send({ done, ...(total !== undefined && { total }) })
  }
}
