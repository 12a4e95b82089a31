// One operation that is killed before, or after, it comes to call a function of `fs` for the nth time.
import fs from 'node:fs'
import type { OpRequest, Op } from '../../src/files/worker/protocol.ts'
import { openTestOps } from '../ops.ts'
import type { TestFolders } from '../roots.ts'

export type Death = {
  readonly folders: Pick<TestFolders, 'setup'>
  readonly op: Op
  readonly ask: unknown
  readonly body: string
  readonly at: 'renameSync' | 'unlinkSync' | 'writeSync' | 'ftruncateSync'
  /** Only a call about this, where something is said: a path's end, or an inode. */
  readonly about?: string
  readonly when: 'before' | 'after'
}

const { folders, op, ask, body, at, about = '', when } = JSON.parse(process.argv[2] ?? '') as Death
const act = fs[at] as (...args: unknown[]) => unknown
const isAbout = ([first]: unknown[]) =>
  typeof first === 'number' ? String(fs.fstatSync(first).ino) === about : about === ''

Object.assign(fs, {
  [at]: (...args: unknown[]) => {
    const isNow = isAbout(args)
    if (isNow && when === 'before') process.kill(process.pid, 'SIGKILL')
    const answer = act(...args)
    if (isNow) process.kill(process.pid, 'SIGKILL')
    return answer
  },
})
const files = openTestOps({ folders: folders as TestFolders })
await files.run(op, ask as OpRequest<Op>, body)
