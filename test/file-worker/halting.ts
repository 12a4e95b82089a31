// The real worker, which stops or dies right before or after it acts on a file whose name says so; `changed` makes the
// file look as if somebody had written to it by then, `slow` makes it act as on a slow disk.
import fs from 'node:fs'
import { rollBackUnfinished } from '../../src/files/ops/in-place.ts'
import { ops } from '../../src/files/ops/index.ts'
import { removeTempFiles } from '../../src/files/ops/atomic-publish.ts'
import { runWorker } from '../../src/files/worker/run.ts'

/** `stop-after-renameSync.txt`: a stopped process is like one whose disk hangs. */
const spoken = /(stop|die)-(before|after)-(\w+)/

const nothing = new Int32Array(new SharedArrayBuffer(4))

const touch = (path: unknown) => fs.utimesSync(String(path), 1, 1)

/** A number that comes first is a descriptor, any other a length or a mode. */
function pathOf(arg: unknown, at: number): string {
  const path = typeof arg === 'number' && at === 0 ? `/proc/self/fd/${arg}` : String(arg)
  return /^\/proc\/self\/fd\/\d+$/.test(path) ? fs.readlinkSync(path) : path
}

for (const name of ['renameSync', 'linkSync', 'ftruncateSync'] as const) {
  const act = fs[name] as (...args: unknown[]) => unknown
  const halting = (...args: unknown[]) => {
    const [, how, when, of] = spoken.exec(args.map(pathOf).join(' ')) ?? []
    const halt = () => process.kill(process.pid, how === 'die' ? 'SIGKILL' : 'SIGSTOP')
    if (of === name && when === 'before') halt()
    const answer = act(...args)
    if (args.join().includes('changed') && name === 'renameSync') touch(args[1])
    if (of === name && when === 'after') halt()
    return answer
  }
  Object.assign(fs, { [name]: halting })
}

// A file whose name begins with `slow` takes its time to be copied, and to be removed.
for (const name of ['fchmodSync', 'unlinkSync'] as const) {
  const act = fs[name] as (...args: unknown[]) => unknown
  const slow = (...args: unknown[]) => {
    if (args.map(pathOf).join(' ').includes('/slow')) Atomics.wait(nothing, 0, 0, 2)
    return act(...args)
  }
  Object.assign(fs, { [name]: slow })
}

runWorker(
  {
    ...ops,
    usage: () => ({ files: process.pid, bytes: 0, folders: [], largest: [] }),
  },
  { onStart: rollBackUnfinished, onShutdown: removeTempFiles },
)
