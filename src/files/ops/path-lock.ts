/** Who changes something on disk takes turns with all others that change something there. */
import { join } from 'node:path/posix'
import type { OpenEntry } from './tree.ts'

type Turn = { readonly paths: readonly string[]; readonly over: Promise<void> }

const turns = new Set<Turn>()

const isInside = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`)

const othersAt = (paths: readonly string[]): Turn[] =>
  [...turns].filter((other) =>
    other.paths.some((theirs) =>
      paths.some((mine) => isInside(mine, theirs) || isInside(theirs, mine)),
    ),
  )

/**
 * One after the other for the same path, and for what lies below it: no two changes of a file are made from the same
 * old content, and none while the file or a folder around it goes elsewhere. Each waits for those that came before
 * it alone, so however many paths it takes, none waits for ever; but never is one taken inside another. What waited
 * has to look anew where its path leads.
 */
export async function withPathLock<T>(
  paths: readonly string[],
  work: (hasWaited: boolean) => Promise<T>,
): Promise<T> {
  const before = othersAt(paths)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const mine = { paths, over }
  turns.add(mine)
  try {
    await Promise.all(before.map((other) => other.over))
    return await work(before.length > 0)
  } finally {
    turns.delete(mine)
    resolve()
  }
}

export const lockPath = ({ confined, parent }: OpenEntry): string =>
  join(confined.root.path, parent.real)

/** Goes to a place, or to the two of a move, and holds it open for as long as it is used. */
type Walk<P> = <T>(use: (place: P) => Promise<T>) => Promise<T>

/**
 * Walks to a place and acts there in its turn. Who has to wait leaves it, and walks anew when the turn has come: the
 * folder may be another by then. Where the path leads elsewhere then, the turn is that of another place, and is
 * taken there.
 */
export async function walkAndLock<P, T>(
  walk: Walk<P>,
  pathsOf: (place: P) => readonly string[],
  act: (place: P) => Promise<T>,
): Promise<T> {
  for (;;) {
    const first = await walk(async (place) => {
      const paths = pathsOf(place)
      return othersAt(paths).length > 0
        ? { paths }
        : { done: await withPathLock(paths, () => act(place)) }
    })
    if ('done' in first) return first.done
    const { paths } = first
    const second = await withPathLock(paths, () =>
      walk(async (place) => {
        const isSame = pathsOf(place).every((path, at) => path === paths[at])
        return isSame ? { done: await act(place) } : undefined
      }),
    )
    if (second) return second.done
  }
}
