import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expandPath } from '#base/config/index.ts'
import type { Call } from '#base/tool.ts'
import type { FileWorker } from './worker-client.ts'
import { formatInode, toInode } from './confine/inode.ts'
import type { DiskAccess } from './disk-access.ts'
import { explainWorkerError, fileError } from './error-text.ts'
import type { Guard } from './rules/guard.ts'
import { isWithin } from './rules/paths.ts'
import type { OpResponse, Root } from './worker/protocol.ts'

type Deps = {
  readonly worker: Pick<FileWorker, 'ask'>
  readonly guard: Guard
  readonly home: string
  /** Gives the worker read-only roots in addition to the grants; resolves when they are set. */
  readonly setFolders: (roots: readonly Root[]) => Promise<void>
  readonly disk?: DiskAccess
}

type Reader = Pick<Call, 'caller' | 'signal' | 'addDetails'>

/**
 * Reads files for other modules, if an agent or a work index can choose the path (PV4). The confined worker reads the
 * file, and protected paths stay closed.
 */
export function createGuardedFiles({ worker, guard, home, setFolders, disk }: Deps) {
  const roots = new Map<string, Root>()
  let queue: Promise<unknown> = Promise.resolve()

  /** Serializes changes of the roots, because each change starts a worker. */
  const withLock = <T>(act: () => Promise<T>): Promise<T> => {
    const next = queue.then(act)
    queue = next.catch(() => undefined)
    return next
  }

  const absolute = (folder: string) => expandPath(folder, home, process.cwd())

  /** Refuses a folder that contains the home folder: Landlock would then allow the entire home folder. */
  function checkFolder(folder: string): string {
    const real = realpathSync(absolute(folder))
    if (guard.checkForbidden(real, 'read') !== undefined) throw protectedPathError(folder)
    if (isWithin(home, real) || isWithin(resolveExisting(home), real))
      throw fileError(
        'forbidden_path',
        folder,
        'The folder contains your home folder.',
        'Use a folder inside your home folder.',
      )
    return real
  }

  async function rootFor(folder: string): Promise<string> {
    const path = checkFolder(folder)
    const inode = toInode(lstatSync(path, { bigint: true }))
    // A new folder at the same path is a new root: Landlock identifies folders by inode.
    const key = `folder:${formatInode(inode)}`
    await withLock(async () => {
      if (roots.get(path)?.key === key) return
      roots.set(path, { key, path, kind: 'folder', access: 'read', hardLinks: false, ...inode })
      await setFolders([...roots.values()])
    })
    return key
  }

  /** Returns an empty list for an invalid path. */
  function toRealPaths(folder: string): string[] {
    try {
      return [resolveExisting(absolute(folder))]
    } catch {
      return []
    }
  }

  return {
    async read(folder: string, path: string, maxBytes: number): Promise<string> {
      try {
        const root = await rootFor(folder)
        return toText(await worker.ask('read', { at: { root, path }, maxBytes }), path, maxBytes)
      } catch (error) {
        throw explainWorkerError(error, 'read', [], false)
      }
    },

    async readAs(call: Reader, path: string, maxBytes: number): Promise<string> {
      if (!disk) throw fileError('no_grant', path)
      const placed = await disk.resolve(call, { path: absolute(path), need: 'read' }, false)
      return toText(
        await disk.request(call, 'read', [placed], { at: placed.at, maxBytes }),
        path,
        maxBytes,
      )
    },

    /** Throws for a protected path, or for a path from which another program runs files. */
    checkWritable(folder: string): void {
      const path = resolveExisting(absolute(folder))
      if (guard.checkForbidden(path, 'read') !== undefined) throw protectedPathError(folder)
      const reason = guard.guardReason(path)
      if (reason !== undefined) throw fileError('forbidden_path', folder, `${folder}: ${reason}.`)
    },

    /** Whether this real path is protected (PV4). */
    isProtected: (path: string): boolean => guard.checkForbidden(path, 'read') !== undefined,

    async keep(folders: readonly string[]): Promise<void> {
      const kept = new Set(folders.flatMap(toRealPaths))
      return withLock(async () => {
        const gone = [...roots.keys()].filter((path) => !kept.has(path))
        if (gone.length === 0) return
        for (const path of gone) roots.delete(path)
        await setFolders([...roots.values()])
      })
    },
  }
}

const protectedPathError = (path: string) =>
  fileError('forbidden_path', path, `Protected path: ${path}.`)

/** Resolves the symbolic links of the existing part of a path. */
function resolveExisting(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveExisting(parent), basename(path))
  }
}

function toText(answer: OpResponse<'read'>, path: string, maxBytes: number): string {
  if (answer.sensitive)
    throw fileError('forbidden_path', path, `${path} matches a pattern for sensitive files.`)
  if (answer.kind !== 'text') throw fileError('not_text', path, `Not a text file: ${path}.`)
  if (answer.next !== undefined)
    throw fileError('too_large', path, `${path} is larger than ${maxBytes / 1000} kB.`)
  return answer.body?.toString('utf8') ?? ''
}
