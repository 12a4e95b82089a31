// The real worker, which stops or dies before or after an operation on a file whose name says so. `changed` makes the
// file look modified by another program, `slow` simulates a slow disk.
import fs from 'node:fs'
import { rollBackUnfinished } from '../../src/files/ops/in-place.ts'
import { ops } from '../../src/files/ops/index.ts'
import { removeTempFiles } from '../../src/files/ops/atomic-publish.ts'
import { runWorker } from '../../src/files/worker/run.ts'

/** For example `stop-after-renameSync.txt`; a stopped process behaves like one with a hanging disk. */
const haltPattern = /(stop|die)-(before|after)-(\w+)/

const neverNotified = new Int32Array(new SharedArrayBuffer(4))

const touch = (path: unknown) => fs.utimesSync(String(path), 1, 1)

/** A number in the first position is a descriptor, any other is a length or a mode. */
function resolveArgument(arg: unknown, position: number): string {
  const path = typeof arg === 'number' && position === 0 ? `/proc/self/fd/${arg}` : String(arg)
  return /^\/proc\/self\/fd\/\d+$/.test(path) ? fs.readlinkSync(path) : path
}

for (const name of ['renameSync', 'linkSync', 'ftruncateSync'] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown
  const withHalt = (...args: unknown[]) => {
    const [, kind, when, functionName] = haltPattern.exec(args.map(resolveArgument).join(' ')) ?? []
    const halt = () => process.kill(process.pid, kind === 'die' ? 'SIGKILL' : 'SIGSTOP')
    if (functionName === name && when === 'before') halt()
    const answer = original(...args)
    if (args.join().includes('changed') && name === 'renameSync') touch(args[1])
    if (functionName === name && when === 'after') halt()
    return answer
  }
  Object.assign(fs, { [name]: withHalt })
}

// Delays copying and deleting a file whose name begins with `slow`.
for (const name of ['fchmodSync', 'unlinkSync'] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown
  const withDelay = (...args: unknown[]) => {
    if (args.map(resolveArgument).join(' ').includes('/slow')) Atomics.wait(neverNotified, 0, 0, 2)
    return original(...args)
  }
  Object.assign(fs, { [name]: withDelay })
}

runWorker(
  {
    ...ops,
    usage: () => ({ files: process.pid, bytes: 0, folders: [], largest: [] }),
  },
  { onStart: rollBackUnfinished, onShutdown: removeTempFiles },
)
