import fs from 'node:fs'
import type { FileErrorCode } from '../model.ts'
import { createGuard } from '../rules/guard.ts'
import { isWithin } from '../rules/paths.ts'
import type { Inode, Root, WorkerSetup } from '../worker/protocol.ts'
import { createConfinedRoot } from './confined-root.ts'
import { toFileError, FileError } from './file-error.ts'
import { inodeAfterReplace, isSameInode } from './inode.ts'
import { pin, rootReplacedError } from './pinned-root.ts'
import { createPortableRoot } from './portable-root.ts'
import type { ConfinedRoot, Roots } from './types.ts'

type OpenRoot = {
  confined(closed?: readonly string[], denied?: readonly Inode[]): ConfinedRoot
  /** From now on it is what lies there by now, if that is what it should be. */
  repin(root: Root): void
  close(): void
}

/** Pins every root. One that is not there, or not what it was, is missing; the others work. */
export function openRoots(
  { roots, guard: settings }: WorkerSetup,
  containment: Roots['containment'] = process.platform === 'linux' ? 'walk' : 'checked',
): Roots {
  const guard = createGuard(settings)
  const opened = new Map<string, OpenRoot>()
  const missing = new Map<string, FileErrorCode>()

  const open = (root: Root): OpenRoot => {
    if (containment === 'checked') {
      let confined = createPortableRoot(root, guard)
      return {
        confined: (closed, denied) => confined(closed, denied),
        repin: (next) => void (confined = createPortableRoot(next, guard)),
        close() {},
      }
    }
    const pinned = pin(root)
    // As most callers have it: made once, not for each of their calls.
    const unrestricted = createConfinedRoot(root, pinned, guard)
    return {
      confined: (closed = [], denied = []) =>
        closed.length + denied.length === 0
          ? unrestricted
          : createConfinedRoot(root, pinned, guard, closed, denied),
      repin(next) {
        const { fd } = pinned
        Object.assign(pinned, pin(next))
        fs.closeSync(fd)
      },
      close: () => fs.closeSync(pinned.fd),
    }
  }
  for (const root of roots)
    try {
      opened.set(root.key, open(root))
    } catch (error) {
      missing.set(root.key, toFileError(error).code)
    }

  const rootsByKey = new Map(roots.map((root) => [root.key, root]))

  /** What anybody else has put there since is not opened: it is missing then, or replaced as before. */
  function move(root: Root): void {
    const before = opened.get(root.key)
    try {
      if (before) before.repin(root)
      else opened.set(root.key, open(root))
      missing.delete(root.key)
      // Not of what is not there: then the next that is put there would not be followed.
      rootsByKey.set(root.key, root)
    } catch (error) {
      if (!before) missing.set(root.key, toFileError(error).code)
    }
  }

  const isBelowAnother = ({ path, access }: Root) =>
    [...rootsByKey.values()].some(
      (root) =>
        root.kind === 'folder' &&
        opened.has(root.key) &&
        isWithin(path, root.path) &&
        (root.access === 'read-write' || access === 'read'),
    )

  return {
    containment,
    missing: [...missing].map(([key, code]) => ({ key, code })),
    get(key, closed, denied) {
      const code = missing.get(key)
      if (code === 'root_replaced') throw rootReplacedError(key)
      if (code !== undefined) throw new FileError(code, 'What was granted cannot be opened.')
      const openRoot = opened.get(key)
      if (!openRoot) throw new FileError('no_grant', 'No access. Call request_grant() first.')
      return openRoot.confined(closed, denied)
    },
    follow(path, from, to) {
      for (const root of rootsByKey.values())
        if (root.kind === 'file' && root.path === path && isSameInode(root, from))
          move({ ...root, ...inodeAfterReplace(root, to) })
    },
    repin(moved) {
      const changed = moved.filter((root) => !isSameInode(rootsByKey.get(root.key) ?? {}, root))
      for (const root of changed) if (isBelowAnother(root)) move(root)
      return changed.filter((root) => !isBelowAnother(root)).map(({ key }) => key)
    },
    close() {
      for (const { close } of opened.values()) close()
      opened.clear()
    },
  }
}
