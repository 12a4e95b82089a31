import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from './call.ts'
import { startWorker } from './process.ts'
import type { AnswerHead, StartOptions, WorkerProcess } from './process.ts'

/** More of them wait in the daemon, where they cost little. */
const mostAtOnce = 128
/** A call that is stopped has this long to end; a worker that does not let go of it is stuck. */
const stopMs = 1_000

/** A worker and the calls it has. */
export type Running = Pick<WorkerProcess, 'ready' | 'ended' | 'end' | 'leave' | 'kill'> & {
  readonly calls: ReadonlyMap<number, Call>
  /** When it could take calls first; undefined before. */
  readyAt: number | undefined
  /** Ended by us, for its roots or another call's sake: none of the calls it has is to blame. */
  isEndedByUs: boolean
  takesMore(): boolean
  give(call: Call): void
  /** What the call does may be seen from now on. */
  go(call: Call): void
  /** Nobody waits for the call any longer. */
  cancel(call: Call): void
  /** What has changed nothing yet is given up where it can be, and taken away. */
  giveUp(): void
  /** The call must end: if it does not, the worker is to. */
  stop(call: Call, onStuck: () => void): void
  /** Folders in which it may have something that is not finished. */
  unfinished(): readonly string[]
  /** Resolves when nothing is being written any more, or after so long. */
  written(patience: number): Promise<void>
}

type Options = Omit<StartOptions, 'onOutlook' | 'onProgress' | 'onAnswer' | 'onRoom'> & {
  /** It may take another call. */
  onFree(): void
  /** It ends, and has done nothing for this call. */
  onGivenUp(call: Call): void
}

export function startRunning({ onFree, onGivenUp, ...options }: Options): Running {
  const calls = new Map<number, Call>()
  /** Calls that were stopped and have not ended. Nothing new is given to a worker that may be stuck. */
  const stopped = new Set<number>()
  const { ready, ended, end, leave, kill, hasRoom, send } = startWorker({
    ...options,
    onRoom: onFree,
    onOutlook({ id, outlook }) {
      const call = calls.get(id)
      if (call) call.outlook = outlook
    },
    onProgress: ({ id, progress }) => calls.get(id)?.onProgress?.(progress),
    onAnswer(head, body) {
      const call = calls.get(head.id)
      calls.delete(head.id)
      stopped.delete(head.id)
      if (call && running.isEndedByUs && isCancelled(head)) {
        call.outlook = undefined
        onGivenUp(call)
      } else {
        call?.forget()
        if (call?.isSettled() === false) call.answer(head, body)
      }
      onFree()
    },
  })
  // Also one that nobody waits for any longer: it may have a temporary file to take away.
  const isWriting = () => [...calls.values()].some(({ isRead }) => !isRead)
  const cancel = ({ id }: Call) => send({ cancel: id })

  const running: Running = {
    ready,
    ended,
    end,
    leave,
    kill,
    calls,
    readyAt: undefined,
    isEndedByUs: false,
    takesMore: () => calls.size < mostAtOnce && stopped.size === 0 && hasRoom(),
    give(call) {
      calls.set(call.id, call)
      call.outlook = undefined
      const { id, op, ask, isHeld, onProgress } = call
      const head = { id, op, ask, ...(isHeld && { held: true as const }) }
      send({ ...head, ...(onProgress && { progress: true }) }, call.body, call.taken)
    },
    go: ({ id }) => send({ go: id }),
    cancel,
    giveUp() {
      for (const call of calls.values()) if (call.isForetold && !call.isHeld) cancel(call)
    },
    stop(call, onStuck) {
      cancel(call)
      stopped.add(call.id)
      setTimeout(() => {
        if (calls.has(call.id)) onStuck()
      }, stopMs).unref()
    },
    unfinished: () =>
      [...calls.values()].flatMap(({ isRead, target }) => {
        const root = options.setup.roots.find(({ key }) => key === target?.root)
        return isRead || !target || root?.kind !== 'folder'
          ? []
          : [join(root.path, dirname(target.path))]
      }),
    async written(patience) {
      const until = Date.now() + patience
      while (isWriting() && Date.now() < until) await sleep(5)
    },
  }
  return running
}

const isCancelled = (head: AnswerHead) => 'fault' in head && head.fault.code === 'cancelled'
