/** How operations reach the disk: always from a pinned root, never by an absolute path. */
import type { BigIntStats } from 'node:fs'
import type { Containment, FileErrorCode, AccessKind } from '../model.ts'
import type { Inode, Root, Stat } from '../worker/protocol.ts'

/** An open folder and the last name of the requested path. */
export type Parent = {
  readonly fd: number
  readonly name: string
  /** Path of the entry relative to the root, after links. */
  readonly real: string
  /** Returns the path that `fs` functions take for an entry of this folder. */
  entryPath(name: string): string
}

export type OpenedFile = {
  readonly fd: number
  readonly stat: BigIntStats
  /** Path relative to the root, after links; empty for a root that is a file. */
  readonly real: string
}

export type ParentOptions = {
  /** Creates missing folders. */
  readonly parents?: boolean
  readonly need: AccessKind
  /** A person or trust has approved the path: guarded paths (F5) are allowed. */
  readonly reviewed?: boolean
  /** Uses a symbolic link in the last name itself instead of following it. */
  readonly keepLeafLink?: boolean
  /** The original path of a restored or moved file (F5); undefined for a new file. */
  readonly origin?: string | undefined
  /** An internal file in the workspace (F6), which the guard keeps from agents. */
  readonly internal?: boolean
}

/** One open root. Every method throws a `FileError`. */
export type ConfinedRoot = {
  readonly root: Root
  /** Opens a regular file for reading, or for reading and writing. The caller closes it. */
  openFile(
    path: string,
    options?: { readonly write?: boolean; readonly reviewed?: boolean },
  ): OpenedFile
  /**
   * Follows links, in the last name too unless `keepLeafLink`. The last name may be missing. The folder stays open
   * until `use` returns or its promise settles. Fails for a root that is a file.
   */
  withParent<T>(path: string, use: (parent: Parent) => T, options?: ParentOptions): T
  /** Opens a folder; the caller closes it. */
  openFolder(path: string): { readonly fd: number; readonly real: string }
  /**
   * Opens a child of an open folder without following links. `real` is the path of the child relative to the root,
   * `bytes` its name if that is not valid UTF-8. The caller closes it.
   */
  openChild(parentFd: number, name: string, real: string, bytes?: Buffer): number
  /** Returns the path that `fs` functions take for an entry of an open folder, or for the folder itself. */
  entryPath(fd: number, name?: string): string
  /** Returns the stat of the path after links, without opening it. */
  stat(path: string): { readonly stat: Stat; readonly real: string; readonly identity: string }
  /** Fails for a file that may not be opened (PV3); `recheck` stats again. */
  checkRegular(stat: BigIntStats, path: string, recheck?: () => BigIntStats): void
  /** Returns true if lists and searches omit the path: protected, or closed to this caller. */
  isHidden(real: string): boolean
  /** Builds the same check for the names in an open folder, at less cost. */
  createNameFilter(folder: string): (name: string) => boolean
}

export type Roots = {
  readonly containment: Exclude<Containment, 'landlock'>
  /**
   * Throws `no_grant` for an unknown key, and the stored error for a root that could not be opened. `closed` and
   * `denied` come from the `RootedPath`.
   */
  get(key: string, closed?: readonly string[], denied?: readonly Inode[]): ConfinedRoot
  /** Records that the worker replaced a file: a root for that file now refers to the new inode (PV9). */
  follow(path: string, from: Inode, to: Inode): void
  /** Applies replacements reported by the daemon. Returns the roots that Landlock may keep this process from. */
  repin(roots: readonly Root[]): readonly string[]
  /** Roots that could not be opened, with the error code. */
  readonly missing: readonly { readonly key: string; readonly code: FileErrorCode }[]
  close(): void
}
