// Runs operations of the file worker on real folders, without the worker process.
import { setTimeout as sleep } from 'node:timers/promises'
import { toFileError, FileError } from '../src/files/confine/file-error.ts'
import { openRoots } from '../src/files/confine/roots.ts'
import type { Roots } from '../src/files/confine/types.ts'
import { ops } from '../src/files/ops/index.ts'
import { createGuard } from '../src/files/rules/guard.ts'
import type { OpContext, RunOp } from '../src/files/worker/context.ts'
import type { OpResponse, OpRequest, Op, WorkerSetup } from '../src/files/worker/protocol.ts'
import { createTimeSlicer } from '../src/files/worker/serve.ts'
import { fill, openDescriptors, testFolders } from './roots.ts'
import type { TestFolders } from './roots.ts'

export type TestOps = TestFolders & {
  run<O extends Op>(op: O, ask: OpRequest<O>, body?: string | Uint8Array): Promise<OpResponse<O>>
  /** Returns the error code; fails if the operation succeeds. */
  refusal<O extends Op>(op: O, ask: OpRequest<O>, body?: string | Uint8Array): Promise<string>
  /** Writes files into the workspace. */
  put(files: Readonly<Record<string, string | Uint8Array>>): void
  readonly context: OpContext
  /** Fails if a descriptor is still open. Descriptors of a thread close a moment after the thread. */
  close(): Promise<void>
}

export const inWorkspace = (path: string) => ({ root: 'workspace', path })
export const granted = (path: string) => ({ root: 'grant_1', path })

export function openTestOps(
  options: Partial<WorkerSetup> & {
    folders?: TestFolders
    containment?: Roots['containment']
  } = {},
): TestOps {
  const { folders = testFolders(), containment, ...setup } = options
  const before = openDescriptors()
  const fullSetup = { ...folders.setup, ...setup }
  const roots = openRoots(fullSetup, containment)
  const { yieldIfDue } = createTimeSlicer()
  const { limits } = fullSetup
  const waitForEntry = () => Promise.resolve()
  const reportProgress = () => undefined
  const context = {
    roots,
    guard: createGuard(fullSetup.guard),
    limits,
    yieldIfDue,
    waitForEntry,
    reportProgress,
  }

  async function run<O extends Op>(op: O, ask: OpRequest<O>, body: string | Uint8Array = '') {
    const runOp = ops[op] as RunOp<O>
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
    try {
      return await runOp(context, ask, bytes, () => false)
    } catch (error) {
      throw toFileError(error)
    }
  }
  return {
    ...folders,
    context,
    run,
    async refusal(op, ask, body) {
      const answer = await run(op, ask, body).catch((error: unknown) => error)
      if (answer instanceof FileError) return answer.code
      throw new Error(`${op} was not refused: ${JSON.stringify(answer)}`)
    },
    put: (files) => fill(folders.workspace, files),
    async close() {
      roots.close()
      for (let n = 0; openDescriptors() > before; n++) {
        if (n === 100) throw new Error('a descriptor is still open')
        await sleep(10)
      }
    },
  }
}
