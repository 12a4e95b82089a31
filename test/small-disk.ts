// Mounted disks for tests: small, read-only, or just a second one. Mounting requires root, which CI has.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

export type SmallDisk = {
  readonly path: string
  setReadOnly(): void
  setWritable(): void
  remove(): void
}

/** Mounts a tmpfs of the given size at a new folder. */
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
