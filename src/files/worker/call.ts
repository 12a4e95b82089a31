import { CoworkError } from '#base/errors.ts'
import type { FileFaultCode } from '../model.ts'
import type { AnswerHead } from './process.ts'
import type { Op, Outlook, Place, Progress } from './protocol.ts'

/** Operations that change nothing, and may be repeated. */
const reads: ReadonlySet<Op> = new Set<Op>([
  'stat',
  'repin',
  'seen',
  'read',
  'list',
  'searchNames',
  'searchContent',
  'trashed',
  'readVersion',
  'keptVersions',
  'diff',
  'usage',
])

/** Operations that change something at a path: they say what they come to before they do anything. */
export const changing: ReadonlySet<Op> = new Set<Op>([
  'write',
  'edit',
  'move',
  'copy',
  'trash',
  'restore',
  'restoreVersion',
])

/** One question on its way to a worker, or at one. */
export type Call = {
  readonly id: number
  readonly op: Op
  readonly ask: unknown
  readonly body: Uint8Array | undefined
  readonly isRead: boolean
  /** Where something is made for it. */
  readonly target: Place | undefined
  /** The grants it works under. */
  readonly grants: readonly string[]
  /** Receives the progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Nothing that can be seen is done for it yet. */
  isHeld: boolean
  /** A worker has the whole of it for the first time. */
  taken(): void
  /** Workers that ended while they had it. */
  lost: number
  /** What its worker said that it would come to. */
  outlook: Outlook | undefined
  /** A worker that is gone, and never gave an outlook, has done nothing that can be seen. */
  readonly isForetold: boolean
  /** Its deadline is over. */
  isLate: boolean
  /** Whether its caller has been answered. The worker may be busy with it still. */
  isSettled(): boolean
  answer(head: AnswerHead, body: Buffer): void
  fail(code: FileFaultCode, message: string): void
  /** It was not done by its deadline, and will not be. */
  timeOut(): void
  /** Nothing is heard of it any more: it left the worker, too. */
  forget(): void
}

type Asked = Pick<Call, 'id' | 'op' | 'ask' | 'body' | 'grants' | 'onProgress'> & {
  /** Whoever wants to know it holds the call until then. */
  readonly onTaken?: () => void
}

export function createCall({ onTaken, ...asked }: Asked, onForgotten: (call: Call) => void) {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  let isSettled = false
  let isTaken = false
  const call: Call = {
    ...asked,
    isRead: reads.has(asked.op),
    target: targetOf(asked.ask),
    lost: 0,
    outlook: undefined,
    isForetold: changing.has(asked.op),
    isLate: false,
    isHeld: onTaken !== undefined,
    taken() {
      if (!isTaken) onTaken?.()
      isTaken = true
    },
    isSettled: () => isSettled,
    answer(head, body) {
      if ('fault' in head) {
        const { code, message, path } = head.fault
        if (call.isLate && code === 'cancelled') return call.timeOut()
        isSettled = true
        reject(new CoworkError(code, message, path === undefined ? {} : { details: { path } }))
      } else {
        isSettled = true
        const answer = head.answer as object
        resolve(body.length > 0 ? { ...answer, body } : answer)
      }
    },
    fail(code, message) {
      isSettled = true
      reject(new CoworkError(code, message))
    },
    timeOut: () => call.fail('timeout', 'It took too long and was ended.'),
    forget: () => onForgotten(call),
  }
  return { call, promise }
}

function targetOf(ask: unknown): Place | undefined {
  const { to, at } = ask as { readonly to?: Place; readonly at?: Place }
  return to ?? at
}
