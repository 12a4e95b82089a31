/** By what a file or folder is known, whatever its name: the daemon records it, and both sides compare it (PV9). */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Inode } from '../worker/protocol.ts'

/**
 * Elsewhere a birth can be set, and numbers are not given anew. Where the system call for it may not be used, Node
 * gives the last change as the birth; /proc has no births at all.
 */
const hasBirthTimes =
  process.platform === 'linux' &&
  fs.statSync('/proc/self', { bigint: true, throwIfNoEntry: false })?.birthtimeNs === 0n

export const toInode = ({ dev, ino, birthtimeNs }: BigIntStats): Inode => ({
  dev: String(dev),
  ino: String(ino),
  born: hasBirthTimes && birthtimeNs > 0n ? String(birthtimeNs) : null,
})

/** Disks give the number of what has gone to what comes next, many at once. What is not known is not compared. */
export const isSameInode = (one: Partial<Inode>, other: Partial<Inode>): boolean =>
  one.dev === other.dev &&
  one.ino === other.ino &&
  (!one.born || !other.born || one.born === other.born)

/** Whether this is what a root is for; one that names nothing takes what is there. */
export const matchesPin = (root: Partial<Inode>, stat: BigIntStats): boolean =>
  root.dev === undefined || isSameInode(root, toInode(stat))

/** What is held for a root: its birth is looked at only where the root names one, which our own folders do not. */
export const inodeForRoot = ({ born = null }: Partial<Inode>, stat: BigIntStats): Inode => ({
  ...toInode(stat),
  born,
})

/** As a word. */
export const formatInode = ({ dev, ino, born }: Inode): string => `${dev}:${ino}:${born ?? ''}`

/** What was put in the place of this one, known by no more than this was. */
export const inodeAfterReplace = ({ born }: Partial<Inode>, to: Inode): Inode =>
  born ? to : { ...to, born: null }
