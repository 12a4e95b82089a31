/** The identity of a file or folder, whatever its name. The daemon stores it, and both sides compare it (PV9). */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Inode } from '../worker/protocol.ts'

/**
 * Birth times are used on Linux only: on other systems a program can set them, and inode numbers are not reused.
 * If statx(2) is blocked, Node reports the change time as the birth time; /proc shows which case applies, because
 * it has no birth times.
 */
const hasBirthTimes =
  process.platform === 'linux' &&
  fs.statSync('/proc/self', { bigint: true, throwIfNoEntry: false })?.birthtimeNs === 0n

export const toInode = ({ dev, ino, birthtimeNs }: BigIntStats): Inode => ({
  dev: String(dev),
  ino: String(ino),
  born: hasBirthTimes && birthtimeNs > 0n ? String(birthtimeNs) : null,
})

/** File systems reuse the inode number of a deleted file, so birth times are compared if both are known. */
export const isSameInode = (left: Partial<Inode>, right: Partial<Inode>): boolean =>
  left.dev === right.dev &&
  left.ino === right.ino &&
  (!left.born || !right.born || left.born === right.born)

/** Returns true for a root without an inode. */
export const matchesPin = (root: Partial<Inode>, stat: BigIntStats): boolean =>
  root.dev === undefined || isSameInode(root, toInode(stat))

/** Keeps the birth time only if the root names one; the roots of the daemon do not. */
export const inodeForRoot = ({ born = null }: Partial<Inode>, stat: BigIntStats): Inode => ({
  ...toInode(stat),
  born,
})

export const formatInode = ({ dev, ino, born }: Inode): string => `${dev}:${ino}:${born ?? ''}`

/** Returns the replacing inode, with a birth time only if the replaced one had one. */
export const inodeAfterReplace = ({ born }: Partial<Inode>, to: Inode): Inode =>
  born ? to : { ...to, born: null }
