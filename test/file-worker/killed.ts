// Runs one operation and kills the process before or after it calls a function of `fs`.
import fs from 'node:fs'
import type { OpRequest, Op } from '../../src/files/worker/protocol.ts'
import { openTestOps } from '../ops.ts'
import type { TestFolders } from '../roots.ts'

export type KillPoint = {
  readonly folders: Pick<TestFolders, 'setup'>
  readonly op: Op
  readonly ask: unknown
  readonly body: string
  readonly functionName: 'renameSync' | 'unlinkSync' | 'writeSync' | 'ftruncateSync'
  /** The inode that the call must be about; unset for calls with a path. */
  readonly subject?: string
  readonly when: 'before' | 'after'
}

const {
  folders,
  op,
  ask,
  body,
  functionName,
  subject = '',
  when,
} = JSON.parse(process.argv[2] ?? '') as KillPoint
const original = fs[functionName] as (...args: unknown[]) => unknown
const matchesSubject = ([first]: unknown[]) =>
  typeof first === 'number' ? String(fs.fstatSync(first).ino) === subject : subject === ''

Object.assign(fs, {
  [functionName]: (...args: unknown[]) => {
    const isNow = matchesSubject(args)
    if (isNow && when === 'before') process.kill(process.pid, 'SIGKILL')
    const answer = original(...args)
    if (isNow) process.kill(process.pid, 'SIGKILL')
    return answer
  },
})
const files = openTestOps({ folders: folders as TestFolders })
await files.run(op, ask as OpRequest<Op>, body)
