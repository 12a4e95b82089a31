/** Locks on paths: changes of the same path, or of a path below it, run one after the other. */
import { join } from 'node:path/posix'
import type { OpenEntry } from './tree.ts'

type PathLock = { readonly paths: readonly string[]; readonly released: Promise<void> }

const locks = new Set<PathLock>()

const isInside = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`)

const findConflicts = (paths: readonly string[]): PathLock[] =>
  [...locks].filter((other) =>
    other.paths.some((otherPath) =>
      paths.some((path) => isInside(path, otherPath) || isInside(otherPath, path)),
    ),
  )

/**
 * Runs `work` with a lock on the paths and everything below them: no two changes start from the same old content, and
 * none runs while the file or a parent folder moves. A lock waits only for earlier locks, so there is no deadlock for
 * any number of paths, but locks must not be nested. After waiting, the operation must resolve its path again.
 */
export async function withPathLock<T>(
  paths: readonly string[],
  work: (hasWaited: boolean) => Promise<T>,
): Promise<T> {
  const predecessors = findConflicts(paths)
  const { promise: released, resolve } = Promise.withResolvers<void>()
  const lock = { paths, released }
  locks.add(lock)
  try {
    await Promise.all(predecessors.map((other) => other.released))
    return await work(predecessors.length > 0)
  } finally {
    locks.delete(lock)
    resolve()
  }
}

export const lockPath = ({ confined, parent }: OpenEntry): string =>
  join(confined.root.path, parent.real)

/** Walks to a location, or to the two of a move, and keeps it open while `use` runs. */
type Walk<P> = <T>(use: (location: P) => Promise<T>) => Promise<T>

/**
 * Walks to a location and runs there with the path locked. If the lock is taken, it closes the location, waits, and
 * walks again, because the folder may be a different one by then. If the path now leads elsewhere, it starts over with
 * the new location.
 */
export async function walkAndLock<P, T>(
  walk: Walk<P>,
  getPaths: (place: P) => readonly string[],
  run: (location: P) => Promise<T>,
): Promise<T> {
  for (;;) {
    const attempt = await walk(async (location) => {
      const paths = getPaths(location)
      return findConflicts(paths).length > 0
        ? { paths }
        : { done: await withPathLock(paths, () => run(location)) }
    })
    if ('done' in attempt) return attempt.done
    const { paths } = attempt
    const retry = await withPathLock(paths, () =>
      walk(async (location) => {
        const isSame = getPaths(location).every((path, index) => path === paths[index])
        return isSame ? { done: await run(location) } : undefined
      }),
    )
    if (retry) return retry.done
  }
}
