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
  /** Gives the worker these read-only roots besides the grants; resolves when it has them. */
  readonly setFolders: (roots: readonly Root[]) => Promise<void>
  readonly disk?: DiskAccess
}

type Reader = Pick<Call, 'caller' | 'signal' | 'addDetails'>

/**
 * The one way to read a file whose path an agent or a work index can name, for the other modules (PV4). The
 * confined worker reads it; protected paths stay closed, whoever named them.
 */
export function createGuardedFiles({ worker, guard, home, setFolders, disk }: Deps) {
  const roots = new Map<string, Root>()
  let turn: Promise<unknown> = Promise.resolve()

  /** One change of the roots at a time: each starts a worker. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = turn.then(act)
    turn = next.catch(() => undefined)
    return next
  }

  const absolute = (folder: string) => expandPath(folder, home, process.cwd())

  /** A folder that holds the home would open the worker's second wall to all of it. */
  function checkFolder(folder: string): string {
    const real = realpathSync(absolute(folder))
    if (guard.checkForbidden(real, 'read') !== undefined) throw closed(folder)
    if (isWithin(home, real) || isWithin(realOf(home), real))
      throw fileError(
        'forbidden_path',
        folder,
        'The folder holds your whole home.',
        'Name a folder inside it.',
      )
    return real
  }

  async function rootFor(folder: string): Promise<string> {
    const path = checkFolder(folder)
    const inode = toInode(lstatSync(path, { bigint: true }))
    // Another folder at the same path is another root: the wall around the worker knows folders by inode.
    const key = `folder:${formatInode(inode)}`
    await inTurn(async () => {
      if (roots.get(path)?.key === key) return
      roots.set(path, { key, path, kind: 'folder', access: 'read', hardLinks: false, ...inode })
      await setFolders([...roots.values()])
    })
    return key
  }

  /** None for what is no path. */
  function pathsOf(folder: string): string[] {
    try {
      return [realOf(absolute(folder))]
    } catch {
      return []
    }
  }

  return {
    async read(folder: string, path: string, maxBytes: number): Promise<string> {
      try {
        const root = await rootFor(folder)
        return textOf(await worker.ask('read', { at: { root, path }, maxBytes }), path, maxBytes)
      } catch (error) {
        throw explainWorkerError(error, 'read', [], false)
      }
    },

    async readAs(call: Reader, path: string, maxBytes: number): Promise<string> {
      if (!disk) throw fileError('no_grant', path)
      const placed = await disk.place(call, { path: absolute(path), need: 'read' }, false)
      return textOf(
        await disk.ask(call, 'read', [placed], { at: placed.at, maxBytes }),
        path,
        maxBytes,
      )
    },

    /** Throws where nothing may be kept: a protected path, or one from which another program runs files. */
    checkWritable(folder: string): void {
      const path = realOf(absolute(folder))
      if (guard.checkForbidden(path, 'read') !== undefined) throw closed(folder)
      const reason = guard.guardReason(path)
      if (reason !== undefined) throw fileError('forbidden_path', folder, `${folder}: ${reason}.`)
    },

    /** Whether this real path is protected (PV4). */
    isProtected: (path: string): boolean => guard.checkForbidden(path, 'read') !== undefined,

    async keep(folders: readonly string[]): Promise<void> {
      const kept = new Set(folders.flatMap(pathsOf))
      return inTurn(async () => {
        const gone = [...roots.keys()].filter((path) => !kept.has(path))
        if (gone.length === 0) return
        for (const path of gone) roots.delete(path)
        await setFolders([...roots.values()])
      })
    },
  }
}

const closed = (path: string) => fileError('forbidden_path', path, `${path} is closed to agents.`)

/** The real path, also of what is not there yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}

function textOf(answer: OpResponse<'read'>, path: string, maxBytes: number): string {
  if (answer.sensitive)
    throw fileError('forbidden_path', path, `The name of ${path} speaks of secrets.`)
  if (answer.kind !== 'text') throw fileError('not_text', path, `${path} is not a text file.`)
  if (answer.next !== undefined)
    throw fileError('too_large', path, `${path} is larger than ${maxBytes / 1000} kB.`)
  return answer.body?.toString('utf8') ?? ''
}
