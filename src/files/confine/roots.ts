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
  /** Pins the root to what is at its path now, if the inode matches. */
  repin(root: Root): void
  close(): void
}

/** Pins every root. A root that is missing or was replaced is reported as missing; the others work. */
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
    // Most callers have no closed or denied paths, so this instance is shared by their calls.
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

  /** Pins the root again. If something else is at its path, the root stays missing or replaced. */
  function repinRoot(root: Root): void {
    const before = opened.get(root.key)
    try {
      if (before) before.repin(root)
      else opened.set(root.key, open(root))
      missing.delete(root.key)
      // Not after a failure: otherwise the next replacement would not be followed.
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
      if (code !== undefined) throw new FileError(code, 'The granted path cannot be opened.')
      const openRoot = opened.get(key)
      if (!openRoot) throw new FileError('no_grant', 'No access. Call request_grant() first.')
      return openRoot.confined(closed, denied)
    },
    follow(path, from, to) {
      for (const root of rootsByKey.values())
        if (root.kind === 'file' && root.path === path && isSameInode(root, from))
          repinRoot({ ...root, ...inodeAfterReplace(root, to) })
    },
    repin(moved) {
      const changed = moved.filter((root) => !isSameInode(rootsByKey.get(root.key) ?? {}, root))
      for (const root of changed) if (isBelowAnother(root)) repinRoot(root)
      return changed.filter((root) => !isBelowAnother(root)).map(({ key }) => key)
    },
    close() {
      for (const { close } of opened.values()) close()
      opened.clear()
    },
  }
}
