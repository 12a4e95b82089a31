import { DatabaseSync } from 'node:sqlite'

/**
 * Locks a file for this process and returns how to release it, or undefined if another process has the lock. The kernel
 * releases the lock when the process ends, even after a crash.
 */
export function tryLockFile(path: string): (() => void) | undefined {
  const lock = new DatabaseSync(path)
  try {
    // Waits for readers that check the lock (`isLocked`); each holds it for less than a millisecond.
    lock.exec('PRAGMA busy_timeout = 500; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return undefined
    throw error
  }
  return () => lock.close()
}
