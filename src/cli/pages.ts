import type { Client } from './client.ts'

/** One page of many: the rest comes by the cursor. */
export type Paged = { readonly next_cursor?: string }

/** Calls a tool for as many items as asked for, over as many pages as that takes. */
export async function pages<Page extends Paged, One>(
  client: Client,
  tool: string,
  input: object,
  of: (page: Page) => readonly One[],
  most = Infinity,
): Promise<{ readonly all: One[]; readonly isMore: boolean; readonly last: Page }> {
  const all: One[] = []
  for (let cursor: string | undefined; ;) {
    const last: Page = await client.call(tool, { ...input, cursor })
    all.push(...of(last))
    cursor = last.next_cursor
    if (cursor === undefined || all.length >= most)
      return { all: all.slice(0, most), isMore: cursor !== undefined || all.length > most, last }
  }
}
