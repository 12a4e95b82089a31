import { DatabaseSync } from 'node:sqlite'

/**
 * Holds a file for this process; the kernel frees it when the process ends, however it ends. Nothing where
 * somebody else holds it.
 */
export function tryLockFile(path: string): (() => void) | undefined {
  const lock = new DatabaseSync(path)
  try {
    // Long enough for those who only look, who are in the way for less than a millisecond.
    lock.exec('PRAGMA busy_timeout = 500; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return undefined
    throw error
  }
  return () => lock.close()
}
