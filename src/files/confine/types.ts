/** How the operations reach the disk: always from a pinned root, never by a path they were given. */
import type { BigIntStats } from 'node:fs'
import type { Containment, FileErrorCode, AccessKind } from '../model.ts'
import type { Inode, Root, Stat } from '../worker/protocol.ts'

/** A folder held open, and the name in it that was asked for. */
export type Parent = {
  readonly fd: number
  readonly name: string
  /** Path of the name itself, relative to the root, after links. */
  readonly real: string
  /** What to hand to `fs` for a name in this folder. */
  entryPath(name: string): string
}

export type OpenedFile = {
  readonly fd: number
  readonly stat: BigIntStats
  /** Path relative to the root, after links; empty for a root that is a file. */
  readonly real: string
}

export type ParentOptions = {
  /** Makes the folders on the way that are missing. */
  readonly parents?: boolean
  readonly need: AccessKind
  /** A person or trust has looked at it: paths that are guarded (F5) are let through. */
  readonly reviewed?: boolean
  /** A link as the last name is meant itself, not what it leads to. */
  readonly keepLeafLink?: boolean
  /** Where what comes stood before, if it is not made anew (F5). */
  readonly origin?: string | undefined
  /** cowork's own file in the workspace (F6), which the guard keeps from agents. */
  readonly own?: boolean
}

/** One open root. Every method throws a FileFault. */
export type ConfinedRoot = {
  readonly root: Root
  /** Opens a regular file for reading, or for both where `write`; the caller closes it. */
  openFile(
    path: string,
    options?: { readonly write?: boolean; readonly reviewed?: boolean },
  ): OpenedFile
  /**
   * Links are followed, the last name's too unless `keepLeafLink`; it need not be there. The folder stays open
   * until `use` is done, also where that is a promise. Not for a root that is a file.
   */
  withParent<T>(path: string, use: (parent: Parent) => T, options?: ParentOptions): T
  /** Opens a folder; the caller closes it. */
  openFolder(path: string): { readonly fd: number; readonly real: string }
  /** A folder in an open one, links not followed, for walks; `real` is its own path relative to the root, `bytes` its name where that is no text. The caller closes it. */
  openChild(parentFd: number, name: string, real: string, bytes?: Buffer): number
  /** What to hand to `fs` for a name in an open folder; for the folder itself where there is no name. */
  entryPath(fd: number, name?: string): string
  /** Of what the path leads to; nothing is opened. */
  stat(path: string): { readonly stat: Stat; readonly real: string; readonly identity: string }
  /** Whether what was opened by a name in an open folder may be used (PV3); `again` looks once more. */
  checkRegular(stat: BigIntStats, path: string, recheck?: () => BigIntStats): void
  /** Whether lists and searches leave it out: forbidden, or closed to this caller. */
  isHidden(real: string): boolean
  /** The same for the names in a folder that was entered, at less cost. */
  createNameFilter(folder: string): (name: string) => boolean
}

export type Roots = {
  readonly containment: Exclude<Containment, 'landlock'>
  /**
   * Throws `no_grant` for a key that is not there, and its own fault for one that could not be opened.
   * `closed` and `denied` are those of the place.
   */
  get(key: string, closed?: readonly string[], denied?: readonly Inode[]): ConfinedRoot
  /** The worker put a file in the place of another: a root that is that file goes on for the new one (PV9). */
  follow(path: string, from: Inode, to: Inode): void
  /** The same as the daemon tells it. Answers those that no open folder leads to: the wall may be in the way. */
  repin(roots: readonly Root[]): readonly string[]
  /** Roots that could not be opened, and why. */
  readonly missing: readonly { readonly key: string; readonly code: FileErrorCode }[]
  close(): void
}
