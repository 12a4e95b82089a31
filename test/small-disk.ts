// Disks of their own for tests: small, read-only, or simply another one. Mounting takes an administrator, as CI is.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

export type SmallDisk = {
  readonly path: string
  setReadOnly(): void
  setWritable(): void
  remove(): void
}

/** A disk in memory of so many kilobytes, mounted at a folder that is made for it. */
export function mountSmallDisk(path: string, kilobytes: number): SmallDisk {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=755`, 'tmpfs', path])
  return {
    path,
    setReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path]),
    setWritable: () => void execFileSync('mount', ['-o', 'remount,rw', path]),
    remove: () => void execFileSync('umount', ['--lazy', path]),
  }
}
