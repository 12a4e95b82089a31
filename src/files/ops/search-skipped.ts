/** What a search by content did not look into: all of it counted, the first few named. */
import type { Skipped } from '../worker/protocol.ts'
import { byPath, byText, createSmallest } from './smallest.ts'

type At = { readonly place: number; readonly root: string; readonly path: string }

const mostNamed = 5

const order = (a: At, b: At): number => a.place - b.place || byPath(a.path, b.path)

export function createSkipped() {
  const found = new Map<Skipped['why'], { count: number; readonly first: Smallest }>()
  return {
    add(why: Skipped['why'], at: At): void {
      const same = found.get(why) ?? { count: 0, first: createSmallest<At>(mostNamed, order) }
      found.set(why, same)
      same.count++
      same.first.add(at)
    },
    all: (): readonly Skipped[] =>
      [...found]
        .toSorted(([a], [b]) => byText(a, b))
        .map(([why, { count, first }]) => ({
          why,
          count,
          first: first.sorted().map(({ root, path }) => ({ root, path })),
        })),
  }
}

type Smallest = ReturnType<typeof createSmallest<At>>
