import { isWithin } from '../rules/paths.ts'
import type { Book } from './book.ts'

type Replacing = { readonly folder: string; readonly over: Promise<void> }

export type UnderWay = ReturnType<typeof createUnderWay>

/**
 * Files that calls put in the place of others. Between that and the row by which a grant goes on for the new one,
 * what the disk says of now does not go with what is known of before: whoever finds a grant's file replaced waits
 * here, and looks again (PV9).
 */
export function createUnderWay({ refresh, settled }: Pick<Book, 'refresh' | 'settled'>) {
  const ahead = new Set<Replacing>()
  /** How many came in line, and how many of them are read. */
  let came = 0
  let read = 0

  /** What may replace that file is in line for its commit. Never to be waited for in a transaction: those have a line. */
  async function inLine(path: string): Promise<void> {
    const before = [...ahead].filter(({ folder }) => isWithin(path, folder))
    for (const { over } of before) await over
  }

  return {
    /**
     * Said before a call can replace anything in that folder. `standing` ends when its rows are in line, or will never
     * be; a call waits for none of this between the two.
     */
    replacing(folder: string, standing: Promise<unknown>): void {
      const done = () => {
        ahead.delete(mine)
        came++
      }
      const mine = { folder, over: standing.then(done, done) }
      ahead.add(mine)
    },
    inLine,
    /** And what it came to is known. */
    async over(path: string): Promise<void> {
      await inLine(path)
      const upTo = came
      await (read < upTo ? refresh() : settled())
      read = Math.max(read, upTo)
    },
  }
}
