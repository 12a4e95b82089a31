import { isWithin } from './rules/paths.ts'

type Ahead = { readonly paths: readonly string[]; readonly inLine: Promise<void> }

/**
 * The rows of changes come in the order in which the disk was changed: those of a file go where it goes, so that a
 * move that is told before the change ahead of it would leave its rows behind. Who was answered waits here until all
 * that were answered before it, about the same files or a folder around them, stand in line for their commit; not for
 * the commit itself.
 */
export function createInOrder() {
  const ahead = new Set<Ahead>()

  /** To be called in the order of the answers. `inLine` is that of the call itself. */
  return async function inOrder(
    paths: readonly string[],
    inLine: Promise<void> | undefined,
  ): Promise<void> {
    const before = [...ahead].filter((other) => meet(other.paths, paths))
    if (inLine) {
      const mine = { paths, inLine }
      ahead.add(mine)
      void inLine.then(() => ahead.delete(mine))
    }
    for (const other of before) await other.inLine
  }
}

const meet = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.some((other) => isWithin(one, other) || isWithin(other, one)))
